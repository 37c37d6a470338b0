//! The consequences of a run's end.

use swe_ci_base::error::Result;
use swe_ci_views::notification::Occasion;

use super::notification_outbox::notify_owner;
use super::provider_keys::forget_keys;
use super::sql::{Tx, composed};
use super::styles::MEASURABLE;

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

/// The tables and the condition of evolutions (`e`) that ended since there are
/// audits, and whose run waits for theirs. The human baseline waits for none: nobody
/// wrote its code for the tests.
pub(super) fn pending() -> String {
    format!(
        "evolutions e LEFT JOIN evolution_audits a ON a.evolution_id = e.id
         WHERE (a.evolution_id IS NULL OR (a.found = '' AND a.holds_rank = 1))
           AND e.run_id NOT IN (SELECT id FROM runs WHERE kind = 'human') AND {MEASURABLE}"
    )
}
