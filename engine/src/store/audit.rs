//! The audit log: who did what. It is only ever added to.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::account::{Actor, AuditEntry};

use super::Store;
use crate::clock::{now_ms, rfc3339};
use crate::error::Result;

/// Writes down what is done, in the transaction that does it: neither is
/// there without the other. `action` is a dotted name (`run.cancel`), `subject`
/// what it is done to, `detail` more in words, never a secret.
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
    /// newest); about one subject, or about all. Ids rise with time.
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
        rows.iter().map(read_entry).collect()
    }
}

fn read_entry(row: &AnyRow) -> Result<AuditEntry> {
    Ok(AuditEntry {
        entry_id: row.try_get("id")?,
        at: rfc3339(row.try_get("at")?),
        actor: row.try_get("actor")?,
        action: row.try_get("action")?,
        subject: row.try_get("subject")?,
        detail: row.try_get("detail")?,
    })
}
