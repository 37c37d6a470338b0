//! Tests of the slots that claim evolutions: when they look for work, and what
//! becomes of a lease.

use swe_ci_base::error::Error;
use swe_ci_store::testing::PostgresDatabase;

use super::*;
use crate::idle_slots::IdleSlots;
use crate::worker_slots::{self, LeaseEnd, Slots, WorkSignals};

async fn work_until_ended(fixture: &Fixture) {
    let (store, id) = (&fixture.evolver.store, &fixture.claim.evolution_id);
    let signals = WorkSignals::default();
    let ended = async {
        while store.evolution(id).await.unwrap().ending.is_none() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        signals.drain.cancel();
    };
    let slots = Arc::new(one_slot());
    tokio::join!(
        worker_slots::work(&fixture.evolver, &slots, &signals),
        ended
    );
    assert_eq!(slots.counts.claims.load(Ordering::Relaxed), 1);
    assert_eq!(slots.counts.leases_lost.load(Ordering::Relaxed), 0);
}

/// The worker goes on, and the attempt counts: a process that died would claim
/// the same evolution again.
#[tokio::test]
async fn a_panic_blocks_its_evolution_and_nothing_else() {
    let fixture = Fixture::new(|_, _, _| panic!("an index is out of bounds"), 1).await;
    let (store, id) = (&fixture.evolver.store, &fixture.claim.evolution_id);
    assert!(store.release_claim(id, WORKER).await.unwrap());
    work_until_ended(&fixture).await;
    assert_eq!(fixture.outcomes().await, [StepOutcome::InfraFailed]);
    let evolution = store.evolution(id).await.unwrap();
    assert_eq!(evolution.ending, Some(Ending::Blocked));
    let reason = evolution.reason.unwrap();
    assert!(reason.contains("an index is out of bounds"), "{reason}");
}

fn one_slot() -> Slots {
    Slots {
        worker_id: "w".into(),
        count: 1,
        ..Slots::default()
    }
}

/// A heartbeat may come between the row that ends an evolution and the end of its
/// work.
#[tokio::test]
async fn a_lease_that_ends_with_its_evolution_is_not_lost() {
    let fixture = Fixture::new(honest, 1).await;
    assert_eq!(fixture.evolve().await, Ending::Solved);
    let (evolver, claim) = (&fixture.evolver, &fixture.claim);
    let end = worker_slots::keep_lease(evolver, WORKER, claim, &Interrupts::default()).await;
    assert!(matches!(end, LeaseEnd::EvolutionEnded), "{end:?}");
}

#[tokio::test]
async fn a_lease_that_another_worker_took_is_lost() {
    let fixture = Fixture::new(honest, 1).await;
    let (evolver, claim) = (&fixture.evolver, &fixture.claim);
    assert_eq!(evolver.store.release("w/").await.unwrap(), 1);
    let other = evolver.store.claim("v/1", 60_000).await.unwrap().unwrap();
    assert_eq!(other.evolution_id, claim.evolution_id);
    let end = worker_slots::keep_lease(evolver, WORKER, claim, &Interrupts::default()).await;
    assert!(matches!(end, LeaseEnd::Lost(Error::Conflict(_))), "{end:?}");
}

/// Its slots look for work once an hour, so that only the database wakes them in
/// time.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_worker_is_woken_when_a_run_is_queued() {
    let Some(database) = PostgresDatabase::create().await.unwrap() else {
        return;
    };
    let mut fixture = Fixture::new(honest, 1).await;
    let store = Store::open(&database.url).await.unwrap();
    let task = fixture
        .evolver
        .store
        .task(&fixture.claim.task_id)
        .await
        .unwrap();
    store.put_task("s", 0, &task).await.unwrap();
    fixture.evolver.store = store.clone();
    let hour = std::time::Duration::from_hours(1);
    let signals = WorkSignals {
        idle: Arc::new(IdleSlots::looking_every(hour, hour)),
        ..WorkSignals::default()
    };
    let working = tokio::spawn({
        let (evolver, signals) = (fixture.evolver.clone(), signals.clone());
        async move {
            let slots = Arc::new(one_slot());
            tokio::select! {
                () = worker_slots::work(&evolver, &slots, &signals) => {}
                never = signals.idle.listen(&evolver.store) => match never {},
            }
        }
    });
    // The second comes when the worker has been idle for certain.
    for _ in 0..2 {
        let run = NewRun {
            standing: Standing::default(),
            grant: RunPermissions::default(),
            config: RunConfig::human("s"),
            provenance: Provenance::default(),
            tasks: vec![(task.id.clone(), 1.0)],
            preflight: false,
            forget_keys: false,
        };
        let id = store.insert_run(&run, &Actor::Operator).await.unwrap();
        while !store.run_progress(&id).await.unwrap().is_over() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
    signals.drain.cancel();
    working.await.unwrap();
    database.remove().await.unwrap();
}

/// Attempts meanwhile would all fail.
#[tokio::test]
async fn an_engine_that_is_away_costs_at_most_the_attempt_it_broke() {
    let fixture = Fixture::new(honest, 1).await;
    let (store, id) = (&fixture.evolver.store, &fixture.claim.evolution_id);
    assert!(store.release_claim(id, WORKER).await.unwrap());
    fixture.sandbox.go_away_for(2);
    work_until_ended(&fixture).await;
    let outcomes = fixture.outcomes().await;
    assert!(
        !outcomes.contains(&StepOutcome::InfraFailed),
        "{outcomes:?}"
    );

    let fixture = Fixture::new(honest, 2).await;
    fixture.sandbox.go_away_for(2);
    assert_eq!(fixture.evolve().await, Ending::Solved);
    let outcomes = fixture.outcomes().await;
    assert_eq!(outcomes[..2], [StepOutcome::InfraFailed, StepOutcome::Done]);
    assert_eq!(outcomes.len(), 7);
}
