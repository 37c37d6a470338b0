//! Where the evolutions of a handover start, and what their iterations cost.

use super::*;
use crate::{MeasuredStart, NewStart, Start, StepCost};

#[tokio::test]
async fn a_handover_pins_where_it_starts() {
    on_both(async |store| {
        let tasks = ["a", "b"];
        for (position, name) in (0..).zip(tasks) {
            store.put_task("s", position, &task(name)).await.unwrap();
        }
        let new = NewRun {
            standing: Standing::default(),
            grant: RunPermissions::default(),
            config: RunConfig {
                samples: 2,
                ..RunConfig::human("s")
            },
            provenance: Provenance::default(),
            tasks: tasks.map(|name| (TaskId::new(name).unwrap(), 1.0)).into(),
            preflight: false,
            forget_keys: false,
        };
        let start = NewStart {
            task: TaskId::new("b").unwrap(),
            sample: 2,
            start: Start {
                run_id: "earlier".into(),
                evolution_id: "e".into(),
                iteration: 3,
                code: "code/0123.tar.zst".into(),
            },
            measured: Some(MeasuredStart {
                suite: Suite {
                    base_outcomes: Outcomes::from_letters("ppf".into()),
                    counts: SuiteCounts {
                        base_in_target: 2,
                        base_passed: 4,
                        ..suite().counts
                    },
                    ..suite()
                },
                report: Some("report".into()),
            }),
        };
        let measured = start.measured.clone().unwrap();
        let run_id = store
            .insert_handover(&new, std::slice::from_ref(&start), &Actor::Operator)
            .await
            .unwrap();
        let rows = store.evolutions_of_run(&run_id).await.unwrap();
        let [row] = rows.as_slice() else {
            panic!("only what has a start: {rows:?}");
        };
        assert_eq!((row.task_id.as_str(), row.sample), ("b", 2));
        assert_eq!(row.start.as_ref(), Some(&start.start));
        assert!(row.start_measured);
        assert_eq!(row.counts, measured.suite.counts);
        let pinned = store.task_of_evolution(row).await.unwrap();
        assert_eq!(pinned.suite, measured.suite);
        assert_eq!(pinned.base_report.as_deref(), Some("report"));
        assert_eq!(pinned.base_sha, task("b").base_sha);
        let handed = start.start.view();
        assert_eq!((handed.code.as_str(), handed.iteration), ("0123", 3));

        // Towards another target no run has tested that code: a worker does, and
        // only the one that has the evolution.
        let later = NewStart {
            measured: None,
            ..start.clone()
        };
        let moved = store
            .insert_handover(&new, &[later], &Actor::Operator)
            .await
            .unwrap();
        let [row] = &store.evolutions_of_run(&moved).await.unwrap()[..] else {
            panic!("one has a start");
        };
        assert!(!row.start_measured);
        assert_eq!(row.counts, task("b").suite.counts);
        let mut claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        while claim.run_id != moved {
            claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        }
        let late = Claim {
            number: claim.number + 1,
            ..claim.clone()
        };
        let refused = store
            .record_start(&late, "code/4567.tar.zst", &measured)
            .await;
        assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
        store
            .record_start(&claim, "code/4567.tar.zst", &measured)
            .await
            .unwrap();
        let row = store.evolution(&claim.evolution_id).await.unwrap();
        assert!(row.start_measured);
        assert_eq!(row.counts, measured.suite.counts);
        assert_eq!(row.start.unwrap().code, "code/4567.tar.zst");

        let plain = store.insert_run(&new, &Actor::Operator).await.unwrap();
        let rows = store.evolutions_of_run(&plain).await.unwrap();
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|row| row.start.is_none()));
    })
    .await;
}

#[tokio::test]
async fn an_iteration_costs_what_all_its_steps_do() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 1.0)]).await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        let counted = |iteration, role, tokens: Option<u64>| StepRow {
            usage: tokens.map(|input_tokens| Usage {
                input_tokens,
                output_tokens: 1,
                ..Usage::default()
            }),
            traffic: tokens.map(|micro_usd| Traffic {
                requests: 1,
                micro_usd: (micro_usd != 7).then_some(micro_usd),
                ..Traffic::default()
            }),
            ..step(iteration, role, StepOutcome::Done)
        };
        let steps = [
            counted(1, Role::Architect, Some(10)),
            counted(1, Role::Programmer, Some(20)),
            counted(1, Role::Test, None),
            counted(2, Role::Architect, Some(7)),
            counted(3, Role::Architect, Some(5)),
            counted(3, Role::Programmer, None),
        ];
        for step in &steps {
            let next = Cursor {
                iteration: step.iteration,
                role: step.role,
                attempt: 1,
                forgiven: 0,
                external: 0,
                code_of: 0,
            };
            let record = StepToRecord {
                step,
                iteration: None,
                next: Ok(next),
            };
            store.record_step(&claim, "w/1", &record).await.unwrap();
        }
        let cost = |iteration, tokens, micro_usd| StepCost {
            evolution_id: claim.evolution_id.clone(),
            iteration,
            tokens,
            micro_usd,
        };
        let expect = [
            cost(1, Some(32), Some(30)),
            cost(2, Some(8), None),
            cost(3, None, None),
        ];
        assert_eq!(store.costs_by_iteration(&run_id).await.unwrap(), expect);
    })
    .await;
}
