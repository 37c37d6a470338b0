//! The audit log: who did what. It is append-only.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::account::{Actor, AuditEntry};

use super::Store;
use super::rows::accounts::read_audit_entry;

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
    sqlx::query(
        "INSERT INTO audit (id, at, actor, action, subject, detail)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(now_ms())
    .bind(by.name())
    .bind(action)
    .bind(subject)
    .bind(detail)
    .execute(tx)
    .await?;
    Ok(())
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
        let rows = sqlx::query(
            "SELECT id, at, actor, action, subject, detail FROM audit
             WHERE ($1 = '' OR id < $1) AND ($3 = 0 OR subject = $4)
             ORDER BY id DESC LIMIT $2",
        )
        .bind(before)
        .bind(i64::from(limit))
        .bind(i64::from(subject.is_some()))
        .bind(subject.unwrap_or_default())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read_audit_entry).collect()
    }
}
