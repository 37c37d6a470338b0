//! Keeps the engine's worker running as long as the server lives.

use std::time::Duration;

use swe_ci_engine::{Engine, Error, Result};
use tokio_util::sync::CancellationToken;

const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

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
                error = chain(&error),
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

/// An error with its causes, for the log.
pub(super) fn chain(error: &Error) -> String {
    match error {
        Error::Internal(cause) => format!("{cause:#}"),
        other => other.to_string(),
    }
}
