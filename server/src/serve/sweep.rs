//! Removes sessions, invitations and tokens that nothing answers to any more,
//! and what was said long ago.

use std::time::Duration;

use swe_ci_engine::{Engine, Result};

use super::worker::chain;

const PERIOD: Duration = Duration::from_secs(3_600);

/// Until it is aborted.
pub(super) async fn run(engine: Engine) {
    loop {
        match sweep(&engine).await {
            Ok(removed) => tracing::debug!(removed, "swept what has expired"),
            Err(error) => tracing::warn!(
                error = chain(&error),
                "what has expired could not be swept; it is tried again in an hour"
            ),
        }
        tokio::time::sleep(PERIOD).await;
    }
}

async fn sweep(engine: &Engine) -> Result<u64> {
    Ok(engine.sweep_accounts().await? + engine.sweep_deliveries().await?)
}
