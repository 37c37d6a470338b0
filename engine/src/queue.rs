//! The queue: evolutions are rows, claimed under a lease. A worker keeps its
//! lease alive while it works; a lease that runs out is free to be claimed,
//! and the next worker goes on where the rows say it stands.

use std::time::Duration;

use swe_ci_core::event::What;
use swe_ci_core::run::Progress;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::evolve::{Evolver, Interrupts, Left};
use crate::host;
use crate::store::Claim;

/// How long a claim holds without a sign of life.
const LEASE_MS: i64 = 60_000;
/// How often a worker gives a sign of life and looks how the run is steered.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How often an idle worker looks for work.
const IDLE: Duration = Duration::from_millis(500);

/// Executes evolutions, `slots` at a time, until `stop`. `name` tells this
/// process from all others.
pub async fn work(evolver: &Evolver, name: &str, slots: usize, stop: &CancellationToken) {
    let mut workers = JoinSet::new();
    for slot in 1..=slots {
        let (evolver, stop, worker) = (evolver.clone(), stop.clone(), format!("{name}/{slot}"));
        workers.spawn(async move { work_slot(&evolver, &worker, &stop).await });
    }
    workers.join_all().await;
}

async fn work_slot(evolver: &Evolver, worker: &str, stop: &CancellationToken) {
    let mut told = false;
    while !stop.is_cancelled() {
        // What is at work goes on; nothing is begun that could not be kept.
        if let Err(full) = host::make_sure_of(evolver.folders.root(), 0) {
            if !told {
                tracing::warn!("no evolution is begun: {full}");
                told = true;
            }
            rest(stop).await;
            continue;
        }
        told = false;
        match evolver.store.claim(worker, LEASE_MS).await {
            Ok(Some(claim)) => {
                if let Err(error) = work_claim(evolver, worker, &claim, stop).await {
                    tracing::error!(
                        evolution = claim.evolution_id,
                        "evolution put down: {:#}",
                        anyhow::Error::new(error)
                    );
                    rest(stop).await;
                }
            }
            Ok(None) => rest(stop).await,
            Err(error) => {
                tracing::error!("cannot claim work: {:#}", anyhow::Error::new(error));
                rest(stop).await;
            }
        }
    }
}

async fn rest(stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep(IDLE) => {}
    }
}

async fn work_claim(
    evolver: &Evolver,
    worker: &str,
    claim: &Claim,
    stop: &CancellationToken,
) -> Result<()> {
    let interrupts = Interrupts {
        stop: stop.child_token(),
        cancel: CancellationToken::new(),
    };
    tracing::info!(evolution = claim.evolution_id, task = %claim.task_id, worker, "evolution claimed");
    let left = tokio::select! {
        left = evolver.evolve(claim, worker, &interrupts) => left,
        lost = hold(evolver, worker, claim, &interrupts) => Err(lost),
    };
    match left {
        Ok(Left::Ended(_)) => Ok(()),
        Ok(Left::Stopped) => put_down(evolver, worker, claim).await,
        // Given back, so that it is tried again rather than waiting for the
        // lease to run out; the lease may be lost already.
        Err(error) => {
            put_down(evolver, worker, claim).await?;
            Err(error)
        }
    }
}

async fn put_down(evolver: &Evolver, worker: &str, claim: &Claim) -> Result<()> {
    let evolution_id = claim.evolution_id.clone();
    if evolver.store.put_down(&evolution_id, worker).await? {
        evolver
            .events
            .tell(&claim.run_id, What::Queued { evolution_id });
    }
    Ok(())
}

/// Keeps the lease alive and notices how the run is steered, also by other
/// processes. Returns only when the lease is lost.
async fn hold(evolver: &Evolver, worker: &str, claim: &Claim, interrupts: &Interrupts) -> Error {
    loop {
        tokio::time::sleep(HEARTBEAT).await;
        match evolver
            .store
            .heartbeat(&claim.evolution_id, worker, LEASE_MS)
            .await
        {
            Ok(true) => {}
            Ok(false) => {
                return Error::Conflict(format!(
                    "evolution {} was taken over by another worker",
                    claim.evolution_id
                ));
            }
            Err(error) => tracing::warn!("no sign of life could be given: {error}"),
        }
        match evolver.store.steering(&claim.run_id).await {
            Ok((Progress::Cancelled, _)) => interrupts.cancel.cancel(),
            Ok((_, steering)) => {
                evolver.ledgers.set_budget(&claim.run_id, steering.budget);
                if steering.paused {
                    interrupts.stop.cancel();
                }
            }
            Err(error) => tracing::warn!("how the run is steered cannot be read: {error}"),
        }
    }
}
