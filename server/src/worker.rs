//! Keeps the engine's worker running.

use std::time::Duration;

use swe_ci_engine::{Engine, Error, Result, WorkLock};
use tokio_util::sync::CancellationToken;

const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Works until `shutdown`, or until nothing is queued. When the worker stops
/// because a dependency does not answer (Docker, the database), it restarts
/// after a pause.
///
/// # Errors
/// `Conflict` when the database has another schema.
pub(crate) async fn keep_working(
    engine: &Engine,
    lock: &WorkLock,
    until_idle: bool,
    shutdown: &CancellationToken,
) -> Result<()> {
    let mut pause = FIRST_PAUSE;
    loop {
        match engine.work_under(lock, shutdown.clone()).await {
            Err(conflict @ Error::Conflict(_)) => return Err(conflict),
            Err(error) => tracing::error!(
                error = error.chain(),
                "the worker stopped; it restarts in {} s",
                pause.as_secs()
            ),
            Ok(()) if shutdown.is_cancelled() || until_idle => return Ok(()),
            Ok(()) => tracing::warn!("the worker stopped by itself; it restarts"),
        }
        tokio::select! {
            () = shutdown.cancelled() => return Ok(()),
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
        }
    }
}
