//! Keeps the engine's worker running as long as the server lives, and removes
//! what has expired.

use std::time::Duration;

use swe_ci_engine::{Engine, Error, Result};
use tokio_util::sync::CancellationToken;

const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

const SWEEP_PERIOD: Duration = Duration::from_secs(3_600);

/// Works until `shutdown`. When the worker stops because a dependency does not
/// answer (Docker, the database), the site stays up and the worker restarts
/// after a pause.
///
/// # Errors
/// `Conflict` when another process works on the data folder.
pub(super) async fn run(engine: Engine, work: bool, shutdown: CancellationToken) -> Result<()> {
    if !work {
        shutdown.cancelled().await;
        return Ok(());
    }
    let mut pause = FIRST_PAUSE;
    loop {
        match engine.work(shutdown.clone()).await {
            Err(conflict @ Error::Conflict(_)) => return Err(conflict),
            Err(error) => tracing::error!(
                error = error.chain(),
                "the worker stopped; it restarts in {} s",
                pause.as_secs()
            ),
            Ok(()) if shutdown.is_cancelled() => return Ok(()),
            Ok(()) => tracing::warn!("the worker stopped by itself; it restarts"),
        }
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
        }
    }
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

async fn sweep_once(engine: &Engine) -> Result<u64> {
    Ok(engine.sweep_accounts().await? + engine.sweep_deliveries().await?)
}
