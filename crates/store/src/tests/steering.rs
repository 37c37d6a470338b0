//! Steering runs: pause, concurrency limit, raised budget, retry.

use swe_ci_core::agent::Budget;
use swe_ci_core::step::{Plan, State};
use swe_ci_views::account::Actor;
use swe_ci_views::pace::Pace;
use swe_ci_views::steering::Steering;

use super::*;

const BY: &Actor = &Actor::Operator;

async fn steer(store: &Store, run_id: &str, change: fn(&mut Steering)) -> Option<Steering> {
    let change = |_, mut steering| {
        change(&mut steering);
        Ok(steering)
    };
    store.steer(run_id, BY, change).await.unwrap()
}

/// The audited actions on a run, in order.
async fn audited_actions(store: &Store, run_id: &str) -> Vec<String> {
    let rows = sqlx::query("SELECT action FROM audit WHERE subject = $1 ORDER BY id")
        .bind(run_id)
        .fetch_all(&store.pool)
        .await
        .unwrap();
    let action = |row| sqlx::Row::try_get(row, "action").unwrap();
    let all: Vec<String> = rows.iter().map(action).collect();
    all.into_iter().filter(|a| a != "run.submit").collect()
}

#[tokio::test]
async fn a_paused_run_is_not_claimed() {
    on_both(async |store| {
        let paused = run(&store, &[("a", 9.0), ("b", 8.0)]).await;
        let held = store.claim("w/1", 60_000).await.unwrap().unwrap();
        let other = run(&store, &[("c", 1.0)]).await;
        let steering = steer(&store, &paused, |s| s.paused = true).await.unwrap();
        assert!(steering.paused);
        // Repeating it changes nothing.
        assert_eq!(steer(&store, &paused, |s| s.paused = true).await, None);
        let next = store.claim("w/2", 60_000).await.unwrap().unwrap();
        assert_eq!(next.run_id, other);
        // A released evolution of a paused run is not claimed again.
        assert!(
            store
                .release_claim(&held.evolution_id, "w/1")
                .await
                .unwrap()
        );
        assert_eq!(store.claim("w/1", 60_000).await.unwrap(), None);
        let summary = store.run(&paused).await.unwrap();
        assert!(summary.steering.paused);
        assert_eq!(summary.progress, Progress::Running);
        steer(&store, &paused, |s| s.paused = false).await.unwrap();
        let again = store.claim("w/1", 60_000).await.unwrap().unwrap();
        assert_eq!(again.evolution_id, held.evolution_id);
        assert_eq!(
            audited_actions(&store, &paused).await,
            ["run.pause", "run.resume"]
        );
    })
    .await;
}

#[tokio::test]
async fn the_concurrency_limit_holds() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0), ("b", 2.0), ("c", 1.0)]).await;
        steer(&store, &id, |s| s.at_once = Some(2)).await.unwrap();
        let first = store.claim("w/1", 60_000).await.unwrap().unwrap();
        store.claim("w/2", 60_000).await.unwrap().unwrap();
        assert_eq!(store.claim("w/3", 60_000).await.unwrap(), None);
        // Running evolutions continue when the limit drops.
        steer(&store, &id, |s| s.at_once = Some(1)).await.unwrap();
        let held = store.heartbeat(&first.evolution_id, "w/1", 60_000).await;
        assert_eq!(held.unwrap(), Lease::Held);
        store
            .release_claim(&first.evolution_id, "w/1")
            .await
            .unwrap();
        assert_eq!(store.claim("w/1", 60_000).await.unwrap(), None);
        let read = store.run(&id).await.unwrap().steering;
        assert_eq!(read.at_once, Some(1));
        steer(&store, &id, |s| s.at_once = None).await.unwrap();
        for worker in ["w/1", "w/3"] {
            assert!(store.claim(worker, 60_000).await.unwrap().is_some());
        }
    })
    .await;
}

/// An evolution with an expired lease does not count as running.
#[tokio::test]
async fn expired_leases_do_not_count() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0), ("b", 2.0)]).await;
        steer(&store, &id, |s| s.at_once = Some(1)).await.unwrap();
        let dead = store.claim("w/1", -1).await.unwrap().unwrap();
        let next = store.claim("w/2", 60_000).await.unwrap().unwrap();
        assert_eq!(next.evolution_id, dead.evolution_id);
        assert_eq!((dead.number, next.number), (1, 2));
        assert_eq!(store.claim("w/3", 60_000).await.unwrap(), None);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn parallel_claims_respect_the_limit() {
    on_both(async |store| {
        let names: Vec<String> = (0..24).map(|i| format!("t{i}")).collect();
        let tasks: Vec<(&str, f64)> = names.iter().map(|n| (n.as_str(), 1.0)).collect();
        let id = run(&store, &tasks).await;
        steer(&store, &id, |s| s.at_once = Some(3)).await.unwrap();
        for _ in 0..5 {
            let workers = (0..8).map(|w| {
                let store = store.clone();
                tokio::spawn(async move { store.claim(&format!("w/{w}"), 60_000).await.unwrap() })
            });
            let mut claimed = 0;
            for worker in workers.collect::<Vec<_>>() {
                claimed += u32::from(worker.await.unwrap().is_some());
            }
            assert_eq!(claimed, 3);
            store.release("w/").await.unwrap();
        }
    })
    .await;
}

/// The last two evolutions end at the same moment: one of them finishes the
/// run.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_last_two_end_together_is_finished() {
    on_both(async |store| {
        let names: Vec<String> = (0..8).map(|i| format!("t{i}")).collect();
        let tasks: Vec<(&str, f64)> = names.iter().map(|n| (n.as_str(), 1.0)).collect();
        let id = run(&store, &tasks).await;
        let mut enders = Vec::new();
        for w in 0..names.len() {
            let worker = format!("w/{w}");
            let claim = store.claim(&worker, 60_000).await.unwrap().unwrap();
            let store = store.clone();
            enders.push(tokio::spawn(async move {
                end(&store, &claim, &worker, Ending::NothingLeft).await;
            }));
        }
        for ender in enders {
            ender.await.unwrap();
        }
        let progress = store.run_progress(&id).await.unwrap();
        assert_eq!(progress, Progress::Finished);
    })
    .await;
}

/// Worker 1 releases its own claims and not those of worker 12.
#[tokio::test]
async fn a_worker_releases_only_its_own() {
    on_both(async |store| {
        run(&store, &[("a", 2.0), ("b", 1.0)]).await;
        let first = store.claim("w/1", 60_000).await.unwrap().unwrap();
        let other = store.claim("w/12", 60_000).await.unwrap().unwrap();
        assert!(
            !store
                .release_claim(&other.evolution_id, "w/1")
                .await
                .unwrap()
        );
        assert!(
            store
                .release_claim(&first.evolution_id, "w/1")
                .await
                .unwrap()
        );
        let held = store.heartbeat(&other.evolution_id, "w/12", 60_000).await;
        assert_eq!(held.unwrap(), Lease::Held);
    })
    .await;
}

#[tokio::test]
async fn a_raised_budget_leaves_the_configuration() {
    on_both(async |store| {
        let id = run(&store, &[("a", 1.0)]).await;
        let before = store.run(&id).await.unwrap();
        assert_eq!(before.steering, Steering::of(&before.config));
        let raise = |s: &mut Steering| s.budget.usd = Some(12.5);
        steer(&store, &id, raise).await.unwrap();
        assert_eq!(steer(&store, &id, raise).await, None);
        let now = store.run(&id).await.unwrap();
        assert_eq!(now.config, before.config);
        let raised = Budget {
            usd: Some(12.5),
            ..Budget::default()
        };
        assert_eq!(now.steering.budget, raised);
        assert_eq!(
            store.steering(&id).await.unwrap(),
            (Progress::Queued, now.steering)
        );
        assert_eq!(audited_actions(&store, &id).await, ["run.budget"]);
        // A refused change writes nothing.
        let refused = store
            .steer(&id, BY, |_, _| Err(Error::Conflict("no".into())))
            .await;
        assert!(matches!(refused, Err(Error::Conflict(_))));
        assert_eq!(audited_actions(&store, &id).await.len(), 1);
        let nowhere = store.steer("none", BY, |_, s| Ok(s)).await;
        assert!(matches!(nowhere, Err(Error::NotFound { .. })));
    })
    .await;
}

async fn end(store: &Store, claim: &Claim, worker: &str, ending: Ending) {
    let outcome = match ending {
        Ending::Blocked => StepOutcome::InfraFailed,
        Ending::BudgetSpent => StepOutcome::BudgetSpent,
        _ => StepOutcome::NothingLeft,
    };
    let failed = step(1, Role::Architect, outcome);
    let record = StepToRecord {
        step: &failed,
        iteration: None,
        next: Err((ending, Some("why"))),
    };
    store.record_step(claim, worker, &record).await.unwrap();
}

#[tokio::test]
async fn blocked_evolutions_are_retried() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0), ("b", 2.0), ("c", 1.0)]).await;
        for ending in [Ending::Blocked, Ending::BudgetSpent, Ending::NothingLeft] {
            let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
            end(&store, &claim, "w/1", ending).await;
        }
        let progress = async || store.run_progress(&id).await.unwrap();
        assert_eq!(progress().await, Progress::Finished);
        let totals = store.totals_of_run(&id).await.unwrap();
        let stuck = store.stuck(&id).await.unwrap();
        assert_eq!((stuck.blocked, stuck.budget_spent), (1, 1));

        let changes = store.changes().await.unwrap();
        let again = store.retry(&id, BY).await.unwrap();
        assert_eq!(again.len(), 2);
        assert_eq!(progress().await, Progress::Running);
        assert!(store.changes().await.unwrap() > changes);
        assert_eq!(store.run(&id).await.unwrap().finished_at, None);
        // Repeating it changes nothing, also in the log.
        assert!(store.retry(&id, BY).await.unwrap().is_empty());
        assert_eq!(audited_actions(&store, &id).await, ["run.retry"]);

        // Their earlier steps stay, and a row records the retry.
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        let steps = store.steps(&claim.evolution_id).await.unwrap();
        let outcomes: Vec<StepOutcome> = steps.iter().map(|s| s.outcome).collect();
        assert_eq!(outcomes, [StepOutcome::InfraFailed, StepOutcome::Retried]);
        assert_eq!(steps[1].detail, "operator had it tried again");
        let plan = Plan {
            max_attempts: 1,
            ..Plan::default()
        };
        let state = State::resume(plan, outcomes).unwrap();
        let State::Active(at) = state else {
            panic!("{state:?}");
        };
        assert_eq!((at.role, at.attempt, at.tries()), (Role::Architect, 2, 1));
        // The row adds nothing to the totals.
        assert_eq!(store.totals_of_run(&id).await.unwrap(), totals);
        assert!(totals.usage().is_some());
    })
    .await;
}

#[tokio::test]
async fn pace_counts_the_time_of_steps() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0), ("b", 2.0), ("c", 1.0)]).await;
        for worker in ["w/1", "w/2"] {
            let claim = store.claim(worker, 60_000).await.unwrap().unwrap();
            if worker == "w/1" {
                end(&store, &claim, worker, Ending::NothingLeft).await;
            }
        }
        let pace = store.pace(&id).await.unwrap();
        let expect = Pace {
            over: vec![1.5],
            at_work: vec![0.0],
            waiting: vec![0.0],
        };
        assert_eq!(pace, expect);
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_run_stays_cancelled() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0), ("b", 2.0)]).await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        end(&store, &claim, "w/1", Ending::Blocked).await;
        assert!(store.cancel_run(&id, BY).await.unwrap());
        assert!(!store.cancel_run(&id, BY).await.unwrap());
        let retried = store.retry(&id, BY).await;
        assert!(matches!(retried, Err(Error::Conflict(_))));
        assert_eq!(audited_actions(&store, &id).await, ["run.cancel"]);
    })
    .await;
}

/// An evolution of a cancelled run whose worker died is claimed to be ended,
/// even if the run was paused.
#[tokio::test]
async fn a_cancelled_paused_run_is_ended() {
    on_both(async |store| {
        let id = run(&store, &[("a", 3.0)]).await;
        let dead = store.claim("w/1", -1).await.unwrap().unwrap();
        steer(&store, &id, |s| s.paused = true).await.unwrap();
        store.cancel_run(&id, BY).await.unwrap();
        let next = store.claim("w/2", 60_000).await.unwrap().unwrap();
        assert_eq!(next.evolution_id, dead.evolution_id);
        let progress = store.run_progress(&id).await.unwrap();
        assert_eq!(progress, Progress::Cancelled);
    })
    .await;
}
