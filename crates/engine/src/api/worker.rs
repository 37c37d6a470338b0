//! The worker: carries out everything that is queued on a data folder.

use std::convert::Infallible;
use std::fs::File;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::future::join_all;
use swe_ci_base::error::{Error, Result};
use swe_ci_base::files;
use swe_ci_runner::evolve::Evolver;
use swe_ci_runner::worker_slots::{self, Slots, WorkSignals};
use swe_ci_runner::{event_relay, host_load};
use swe_ci_sandbox::{Docker, SweepScope};
use swe_ci_views::account::AccountRole;
use swe_ci_views::background::WorkKind;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::workers::ImagesAtHand;
use crate::Engine;

/// The first search for left-over containers after the start: a container
/// engine answers within seconds.
const FIRST_SWEEP: Duration = Duration::from_secs(3);
/// The pause between later searches.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);
/// How long a stopping process waits for containers it has already requested:
/// the engine creates them anyway, and would leave them to the next start.
const CONTAINER_WAIT: Duration = Duration::from_secs(5);
/// How long a lease on work that one process does lasts, and how often it is
/// renewed.
const LEASE_MS: i64 = 60_000;
const LEASE_RENEWAL: Duration = Duration::from_secs(10);
/// The pause after a failure of the container engine, of a registry, or of the store.
pub(super) const RETRY_DELAY: Duration = Duration::from_mins(5);
/// How often idle work looks for more.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How long a worker's claim on an evolution lasts.
pub(super) const CLAIM: Duration = Duration::from_hours(6);
/// Names of such work.
pub(crate) const CURATIONS: &str = "curations";
const PREFLIGHTS: &str = "preflights";

/// The right to work on a data folder. One process has it at a time, until this
/// is dropped.
#[derive(Debug)]
pub struct WorkLock {
    _file: File,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Takes the right to work on the data folder. A process that shall work
    /// takes it before it changes or shows anything. For the operator.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another process works on this data folder.
    pub fn lock_for_work(&self) -> Result<WorkLock> {
        self.require(AccountRole::Admin)?;
        let data = &self.config.data;
        let lock = files::lock(&data.join("worker.lock"))?;
        let file = lock.ok_or_else(|| {
            Error::Conflict(format!(
                "another swe-ci process works on the data folder {}; stop it, or set SWE_CI_DATA to another folder",
                data.display()
            ))
        })?;
        Ok(WorkLock { _file: file })
    }

    /// Takes the lock, and works as [`Engine::work_under`] does.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another process works on this data folder, or the
    /// database has another schema.
    pub async fn work(&self, shutdown: CancellationToken) -> Result<()> {
        let lock = self.lock_for_work()?;
        self.work_under(&lock, shutdown).await
    }

    /// Removes the remains of a killed process, then runs queued evolutions until
    /// `shutdown`, or until there are none if the configuration says so; leaves
    /// steps in flight resumable. For the operator.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the database has another schema.
    pub async fn work_under(&self, lock: &WorkLock, shutdown: CancellationToken) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.remove_remains(lock).await?;
        self.store.end_runs().await?;
        // Begins with the id of the data folder, by which a successor finds it.
        let id = format!("{}/{}", self.instance, uuid::Uuid::now_v7().simple());
        self.announce_worker(&id).await?;
        let evolver = self.evolver();
        let slots = Arc::new(Slots {
            worker_id: id.clone(),
            count: self.config.workers,
            labels: self.config.labels.clone(),
            ..Slots::default()
        });
        let at_hand = ImagesAtHand::default();
        let signals = WorkSignals {
            until_idle: self.config.worker.as_ref().is_some_and(|w| w.until_idle),
            ..WorkSignals::default()
        };
        // Also cancelled when the database gets another schema.
        let (leaving, outdated) = (shutdown.child_token(), OnceLock::new());
        tokio::select! {
            () = Box::pin(async {
                tokio::join!(
                    async {
                        worker_slots::work(&evolver, &slots, &signals).await;
                        if signals.until_idle && self.config.audit {
                            // Their runs take no rank before.
                            let audits = Box::pin(self.audit_the_rest());
                            signals.drain.run_until_cancelled(audits).await;
                        }
                        signals.drain.cancel();
                        signals.stop.cancel();
                    },
                    self.hold_lease(PREFLIGHTS, &id, &signals.drain, |stop| async move {
                        self.run_preflights(&stop).await;
                    }),
                    self.hold_lease(CURATIONS, &id, &signals.drain, |stop| {
                        Box::pin(async move { self.curate_queued(&stop).await })
                    }),
                    join_all(WorkKind::ALL.map(|kind| {
                        self.hold_lease(kind.name(), &id, &signals.drain, move |stop| {
                            Box::pin(async move { self.do_queued_work(kind, &stop).await })
                        })
                    })),
                    Box::pin(async {
                        if self.config.audit {
                            self.audit_evolutions(&signals.drain).await;
                        }
                    }),
                    Box::pin(async {
                        if self.config.measure_style {
                            self.measure_ended(&signals.drain).await;
                        }
                    }),
                );
            }) => {}
            never = self.report_life(&slots, &at_hand, &signals, &leaving, &outdated) => match never {},
            never = Box::pin(self.count_images(&at_hand)) => match never {},
            never = self.stop_in_time(&leaving, &signals) => match never {},
            never = sweep_late(&self.docker) => match never {},
            never = self.enforce_quota() => match never {},
            never = host_load::publish(&self.events, &self.ledgers, &self.config.data) => match never {},
            never = self.send_events() => match never {},
            never = Box::pin(signals.idle.listen(&self.store)) => match never {},
        }
        if let Some(outbox) = &self.outbox {
            outbox.lock().await.send_pending(&self.store).await;
        }
        self.store.remove_worker(&id).await?;
        evolver.pending_containers.close();
        let _ = tokio::time::timeout(CONTAINER_WAIT, evolver.pending_containers.wait()).await;
        if let Err(error) = self.docker.sweep(SweepScope::ByAnyone).await {
            tracing::debug!("containers not removed at shutdown: {error:#}");
        }
        outdated.into_inner().map_or(Ok(()), Err)
    }

    /// Notifies the owners of runs, and publishes what workers tell of them. A
    /// server does this whoever works.
    pub async fn attend(&self, shutdown: &CancellationToken) {
        tokio::select! {
            () = self.dispatcher.work(shutdown) => {}
            never = event_relay::receive(&self.store, &self.events) => match never {},
        }
    }

    /// Ends the leases of killed processes of this data folder, and removes their
    /// containers.
    pub async fn remove_remains(&self, _lock: &WorkLock) -> Result<()> {
        // No other process works here: every lease of this installation is
        // stale.
        let mine = format!("{}/", self.instance);
        let released = self.store.release(&mine).await?;
        self.store.end_leases(&mine).await?;
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
            Err(error) => tracing::warn!("cannot look for left-over containers: {error:#}"),
        }
        Ok(())
    }

    fn evolver(&self) -> Evolver {
        Evolver {
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
        }
    }

    /// Turns a request to stop into signals: steps under way may go on for a
    /// while, if this is a worker beside a server.
    async fn stop_in_time(&self, leaving: &CancellationToken, signals: &WorkSignals) -> Infallible {
        leaving.cancelled().await;
        signals.drain.cancel();
        if let Some(worker) = &self.config.worker {
            let seconds = worker.grace.as_secs();
            tracing::info!("stopping: steps under way may go on for {seconds} s");
            tokio::time::sleep(worker.grace).await;
        }
        signals.stop.cancel();
        std::future::pending().await
    }

    /// Does `work` while this process holds the lease of this name; several
    /// workers take turns.
    async fn hold_lease<F: Future<Output = ()>>(
        &self,
        name: &str,
        holder: &str,
        stop: &CancellationToken,
        work: impl Fn(CancellationToken) -> F,
    ) {
        while !stop.is_cancelled() {
            match self.take_lease(name, holder).await {
                Ok(true) => {
                    let stop = stop.child_token();
                    tokio::join!(
                        async {
                            work(stop.clone()).await;
                            stop.cancel();
                        },
                        self.keep_lease(name, holder, &stop),
                    );
                }
                Ok(false) => {}
                Err(error) => tracing::debug!("no lease on the {name}: {error:#}"),
            }
            stop.run_until_cancelled(tokio::time::sleep(LEASE_RENEWAL))
                .await;
        }
        if let Err(error) = self.store.end_lease(name, holder).await {
            tracing::debug!("the lease on the {name} stays until it expires: {error:#}");
        }
    }

    pub(crate) async fn take_lease(&self, name: &str, holder: &str) -> Result<bool> {
        self.store.lease(name, holder, LEASE_MS).await
    }

    /// Renews a lease until `work` is cancelled, and cancels it when the lease is
    /// lost.
    pub(crate) async fn keep_lease(&self, name: &str, holder: &str, work: &CancellationToken) {
        let mut renewed = Instant::now();
        while work
            .run_until_cancelled(tokio::time::sleep(LEASE_RENEWAL))
            .await
            .is_some()
        {
            let sent = Instant::now();
            let lost = match self.take_lease(name, holder).await {
                Ok(true) => {
                    renewed = sent;
                    false
                }
                Ok(false) => true,
                Err(_) => renewed.elapsed().as_millis() >= LEASE_MS.unsigned_abs().into(),
            };
            if lost {
                tracing::warn!("another worker took the {name} over");
                work.cancel();
            }
        }
    }

    async fn send_events(&self) -> Infallible {
        match &self.outbox {
            Some(outbox) => outbox.lock().await.send(&self.store).await,
            None => std::future::pending().await,
        }
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
            Err(error) => tracing::debug!("cannot look for late left-over containers: {error:#}"),
        }
        wait = SWEEP_INTERVAL;
    }
}

/// Does work that is claimed one piece at a time, until `stop`. `next` does one and
/// returns the pause before the next. A failure, or an earlier process of this data
/// folder, leaves a claim: `release` ends it.
pub(super) async fn work_on_claims<R, N>(
    what: &str,
    stop: &CancellationToken,
    release: impl Fn() -> R,
    next: impl Fn() -> N,
) where
    R: Future<Output = Result<()>>,
    N: Future<Output = Result<Duration>>,
{
    let mut may_hold_claim = true;
    while !stop.is_cancelled() {
        let done = Box::pin(async {
            if may_hold_claim {
                release().await?;
                may_hold_claim = false;
            }
            next().await
        });
        let Some(done) = stop.run_until_cancelled(done).await else {
            return;
        };
        let pause = done.unwrap_or_else(|error| {
            tracing::warn!("{what}: {}", error.chain());
            may_hold_claim = true;
            RETRY_DELAY
        });
        stop.run_until_cancelled(tokio::time::sleep(pause)).await;
    }
}
