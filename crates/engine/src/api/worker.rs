//! The worker: carries out everything that is queued on a data folder.

use std::convert::Infallible;
use std::time::Duration;

use swe_ci_base::error::{Error, Result};
use swe_ci_base::files;
use swe_ci_runner::evolve::Evolver;
use swe_ci_runner::{host_load, worker_slots};
use swe_ci_sandbox::{Docker, SweepScope};
use swe_ci_views::account::AccountRole;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Engine;

/// The first search for left-over containers after the start: a container
/// engine answers within seconds.
const FIRST_SWEEP: Duration = Duration::from_secs(3);
/// The pause between later searches.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// How long a stopping process waits for containers it has already requested:
/// the engine creates them anyway, and would leave them to the next start.
const CONTAINER_WAIT: Duration = Duration::from_secs(5);

impl Engine {
    /// Removes the remains of a killed process, then runs queued evolutions and
    /// notifies their owners until `shutdown`; leaves steps in flight
    /// resumable. For the operator.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another process works on this data folder.
    pub async fn work(&self, shutdown: CancellationToken) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let data = &self.config.data;
        let lock = files::lock(&data.join("worker.lock"))?;
        let _lock = lock.ok_or_else(|| {
            Error::Conflict(format!(
                "another swe-ci server works on the data folder {}; stop it, or set SWE_CI_DATA to another folder",
                data.display()
            ))
        })?;
        // No other process works here: every lease of this installation is
        // stale.
        let released = self.store.release(&format!("{}/", self.instance)).await?;
        self.gateway.sweep()?;
        match self.docker.sweep(SweepScope::ByOthers).await {
            Ok(swept) if swept + released as usize > 0 => {
                tracing::info!(
                    containers = swept,
                    evolutions = released,
                    "removed the remains of an earlier process"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("cannot look for left-over containers: {error}"),
        }
        let evolver = Evolver {
            store: self.store.clone(),
            artifacts: self.artifacts.clone(),
            sandbox: self.sandbox(),
            folders: self.folders.clone(),
            events: self.events.clone(),
            harnesses: self.harnesses.clone(),
            gateway: self.gateway.clone(),
            keys: self.keys.clone(),
            ledgers: self.ledgers.clone(),
            pending_containers: TaskTracker::new(),
        };
        let name = format!("{}/{}", self.instance, std::process::id());
        tokio::select! {
            () = async {
                tokio::join!(
                    worker_slots::work(&evolver, &name, self.config.workers, &shutdown),
                    self.run_preflights(&shutdown),
                    self.dispatcher.work(&shutdown),
                    Box::pin(self.curate_queued(&shutdown)),
                    Box::pin(async {
                        if self.config.measure_style {
                            self.measure_ended(&shutdown).await;
                        }
                    }),
                );
            } => {}
            never = sweep_late(&self.docker) => match never {},
            never = self.enforce_quota() => match never {},
            never = host_load::publish(&self.events, &self.ledgers, &self.config.data) => match never {},
        }
        evolver.pending_containers.close();
        let _ = tokio::time::timeout(CONTAINER_WAIT, evolver.pending_containers.wait()).await;
        if let Err(error) = self.docker.sweep(SweepScope::ByAnyone).await {
            tracing::debug!("containers not removed at shutdown: {error}");
        }
        Ok(())
    }
}

/// Removes containers that the engine created for an earlier process only after
/// that process had died and its remains were removed.
async fn sweep_late(docker: &Docker) -> Infallible {
    let mut wait = FIRST_SWEEP;
    loop {
        tokio::time::sleep(wait).await;
        match docker.sweep(SweepScope::ByOthers).await {
            Ok(0) => {}
            Ok(containers) => tracing::info!(containers, "removed late left-over containers"),
            Err(error) => tracing::debug!("cannot look for late left-over containers: {error}"),
        }
        wait = SWEEP_INTERVAL;
    }
}
