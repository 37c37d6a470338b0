//! The consequences of a run's end.

use swe_ci_base::error::Result;
use swe_ci_views::notification::Occasion;

use super::notification_outbox::notify_owner;
use super::provider_keys::forget_keys;
use super::sql::Tx;

/// Call when a run has finished or was cancelled: notifies its owner, and
/// removes the keys that were meant for it alone.
pub(super) async fn on_run_end(tx: &mut Tx, run_id: &str) -> Result<()> {
    notify_owner(tx, run_id, Occasion::RunFinished, None).await?;
    forget_keys(tx, run_id).await
}
