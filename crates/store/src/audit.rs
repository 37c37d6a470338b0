//! The audit log: who did what. It is append-only.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::account::{Actor, AuditEntry};

use super::Store;
use super::rows::accounts::read_audit_entry;
use super::sql::query;

/// Logs an action in the transaction that performs it, so that neither exists
/// without the other. `action` is a dotted name (`run.cancel`), `subject` is
/// the object of the action, and `detail` adds free text, never a secret.
pub(super) async fn note(
    tx: &mut sqlx::AnyConnection,
    by: &Actor,
    action: &str,
    subject: &str,
    detail: &str,
) -> Result<()> {
    query(
        "INSERT INTO audit (id, at, actor, action, subject, detail)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .with((uuid::Uuid::now_v7().to_string(), now_ms(), by.name()))
    .with((action, subject, detail))
    .run(tx)
    .await
}

impl Store {
    /// Newest first, older than the entry `before` (an id; empty for the
    /// newest); for one subject, or for all. Ids rise with time.
    pub async fn audit(
        &self,
        subject: Option<&str>,
        before: &str,
        limit: u32,
    ) -> Result<Vec<AuditEntry>> {
        query(
            "SELECT id, at, actor, action, subject, detail FROM audit
             WHERE ($1 = '' OR id < $1) AND ($3 = 0 OR subject = $4)
             ORDER BY id DESC LIMIT $2",
        )
        .with((before, limit, subject.is_some()))
        .with(subject.unwrap_or_default())
        .all(&self.pool, read_audit_entry)
        .await
    }
}
