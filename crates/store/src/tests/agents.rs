//! Token usage of agents. Postgres caches a statement with the types of its
//! first bindings, and a later `NULL` has to fit them.

use swe_ci_core::run::Limits;
use swe_ci_core::step::Truncation;
use swe_ci_views::container::{Container, ContainerLimits, Engine, Hold};

use super::*;

#[tokio::test]
async fn absent_and_present_values_are_recorded_in_turn() {
    let nothing = StepRow {
        product: None,
        usage: None,
        traffic: None,
        trajectory: None,
        ..step(1, Role::Architect, StepOutcome::Done)
    };
    let without_price = StepRow {
        traffic: Some(Traffic {
            requests: 1,
            ..Traffic::default()
        }),
        ..nothing.clone()
    };
    let everything = StepRow {
        log: Some("log".into()),
        usage: Some(Usage {
            input_tokens: 1 << 40,
            output_tokens: 2,
            cached_tokens: 3,
            reasoning_tokens: 4,
        }),
        traffic: Some(Traffic {
            requests: 5,
            retries: 6,
            waiting_ms: 7,
            unfinished: 1,
            streamed_tokens: 120,
            probes: 2,
            probe_micro_usd: 9,
            micro_usd: Some(8),
        }),
        truncation: Some(Truncation::CutOff),
        layer: Some("sha256:1".into()),
        container: Some(Container {
            image: "sha256:2".into(),
            image_name: None,
            limits: ContainerLimits::of(Limits::default(), Role::Architect),
            exit_code: Some(-1),
            out_of_memory: true,
            seconds: 1.5,
            engine: Some(Engine {
                name: "Podman 4.3.1".into(),
                memory: Hold::Watched,
                processes: Hold::Held,
            }),
        }),
        ..step(1, Role::Architect, StepOutcome::Done)
    };
    let orders = [
        [&nothing, &without_price, &everything],
        [&everything, &without_price, &nothing],
    ];
    for order in orders {
        on_both(async |store| {
            let run_id = run(&store, &[("a", 1.0)]).await;
            let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
            for step in order {
                let record = StepToRecord {
                    step,
                    iteration: None,
                    next: Ok(at(1, Role::Programmer)),
                };
                store.record_step(&claim, "w/1", &record).await.unwrap();
            }
            let steps = store.steps(&claim.evolution_id).await.unwrap();
            let read = |step: &StepRow| format!("{step:?}");
            assert_eq!(steps.iter().map(read).collect::<Vec<_>>(), order.map(read));
            let totals = store.totals_of_run(&run_id).await.unwrap();
            assert_eq!(totals.taken, everything.usage.unwrap());
            let traffic = totals.traffic;
            assert_eq!((traffic.requests, traffic.micro_usd), (6, Some(8)));
        })
        .await;
    }
}

/// As when a process dies: the next worker finds what the attempt took.
#[tokio::test]
async fn the_usage_of_an_attempt_at_work_lasts() {
    let attempt = StepRow {
        product: None,
        trajectory: None,
        ..step(1, Role::Architect, StepOutcome::Interrupted)
    };
    on_both(async |store| {
        let run_id = run(&store, &[("a", 1.0)]).await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        let id = claim.evolution_id.as_str();
        let requests = async || {
            let totals = store.totals_of_run(&run_id).await.unwrap();
            totals.traffic.requests
        };
        let keep = async |worker, requests| {
            let traffic = Some(Traffic {
                requests,
                ..Traffic::default()
            });
            let attempt = StepRow {
                traffic,
                ..attempt.clone()
            };
            store.keep_usage(&claim, worker, &attempt).await
        };
        for n in 1..=3 {
            keep("w/1", n).await.unwrap();
            assert_eq!(requests().await, n);
        }
        let refused = keep("w/2", 9).await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        assert!(store.steps(id).await.unwrap().is_empty());
        assert!(store.steps_of_run(&run_id).await.unwrap().is_empty());
        assert_eq!(store.steps_done().await.unwrap(), []);
        let taken_up = store.steps_to_resume(id).await.unwrap();
        assert_eq!(taken_up[0].outcome, StepOutcome::Interrupted);
        // The step is done again, and its row replaces the one of the attempt at work.
        keep("w/1", 2).await.unwrap();
        assert_eq!(requests().await, 5);
        let done = step(1, Role::Architect, StepOutcome::Done);
        let record = StepToRecord {
            step: &done,
            iteration: None,
            next: Ok(at(1, Role::Programmer)),
        };
        store.record_step(&claim, "w/1", &record).await.unwrap();
        assert_eq!(requests().await, 3 + 3);
        let steps = store.steps(id).await.unwrap();
        let outcomes: Vec<StepOutcome> = steps.iter().map(|step| step.outcome).collect();
        assert_eq!(outcomes, [StepOutcome::Interrupted, StepOutcome::Done]);
    })
    .await;
}
