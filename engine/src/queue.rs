//! The queue: evolutions are rows, claimed under a lease. A worker keeps its
//! lease alive while it works; a lease that runs out is free to be claimed,
//! and the next worker goes on where the rows say it stands.

use std::time::Duration;

use swe_ci_core::run::Progress;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::{Error, Result};
use crate::evolve::{Evolver, Interrupts, Left};
use crate::store::Claim;

/// How long a claim holds without a sign of life.
const LEASE_MS: i64 = 60_000;
/// How often a worker gives a sign of life and looks whether the run was cancelled.
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
    while !stop.is_cancelled() {
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
        lost = hold(evolver, worker, claim, &interrupts.cancel) => Err(lost),
    };
    match left {
        Ok(Left::Ended(_)) => Ok(()),
        Ok(Left::Stopped) => {
            evolver.store.release(worker).await?;
            Ok(())
        }
        // Given back, so that it is tried again rather than waiting for the
        // lease to run out; the lease may be lost already.
        Err(error) => {
            evolver.store.release(worker).await?;
            Err(error)
        }
    }
}

/// Keeps the lease alive and notices that the run was cancelled. Returns only
/// when the lease is lost.
async fn hold(evolver: &Evolver, worker: &str, claim: &Claim, cancel: &CancellationToken) -> Error {
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
        if matches!(
            evolver.store.run_progress(&claim.run_id).await,
            Ok(Progress::Cancelled)
        ) {
            cancel.cancel();
        }
    }
}
