//! The consequences of a run's end.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::notification::Occasion;

use super::Store;
use super::changes::commit_change;
use super::evolution_audits::pending;
use super::notification_outbox::notify_owner;
use super::provider_keys::forget_keys;
use super::sql::{Tx, composed, only, query};
use super::steering::lock_run;

/// Call when a run has finished or was cancelled: notifies its owner, and
/// removes the keys that were meant for it alone.
pub(super) async fn on_run_end(tx: &mut Tx, run_id: &str) -> Result<()> {
    notify_owner(tx, run_id, Occasion::RunFinished, None).await?;
    forget_keys(tx, run_id).await
}

/// Finishes a run without open evolutions, after its audits if there are any.
pub(super) async fn end_run(
    tx: &mut Tx,
    run_id: &str,
    finished_at: i64,
    audits: bool,
) -> Result<()> {
    let over = composed(format!(
        "UPDATE runs SET progress = 'finished', finished_at = $2
         WHERE id = $1 AND progress = 'running'
           AND NOT EXISTS (SELECT 1 FROM evolutions e WHERE e.run_id = $1 AND e.progress IN ('queued', 'running'))
           AND ($3 = 0 OR NOT EXISTS (SELECT 1 FROM {} AND e.run_id = $1))",
        pending()
    ))
    .with((run_id, finished_at, i64::from(audits)))
    .changed(&mut *tx)
    .await?;
    match over {
        0 => Ok(()),
        _ => on_run_end(tx, run_id).await,
    }
}

impl Store {
    /// Finishes the runs that wait for audits which nobody makes any more.
    pub async fn end_runs(&self) -> Result<()> {
        let running: Vec<String> = query("SELECT id FROM runs WHERE progress = 'running'")
            .all(&self.pool, only)
            .await?;
        for run in running {
            let mut tx = self.pool.begin().await?;
            lock_run(&mut tx, &run).await?;
            end_run(&mut tx, &run, now_ms(), self.audits).await?;
            commit_change(tx).await?;
        }
        Ok(())
    }
}
