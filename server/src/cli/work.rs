//! `swe-ci work`: executes queued evolutions beside a server.

use swe_ci_engine::{Engine, Error};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::signals::stop_on_signals;
use crate::config::{GlobalOptions, WorkOptions};
use crate::worker;

pub(super) const AFTER_HELP: &str = "\
A worker needs the database of a server, its master key in SWE_CI_SECRET, a
container engine, and a data folder of its own, which may be empty: it fetches
code and images where SWE_CI_ARTIFACTS and SWE_CI_REGISTRY say. Any number of
workers may run, on any number of machines. The server migrates the database; a
worker of another version takes nothing and says so.

SIGTERM drains it: it claims nothing more, and steps under way may go on for
--grace seconds. What is left then is put back in the queue. SIGTERM again ends
it at once, which loses nothing but the steps under way.

Examples:
  swe-ci serve --workers 0
  swe-ci work --data /var/lib/swe-ci-worker --slots 8
  swe-ci work --until-idle                 one-shot, for Slurm and the like

Exit codes: 0 drained, or nothing is queued with --until-idle; 1 failure (the
database has another schema, the data folder is in use); 2 an option is invalid.";

pub(super) async fn execute(global: &GlobalOptions, options: &WorkOptions) -> Result<(), Failure> {
    let config = options.engine(global).map_err(Failure::usage)?;
    let (slots, until_idle) = (config.workers, options.until_idle());
    let shutdown = CancellationToken::new();
    stop_on_signals(shutdown.clone())?;
    let engine = Engine::open(config).await?;
    let lock = engine.lock_for_work()?;
    tracing::info!(slots, "working");
    worker::keep_working(&engine, &lock, until_idle, &shutdown)
        .await
        .map_err(|error| {
            let conflict = matches!(error, Error::Conflict(_));
            Failure::from(error).next_if(conflict, "docs/deployment.md tells how to upgrade")
        })?;
    tracing::info!("stopped");
    Ok(())
}
