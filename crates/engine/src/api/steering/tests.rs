//! Tests of steering: permissions, idempotence, and budgets.

use std::time::Duration;

use futures::StreamExt;
use swe_ci_core::agent::Budget;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_core::usage::Usage;
use swe_ci_store::testing::{account, task};
use swe_ci_store::{NewRun, StepRow, StepToRecord};
use swe_ci_views::account::{AccountRole, Actor, Standing, Visibility};
use swe_ci_views::view::Provenance;

use super::*;
use crate::Config;

/// A run of ada's with this budget over this many tasks.
async fn run(engine: &Engine, tasks: u32, visibility: Visibility, budget: Budget) -> String {
    let store = &engine.store;
    let mut ids = Vec::new();
    for position in 0..tasks {
        let task = task(&format!("t{position}"));
        store.put_task("s", position, &task).await.unwrap();
        ids.push((task.id, 1.0));
    }
    let run = NewRun {
        config: RunConfig {
            kind: Kind::Measured,
            budget,
            ..RunConfig::human("s")
        },
        standing: Standing {
            owner: Some("ada".into()),
            visibility,
        },
        grant: RunPermissions::default(),
        provenance: Provenance::default(),
        tasks: ids,
        preflight: false,
        forget_keys: false,
    };
    store.insert_run(&run, &Actor::Operator).await.unwrap()
}

/// Ends the next evolution, which used a hundred tokens.
async fn end_next(engine: &Engine, outcome: StepOutcome, ending: Ending) {
    let store = &engine.store;
    let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
    let step = StepRow {
        iteration: 1,
        role: Role::Architect,
        attempt: 1,
        outcome,
        detail: "why".into(),
        product: None,
        log: None,
        usage: Some(Usage {
            input_tokens: 100,
            ..Usage::default()
        }),
        traffic: None,
        truncation: None,
        trajectory: None,
        layer: None,
        container: None,
        started_at: 0,
        finished_at: 1,
    };
    let record = StepToRecord {
        step: &step,
        iteration: None,
        next: Err((ending, Some("why"))),
    };
    store.record_step(&claim, "w/1", &record).await.unwrap();
}

fn tokens(n: u64) -> Budget {
    Budget {
        tokens: Some(n),
        ..Budget::default()
    }
}

fn raise(n: u64) -> Change {
    Change {
        budget: Some(tokens(n)),
        at_once: None,
    }
}

/// The result of an action in a word.
fn result_word(result: Result<()>) -> &'static str {
    match result {
        Ok(()) => "done",
        Err(Error::Unauthenticated(_)) => "sign in",
        Err(Error::Forbidden(_)) => "forbidden",
        Err(Error::NotFound { .. }) => "not found",
        Err(Error::Conflict(_)) => "conflict",
        Err(Error::Rejected(_)) => "rejected",
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn permissions_to_steer() {
    use AccountRole::{Admin, Reader, Submitter};
    let data = tempfile::tempdir().unwrap();
    let operator = Engine::open(Config::new(data.path().to_owned()))
        .await
        .unwrap();
    let public = run(&operator, 1, Visibility::Public, Budget::default()).await;
    let private = run(&operator, 1, Visibility::Private, Budget::default()).await;
    // An actor, and the result of each action on each run.
    let check = async |actor: Actor, on_public: &str, on_private: &str| {
        let engine = operator.acting_for(actor.clone());
        for (run, expect) in [(&public, on_public), (&private, on_private)] {
            let all = Change {
                at_once: Some(Some(3)),
                ..Change::default()
            };
            let found = [
                result_word(engine.pause(run).await),
                result_word(engine.resume(run).await),
                result_word(engine.change(run, all).await),
                result_word(engine.retry_blocked(run).await.map(|_| ())),
            ];
            assert_eq!(found, [expect; 4], "{actor:?}");
            if expect != "done" {
                assert_eq!(result_word(engine.cancel(run).await), expect, "{actor:?}");
            }
        }
    };
    check(Actor::Visitor, "sign in", "not found").await;
    check(account("bob", Submitter), "forbidden", "not found").await;
    check(account("ada", Reader), "forbidden", "forbidden").await;
    check(account("ada", Submitter), "done", "done").await;
    check(account("root", Admin), "done", "done").await;
    check(Actor::Operator, "done", "done").await;
    let ada = operator.acting_for(account("ada", Submitter));
    assert_eq!(result_word(ada.cancel(&public).await), "done");
}

#[tokio::test]
async fn steering_is_idempotent_and_published_once() {
    let data = tempfile::tempdir().unwrap();
    let engine = Engine::open(Config::new(data.path().to_owned()))
        .await
        .unwrap();
    let id = run(&engine, 2, Visibility::Public, tokens(50)).await;
    let events = engine.events(&id, Some(0)).await.unwrap();
    for _ in 0..2 {
        engine.pause(&id).await.unwrap();
    }
    for _ in 0..2 {
        engine.resume(&id).await.unwrap();
    }
    for _ in 0..2 {
        engine.change(&id, raise(80)).await.unwrap();
    }
    assert_eq!(result_word(engine.change(&id, raise(79)).await), "rejected");
    let none = Change {
        at_once: Some(Some(0)),
        ..Change::default()
    };
    assert_eq!(result_word(engine.change(&id, none).await), "rejected");
    for _ in 0..2 {
        engine.cancel(&id).await.unwrap();
    }
    let published: Vec<What> = events.take(4).map(|event| event.what).collect().await;
    let steered = |paused, n| {
        let steering = Steering {
            paused,
            at_once: None,
            budget: tokens(n),
        };
        What::Steered { steering }
    };
    let progress = Progress::Cancelled;
    assert_eq!(
        published,
        [
            steered(true, 50),
            steered(false, 50),
            steered(false, 80),
            What::Run { progress },
        ]
    );
    for over in [
        engine.pause(&id).await,
        engine.resume(&id).await,
        engine.change(&id, raise(90)).await,
        engine.retry_blocked(&id).await.map(|_| ()),
    ] {
        assert_eq!(result_word(over), "conflict");
    }
}

#[tokio::test]
async fn a_spent_budget_is_raised_before_it_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let engine = Engine::open(Config::new(data.path().to_owned()))
        .await
        .unwrap();
    let id = run(&engine, 2, Visibility::Public, tokens(150)).await;
    // Nothing to retry while it runs, and no error.
    assert_eq!(engine.retry_blocked(&id).await.unwrap(), 0);
    end_next(&engine, StepOutcome::InfraFailed, Ending::Blocked).await;
    end_next(&engine, StepOutcome::BudgetSpent, Ending::BudgetSpent).await;
    let run = engine.run(&id).await.unwrap();
    assert_eq!(run.summary.progress, Progress::Finished);
    let error = engine.retry_blocked(&id).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("150 tokens is spent; raise it first"),
        "{error}"
    );
    assert_eq!(result_word(engine.pause(&id).await), "conflict");
    engine.change(&id, raise(500)).await.unwrap();
    assert_eq!(engine.retry_blocked(&id).await.unwrap(), 2);
    assert_eq!(engine.retry_blocked(&id).await.unwrap(), 0);
    let run = engine.run(&id).await.unwrap();
    assert_eq!(run.summary.progress, Progress::Running);
    assert_eq!(run.summary.steering.budget, tokens(500));
    assert_eq!(run.summary.config.budget, tokens(150));
    let waiting = |e: &swe_ci_views::view::EvolutionView| e.progress == Progress::Queued;
    assert!(run.evolution_list.iter().all(waiting));

    for _ in 0..2 {
        end_next(&engine, StepOutcome::NothingLeft, Ending::NothingLeft).await;
    }
    let over = engine.retry_blocked(&id).await.map(|_| ());
    assert_eq!(result_word(over), "conflict");
    assert_eq!(
        result_word(engine.change(&id, raise(900)).await),
        "conflict"
    );
}

/// Another process ended the run, and its event was lost.
#[tokio::test]
async fn a_stream_of_events_ends_with_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::open(Config::new(folder.path().into()))
        .await
        .unwrap();
    let id = run(&engine, 1, Visibility::Public, Budget::default()).await;
    let events = engine.events(&id, None).await.unwrap();
    engine.store.cancel_run(&id, engine.by()).await.unwrap();
    let events = tokio::time::timeout(Duration::from_mins(1), events.collect::<Vec<_>>());
    let last = events.await.unwrap().pop().unwrap();
    let progress = Progress::Cancelled;
    assert_eq!(last.what, What::Run { progress });
}
