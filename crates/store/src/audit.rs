//! The audit log: who did what. It is append-only.

use sqlx::{Any, Transaction};
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::account::{Actor, AuditEntry};

use super::rows::accounts::read_audit_entry;
use super::sql::{Tx, query};
use super::{Store, new_id};

/// Logs an action in the transaction that performs it, so that neither exists
/// without the other. `action` is a dotted name (`run.cancel`), `subject` is
/// the object of the action, and `detail` adds free text, never a secret.
pub(super) async fn note(
    tx: &mut Tx,
    by: &Actor,
    action: &str,
    subject: &str,
    detail: &str,
) -> Result<()> {
    query(
        "INSERT INTO audit (id, at, actor, action, subject, detail)
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .with((new_id(), now_ms(), by.name()))
    .with((action, subject, detail))
    .run(tx)
    .await
}

/// Logs the action of a transaction, and commits it.
pub(super) async fn note_and_commit(
    mut tx: Transaction<'_, Any>,
    by: &Actor,
    action: &str,
    subject: &str,
    detail: &str,
) -> Result<()> {
    note(&mut tx, by, action, subject, detail).await?;
    tx.commit().await?;
    Ok(())
}

impl Store {
    /// Logs that images and layers were evicted, with the result.
    pub async fn note_eviction(&self, by: &Actor, result: &str) -> Result<()> {
        let tx = self.pool.begin().await?;
        note_and_commit(tx, by, "disk.evict", "disk", result).await
    }

    /// Logs that an import was started, with its source.
    pub async fn note_import(&self, by: &Actor, detail: &str) -> Result<()> {
        let tx = self.pool.begin().await?;
        note_and_commit(tx, by, "dataset.import", "datasets", detail).await
    }

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
