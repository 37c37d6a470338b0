//! Keeps the engine's worker running as long as the server lives, and removes
//! what has expired.

use std::time::Duration;

use swe_ci_engine::{Engine, Result, SnapshotEvery, WorkLock};
use tokio_util::sync::CancellationToken;

use crate::worker;

const SWEEP_PERIOD: Duration = Duration::from_secs(3_600);

/// Works until `shutdown`, if this server has the lock for it, and attends to
/// what others do.
///
/// # Errors
/// `Conflict` when the database has another schema.
pub(super) async fn run(
    engine: Engine,
    lock: Option<WorkLock>,
    shutdown: CancellationToken,
) -> Result<()> {
    let working = async {
        match &lock {
            Some(lock) => worker::keep_working(&engine, lock, false, &shutdown).await,
            None => Ok(()),
        }
    };
    let attending = async {
        engine.attend(&shutdown).await;
        Ok(())
    };
    tokio::try_join!(working, attending).map(|_| ())
}

/// Removes expired sessions, invitations and tokens, and old deliveries, until
/// it is aborted.
pub(super) async fn sweep(engine: Engine) {
    loop {
        match sweep_once(&engine).await {
            Ok(removed) => tracing::debug!(removed, "removed expired rows"),
            Err(error) => tracing::warn!(
                error = error.chain(),
                "expired rows could not be removed; the server retries in an hour"
            ),
        }
        tokio::time::sleep(SWEEP_PERIOD).await;
    }
}

/// Makes the snapshots that are due until it is aborted. It looks every hour: the
/// first that comes after midnight in UTC makes them.
pub(super) async fn make_snapshots(engine: Engine, every: SnapshotEvery) {
    loop {
        match engine.make_due_snapshots(every).await {
            Ok(0) => {}
            Ok(made) => tracing::info!(made, "made snapshots"),
            Err(error) => tracing::warn!(
                error = error.chain(),
                "snapshots could not be made; the server retries in an hour"
            ),
        }
        tokio::time::sleep(SWEEP_PERIOD).await;
    }
}

async fn sweep_once(engine: &Engine) -> Result<u64> {
    Ok(engine.sweep_accounts().await? + engine.sweep_deliveries().await?)
}
