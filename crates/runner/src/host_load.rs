//! The load of this machine, sent to clients that watch active runs.

use std::path::Path;
use std::time::Duration;

use swe_ci_base::blocking::blocking;
use swe_ci_gateway::Ledgers;
use swe_ci_sandbox::host::load;
use swe_ci_views::event::What;

use crate::events::Events;

const INTERVAL: Duration = Duration::from_secs(10);

/// Sends the machine's load to clients that watch active runs.
pub async fn publish(events: &Events, ledgers: &Ledgers, data: &Path) -> std::convert::Infallible {
    loop {
        tokio::time::sleep(INTERVAL).await;
        let runs = ledgers.at_work();
        if runs.is_empty() || !events.has_listeners() {
            continue;
        }
        let data = data.to_owned();
        if let Ok(Some(load)) = blocking(move || Ok(load(&data))).await {
            for run_id in runs {
                events.publish_unstored(&run_id, What::Host { load });
            }
        }
    }
}
