//! The queue: evolutions are rows, claimed under a lease. A worker renews its
//! lease while it works; after a lease expires another worker can claim the
//! evolution and resume it from its rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use swe_ci_base::error::{Error, Result};
use swe_ci_base::panics::catch_panic;
use swe_ci_core::labels::Labels;
use swe_ci_core::run::Progress;
use swe_ci_sandbox::host;
use swe_ci_store::{Claim, Lease, answered};
use swe_ci_views::event::What;
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::evolve::{EvolveOutcome, Evolver, Interrupts};
use crate::idle_slots::IdleSlots;

/// How long a lease lasts without a heartbeat.
const LEASE_MS: i64 = 60_000;
/// How often a worker renews its lease and reads the run's steering.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// A worker that has not renewed a lease for so long may be gone.
const QUIET_MS: i64 = 15_000;
/// The pause after a failure that is no evolution's.
const PAUSE: Duration = Duration::from_millis(500);

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
    /// Wakes slots that found nothing to claim.
    pub idle: Arc<IdleSlots>,
}

/// The slots of a process.
#[derive(Debug, Default)]
pub struct Slots {
    /// Identifies the process.
    pub worker_id: String,
    pub count: usize,
    /// Runs that need other labels are left to other workers.
    pub labels: Labels,
    pub counts: WorkCounts,
}

/// What the slots of a process did since it began.
#[derive(Debug, Default)]
pub struct WorkCounts {
    pub claims: AtomicU64,
    pub leases_lost: AtomicU64,
}

/// Runs an evolution in each slot at a time until `signals.drain`. A panic in
/// one evolution ends none of the others.
pub async fn work(evolver: &Evolver, slots: &Arc<Slots>, signals: &WorkSignals) {
    let mut workers = JoinSet::new();
    let turn = Arc::new(Mutex::new(()));
    for slot in 1..=slots.count {
        let (evolver, worker) = (evolver.clone(), format!("{}/{slot}", slots.worker_id));
        let (signals, slots) = (signals.clone(), Arc::clone(slots));
        let turn = Arc::clone(&turn);
        workers.spawn(async move { work_slot(&evolver, &worker, &slots, &signals, &turn).await });
    }
    workers.join_all().await;
}

/// Whose `turn` it is looks for work, and waits while there is none: idle slots
/// ask the database as often as one.
async fn work_slot(
    evolver: &Evolver,
    worker: &str,
    slots: &Slots,
    signals: &WorkSignals,
    turn: &Mutex<()>,
) {
    let stop = &signals.drain;
    let mut warned = false;
    while !stop.is_cancelled() {
        let turn = turn.lock().await;
        if stop.is_cancelled() {
            return;
        }
        if signals.hold.load(Ordering::Relaxed) {
            pause(stop).await;
            continue;
        }
        if let Err(why) = ready_for_work(evolver).await {
            if !warned {
                tracing::warn!("no new evolution begins: {why:#}");
                warned = true;
            }
            pause(stop).await;
            continue;
        }
        warned = false;
        let claim = evolver
            .store
            .claim_offering(&slots.labels, worker, LEASE_MS);
        match claim.await {
            Ok(Some(claim)) => {
                drop(turn);
                let counts = &slots.counts;
                counts.claims.fetch_add(1, Ordering::Relaxed);
                let working = async {
                    let done = work_claim(evolver, worker, &claim, counts, signals).await;
                    if let Err(error) = done.map_err(anyhow::Error::new) {
                        tracing::error!("evolution released: {error:#}");
                    }
                };
                working.instrument(span(&claim)).await;
            }
            Ok(None) if signals.until_idle && !awaits_work(evolver).await => return,
            Ok(None) => signals.idle.wait(stop).await,
            Err(error) => {
                tracing::error!("cannot claim work: {:#}", anyhow::Error::new(error));
                pause(stop).await;
            }
        }
    }
}

/// At level `error`, so that with any filter a log line names its evolution. A
/// trace begins here: whoever queued the run has long been answered.
fn span(claim: &Claim) -> Span {
    let (run, evolution) = (&claim.run_id, &claim.evolution_id);
    tracing::error_span!(parent: None, "evolution", run, evolution, task = %claim.task_id)
}

/// With a full disk, or while the container engine does not answer, evolutions in
/// progress go on or wait, but no new one begins.
async fn ready_for_work(evolver: &Evolver) -> anyhow::Result<()> {
    host::ensure_free_space(evolver.folders.root(), 0)?;
    evolver.sandbox.ping().await?;
    Ok(())
}

/// Whether there may be something to claim soon: a preflight is under way, or a
/// worker has not renewed its lease for a while. If this worker left then, nobody
/// might be there to take over.
async fn awaits_work(evolver: &Evolver) -> bool {
    let store = &evolver.store;
    let left = LEASE_MS - QUIET_MS;
    !matches!(store.next_preflight().await, Ok(None))
        || !matches!(store.some_lease_ends_within(left).await, Ok(false))
}

async fn pause(stop: &CancellationToken) {
    stop.run_until_cancelled(tokio::time::sleep(PAUSE)).await;
}

async fn work_claim(
    evolver: &Evolver,
    worker: &str,
    claim: &Claim,
    counts: &WorkCounts,
    signals: &WorkSignals,
) -> Result<()> {
    let interrupts = Interrupts {
        drain: signals.drain.clone(),
        stop: signals.stop.child_token(),
        cancel: CancellationToken::new(),
    };
    tracing::info!(worker, claim = claim.number, "evolution claimed");
    let mut evolving = std::pin::pin!(evolve(evolver, worker, claim, &interrupts));
    let outcome = tokio::select! {
        outcome = &mut evolving => outcome,
        end = keep_lease(evolver, worker, claim, &interrupts) => match end {
            LeaseEnd::EvolutionEnded => evolving.await,
            LeaseEnd::Lost(error) => {
                counts.leases_lost.fetch_add(1, Ordering::Relaxed);
                Err(error)
            }
        },
    };
    match outcome {
        Ok(EvolveOutcome::Ended(_)) => Ok(()),
        Ok(EvolveOutcome::Stopped) => release_claim(evolver, worker, claim).await,
        // Released, so that it is retried without waiting for the lease to
        // expire; the lease may be lost already. After a pause: whoever is
        // woken by the release might fail at once too.
        Err(error) => {
            pause(&signals.drain).await;
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

/// Why a lease is no longer renewed.
#[derive(Debug)]
pub(crate) enum LeaseEnd {
    /// The evolution has ended here; only its worker has to finish.
    EvolutionEnded,
    /// What is done from now on would never be recorded.
    Lost(Error),
}

/// Renews the lease and applies the run's steering, which other processes may
/// change too. Returns only when the evolution has ended, or the lease is lost,
/// or cannot be renewed for so long that it must be.
pub(crate) async fn keep_lease(
    evolver: &Evolver,
    worker: &str,
    claim: &Claim,
    interrupts: &Interrupts,
) -> LeaseEnd {
    let mut renewed = Instant::now();
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        let id = &claim.evolution_id;
        let sent = Instant::now();
        match answered(evolver.store.heartbeat(id, worker, LEASE_MS)).await {
            Ok(Lease::Held) => renewed = sent,
            Ok(Lease::Ended) => return LeaseEnd::EvolutionEnded,
            Ok(Lease::Lost) => {
                let why = format!("evolution {id} was taken over by another worker");
                return LeaseEnd::Lost(Error::Conflict(why));
            }
            Err(error) => {
                tracing::warn!("heartbeat failed: {error:#}");
                if renewed.elapsed().as_millis() >= LEASE_MS.unsigned_abs().into() {
                    let why = format!("the lease on evolution {id} ran out: {}", error.chain());
                    return LeaseEnd::Lost(Error::Unavailable(why));
                }
            }
        }
        match answered(evolver.store.steering(&claim.run_id)).await {
            Ok((Progress::Cancelled, _)) => interrupts.cancel.cancel(),
            Ok((_, steering)) => {
                evolver.ledgers.set_budget(&claim.run_id, steering.budget);
                if steering.paused {
                    interrupts.stop.cancel();
                }
            }
            Err(error) => tracing::warn!("cannot read the run's steering: {error:#}"),
        }
    }
}
