//! The queue: evolutions are rows, claimed under a lease. A worker renews its
//! lease while it works; after a lease expires another worker can claim the
//! evolution and resume it from its rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use swe_ci_base::error::{Error, Result};
use swe_ci_base::panics::catch_panic;
use swe_ci_core::run::Progress;
use swe_ci_sandbox::host;
use swe_ci_store::Claim;
use swe_ci_views::event::What;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::evolve::{EvolveOutcome, Evolver, Interrupts};

/// How long a lease lasts without a heartbeat.
const LEASE_MS: i64 = 60_000;
/// How often a worker renews its lease and reads the run's steering.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How often an idle worker looks for work.
const IDLE: Duration = Duration::from_millis(500);

/// When slots claim evolutions, and when they let go of them.
#[derive(Debug, Clone, Default)]
pub struct WorkSignals {
    /// While true, nothing is claimed.
    pub hold: Arc<AtomicBool>,
    /// Claims nothing more, and begins no further step.
    pub drain: CancellationToken,
    /// Interrupts the steps under way, which leaves them resumable.
    pub stop: CancellationToken,
    /// Ends as soon as there is nothing to claim.
    pub until_idle: bool,
}

/// Runs `slots` evolutions at a time until `signals.drain`. `name` identifies
/// this process. A panic in one evolution ends none of the others.
pub async fn work(evolver: &Evolver, name: &str, slots: usize, signals: &WorkSignals) {
    let mut workers = JoinSet::new();
    for slot in 1..=slots {
        let (evolver, worker) = (evolver.clone(), format!("{name}/{slot}"));
        let signals = signals.clone();
        workers.spawn(async move { work_slot(&evolver, &worker, &signals).await });
    }
    workers.join_all().await;
}

async fn work_slot(evolver: &Evolver, worker: &str, signals: &WorkSignals) {
    let stop = &signals.drain;
    let mut warned = false;
    while !stop.is_cancelled() {
        if signals.hold.load(Ordering::Relaxed) {
            idle(stop).await;
            continue;
        }
        // With a full disk, evolutions in progress go on, but no new one
        // begins.
        if let Err(full) = host::ensure_free_space(evolver.folders.root(), 0) {
            if !warned {
                tracing::warn!("no new evolution begins: {full}");
                warned = true;
            }
            idle(stop).await;
            continue;
        }
        warned = false;
        match evolver.store.claim(worker, LEASE_MS).await {
            Ok(Some(claim)) => {
                if let Err(error) = work_claim(evolver, worker, &claim, signals).await {
                    let (evolution, error) = (claim.evolution_id, anyhow::Error::new(error));
                    tracing::error!(evolution, "evolution released: {error:#}");
                    idle(stop).await;
                }
            }
            Ok(None) if signals.until_idle && !awaited_preflight(evolver).await => return,
            Ok(None) => idle(stop).await,
            Err(error) => {
                tracing::error!("cannot claim work: {:#}", anyhow::Error::new(error));
                idle(stop).await;
            }
        }
    }
}

/// Whether a run will have something to claim soon.
async fn awaited_preflight(evolver: &Evolver) -> bool {
    !matches!(evolver.store.next_preflight().await, Ok(None))
}

async fn idle(stop: &CancellationToken) {
    stop.run_until_cancelled(tokio::time::sleep(IDLE)).await;
}

async fn work_claim(
    evolver: &Evolver,
    worker: &str,
    claim: &Claim,
    signals: &WorkSignals,
) -> Result<()> {
    let interrupts = Interrupts {
        drain: signals.drain.clone(),
        stop: signals.stop.child_token(),
        cancel: CancellationToken::new(),
    };
    tracing::info!(evolution = claim.evolution_id, task = %claim.task_id, worker, "evolution claimed");
    let outcome = tokio::select! {
        outcome = evolve(evolver, worker, claim, &interrupts) => outcome,
        lost = keep_lease(evolver, worker, claim, &interrupts) => Err(lost),
    };
    match outcome {
        Ok(EvolveOutcome::Ended(_)) => Ok(()),
        Ok(EvolveOutcome::Stopped) => release_claim(evolver, worker, claim).await,
        // Released, so that it is retried without waiting for the lease to
        // expire; the lease may be lost already.
        Err(error) => {
            release_claim(evolver, worker, claim).await?;
            Err(error)
        }
    }
}

/// Evolves. A panic ends this attempt as a failure of the platform, not the
/// worker: a process that died of it would claim the same evolution again.
async fn evolve(
    evolver: &Evolver,
    worker: &str,
    claim: &Claim,
    interrupts: &Interrupts,
) -> Result<EvolveOutcome> {
    match catch_panic(Box::pin(evolver.evolve(claim, worker, interrupts))).await {
        Ok(outcome) => outcome,
        Err(panic) => {
            let failed = evolver.record_failure(claim, worker, panic.into(), interrupts);
            failed.await
        }
    }
}

async fn release_claim(evolver: &Evolver, worker: &str, claim: &Claim) -> Result<()> {
    let evolution_id = claim.evolution_id.clone();
    if evolver.store.release_claim(&evolution_id, worker).await? {
        evolver
            .events
            .publish(&claim.run_id, What::Queued { evolution_id });
    }
    Ok(())
}

/// Renews the lease and applies the run's steering, which other processes may
/// change too. Returns only when the lease is lost, or cannot be renewed for so
/// long that it must be: what is done from then on would never be recorded.
async fn keep_lease(
    evolver: &Evolver,
    worker: &str,
    claim: &Claim,
    interrupts: &Interrupts,
) -> Error {
    let mut renewed = Instant::now();
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let id = &claim.evolution_id;
        let sent = Instant::now();
        match evolver.store.heartbeat(id, worker, LEASE_MS).await {
            Ok(true) => renewed = sent,
            Ok(false) => {
                let why = format!("evolution {id} was taken over by another worker");
                return Error::Conflict(why);
            }
            Err(error) => {
                tracing::warn!("heartbeat failed: {error}");
                if renewed.elapsed().as_millis() >= LEASE_MS.unsigned_abs().into() {
                    let why = format!("the lease on evolution {id} ran out: {error}");
                    return Error::Unavailable(why);
                }
            }
        }
        match evolver.store.steering(&claim.run_id).await {
            Ok((Progress::Cancelled, _)) => interrupts.cancel.cancel(),
            Ok((_, steering)) => {
                evolver.ledgers.set_budget(&claim.run_id, steering.budget);
                if steering.paused {
                    interrupts.stop.cancel();
                }
            }
            Err(error) => tracing::warn!("cannot read the run's steering: {error}"),
        }
    }
}
