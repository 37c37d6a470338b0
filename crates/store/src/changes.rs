//! The change counter: cached pages stay valid until it rises.

use sqlx::{Any, Transaction};
use swe_ci_base::error::Result;

use super::sql::{Tx, only, query};
use super::{Store, new_id};

/// Counts a change and commits it. The change is counted last, to hold the lock
/// on its row as briefly as possible.
pub(super) async fn commit_change(mut tx: Transaction<'_, Any>) -> Result<()> {
    count_up(&mut tx).await?;
    tx.commit().await?;
    Ok(())
}

/// Counts a change. Call it last in a transaction.
pub(super) async fn count_up(tx: &mut Tx) -> Result<()> {
    query("UPDATE changes SET n = n + 1").run(tx).await
}

/// Gives the results of a run a new revision: its counts are stale now.
pub(super) async fn results_changed(tx: &mut Tx, run_id: &str) -> Result<()> {
    query("UPDATE runs SET revision = $2 WHERE id = $1")
        .with((run_id, new_id()))
        .run(tx)
        .await
}

impl Store {
    /// Rises with every change that pages show: tasks, runs, results. Steps in
    /// between do not count; only the page of a run follows those.
    pub async fn changes(&self) -> Result<i64> {
        query("SELECT n FROM changes").one(&self.pool, only).await
    }

    /// Rises with [`Self::changes`], and with every stored digest.
    pub async fn changes_and_digests(&self) -> Result<i64> {
        query("SELECT c.n + d.n FROM changes c, stored_digests d")
            .one(&self.pool, only)
            .await
    }
}
