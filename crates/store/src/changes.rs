//! The change counter: cached pages stay valid until it rises.

use sqlx::Row;
use swe_ci_base::error::Result;

use super::Store;

/// Counts a change. Call it last in a transaction, to hold the lock on its row
/// as briefly as possible.
pub(super) async fn count_up(tx: &mut sqlx::AnyConnection) -> Result<()> {
    sqlx::query("UPDATE changes SET n = n + 1")
        .execute(tx)
        .await?;
    Ok(())
}

impl Store {
    /// Rises with every change that pages show: tasks, runs, results. Steps in
    /// between do not count; only the page of a run follows those.
    pub async fn changes(&self) -> Result<i64> {
        let row = sqlx::query("SELECT n FROM changes")
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get("n")?)
    }
}
