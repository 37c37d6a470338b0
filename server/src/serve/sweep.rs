//! Removes expired sessions, invitations and tokens, and old deliveries.

use std::time::Duration;

use swe_ci_engine::{Engine, Result};

use super::worker::chain;

const PERIOD: Duration = Duration::from_secs(3_600);

/// Runs until aborted.
pub(super) async fn run(engine: Engine) {
    loop {
        match sweep(&engine).await {
            Ok(removed) => tracing::debug!(removed, "removed expired rows"),
            Err(error) => tracing::warn!(
                error = chain(&error),
                "expired rows could not be removed; the server retries in an hour"
            ),
        }
        tokio::time::sleep(PERIOD).await;
    }
}

async fn sweep(engine: &Engine) -> Result<u64> {
    Ok(engine.sweep_accounts().await? + engine.sweep_deliveries().await?)
}
