//! Every store test is one function that runs on both databases: SQLite
//! always, Postgres when `DATABASE_URL_POSTGRES` is set (`make test` sets it).

mod accounts;
mod agents;
mod audit;
mod background_work;
mod changes;
mod costs;
mod curations;
mod deletions;
mod evolution_audits;
mod evolution_digests;
mod findings;
mod handovers;
mod identities;
mod imports;
mod judgements;
mod keys;
mod listing;
mod notifications;
mod pinning;
mod preflights;
mod prices;
mod regrades;
mod run_counts;
mod snapshots;
mod steering;
mod styles;
mod submitted_runs;
mod tokens;
mod upgrade;
mod verifications;
mod workers;

use swe_ci_base::error::Error;
use swe_ci_core::audit::ShownContradictions;
use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::report::Report;
use swe_ci_core::run::{Kind, Progress, RunConfig};
use swe_ci_core::step::{Cursor, Ending, Role, StepOutcome};
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_views::account::{Actor, Standing};
use swe_ci_views::dataset::SplitSource;
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::Provenance;

use super::testing::PostgresDatabase;
use super::{
    Claim, ImportedEvolution, ImportedRun, IterationRow, Lease, NewRun, StepRow, StepToRecord,
    Store, Suite, TaskRow, Whose,
};

/// Runs a test on a fresh database of each kind.
async fn on_both<F: AsyncFn(Store)>(test: F) {
    on_both_urls(async |url| {
        let store = Store::open(&url).await.unwrap();
        test(store.clone()).await;
        store.pool.close().await;
    })
    .await;
}

/// Runs a test with the URL of an empty database of each kind.
async fn on_both_urls<F: AsyncFn(String)>(test: F) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("db.sqlite");
    test(format!("sqlite:{}?mode=rwc", file.display())).await;
    if let Some(database) = PostgresDatabase::create().await.unwrap() {
        test(database.url.clone()).await;
        database.remove().await.unwrap();
    }
}

fn suite() -> Suite {
    let report = Report::parse(
        br#"{"exitcode": 0, "summary": {"passed": 3}, "tests": [
            {"nodeid": "a", "outcome": "passed"}, {"nodeid": "b", "outcome": "passed"},
            {"nodeid": "c", "outcome": "passed"}]}"#,
    )
    .unwrap();
    Suite {
        counts: SuiteCounts {
            base_in_target: 1,
            target: 3,
            base_passed: 2,
            counts_only: false,
        },
        tests: TestList::of_target(&report),
        base_outcomes: Outcomes::from_letters("pff".into()),
    }
}

fn task(name: &str) -> TaskRow {
    TaskRow {
        suite: suite(),
        extra: vec![("licence".into(), "MIT 'quoted' \u{1F980}".into())],
        ..crate::testing::task(name)
    }
}

async fn run(store: &Store, tasks: &[(&str, f64)]) -> String {
    queue(store, tasks, false).await
}

async fn queue(store: &Store, tasks: &[(&str, f64)], preflight: bool) -> String {
    insert(store, RunConfig::human("s"), tasks, preflight).await
}

async fn run_of(store: &Store, config: RunConfig, tasks: &[(&str, f64)]) -> String {
    insert(store, config, tasks, false).await
}

async fn insert(
    store: &Store,
    config: RunConfig,
    tasks: &[(&str, f64)],
    preflight: bool,
) -> String {
    for (position, (name, _)) in (0u32..).zip(tasks) {
        store.put_task("s", position, &task(name)).await.unwrap();
    }
    let tasks = tasks
        .iter()
        .map(|(name, seconds)| (TaskId::new(*name).unwrap(), *seconds))
        .collect();
    let run = NewRun {
        standing: Standing::default(),
        grant: RunPermissions::default(),
        config,
        provenance: Provenance::default(),
        tasks,
        preflight,
        forget_keys: false,
    };
    store.insert_run(&run, &Actor::Operator).await.unwrap()
}

fn step(iteration: u32, role: Role, outcome: StepOutcome) -> StepRow {
    StepRow {
        iteration,
        role,
        attempt: 1,
        outcome,
        detail: "what happened".into(),
        product: Some("key".into()),
        log: None,
        usage: Some(Usage {
            input_tokens: 7,
            output_tokens: 1 << 40,
            ..Usage::default()
        }),
        traffic: Some(Traffic {
            requests: 3,
            micro_usd: Some(1_500),
            ..Traffic::default()
        }),
        truncation: None,
        trajectory: Some("trajectory".into()),
        layer: None,
        container: None,
        started_at: 1_000,
        finished_at: 2_500,
    }
}

/// The first iteration of a [`task`], with all its tests passed.
fn all_passed(code: &str) -> IterationRow {
    IterationRow {
        iteration: 1,
        verdict: Verdict::Scored {
            in_target: 3,
            passed: 4,
            lost: 0,
        },
        gained: 2,
        outcomes: Outcomes::from_letters("ppp".into()),
        collapse: None,
        findings: Vec::new(),
        code: code.into(),
        test_seconds: 0.25,
        finished_at: 2_500,
        contradicted: None,
    }
}

fn at(iteration: u32, role: Role) -> Cursor {
    Cursor {
        iteration,
        role,
        attempt: 1,
        forgiven: 0,
        external: 0,
        code_of: 0,
    }
}

#[tokio::test]
async fn tasks_and_splits() {
    on_both(async |store| {
        assert!(matches!(
            store.tasks_of_split("s").await,
            Err(Error::NotFound { .. })
        ));
        for (position, name) in [(2, "a"), (1, "b"), (0, "c")] {
            store.put_task("s", position, &task(name)).await.unwrap();
        }
        let mut bad = task("b");
        bad.state = swe_ci_views::view::TaskState::Unusable {
            reason: "its image is gone".into(),
        };
        store.put_task("t", 0, &bad).await.unwrap();

        let stored = store.task(&bad.id).await.unwrap();
        assert_eq!(
            (stored.state, stored.extra, stored.suite),
            (bad.state, bad.extra, bad.suite)
        );
        let names = |rows: Vec<TaskRow>| rows.iter().map(|t| t.id.to_string()).collect::<Vec<_>>();
        assert_eq!(
            names(store.tasks_of_split("s").await.unwrap()),
            ["c", "b", "a"]
        );
        let summaries = async |split| {
            let rows = store.task_summaries(split).await.unwrap();
            let full = store.tasks_of_split("s").await.unwrap();
            for task in &rows {
                let row = full.iter().find(|row| row.id == task.task_id).unwrap();
                assert_eq!(row.summary(), *task);
            }
            let ids = rows.iter().map(|task| task.task_id.to_string());
            ids.collect::<Vec<_>>()
        };
        assert_eq!(summaries(Some("s")).await, ["c", "b", "a"]);
        assert_eq!(summaries(None).await, ["a", "b", "c"]);
        let origin = store.split_origin("s").await.unwrap();
        assert_eq!(origin.0, None);
        store.put_origin("s", &SplitSource::Demo).await.unwrap();
        let (source, since) = store.split_origin("s").await.unwrap();
        assert_eq!((source, since), (Some(SplitSource::Demo), origin.1));
        let ends = store.ends_of_split("s").await.unwrap();
        assert_eq!(ends.len(), 3);
        assert_eq!(ends[0][0], "c");
        let rows = store.tasks_of_split("s").await.unwrap();
        let identities: Vec<_> = rows.iter().map(|row| row.identity().unwrap()).collect();
        let revisions = store.revisions_of_split("s").await.unwrap();
        assert_eq!(revisions, identities);
        // The tests and their command are part of what a task asks.
        let mut other = rows[0].clone();
        other.suite.base_outcomes = Outcomes::from_letters("f".into());
        assert_ne!(other.identity().unwrap(), identities[0]);
        other = rows[0].clone();
        other.test_command = TestCommand::PLATFORM;
        assert_ne!(rows[0].test_command, other.test_command);
        assert_ne!(other.identity().unwrap(), identities[0]);
        assert_eq!(
            store
                .splits_of_task(&TaskId::new("b").unwrap(), "")
                .await
                .unwrap(),
            ["s", "t"]
        );
        let splits = store.splits().await.unwrap();
        assert_eq!(
            splits
                .iter()
                .map(|s| (s.name.as_str(), s.tasks, s.ready))
                .collect::<Vec<_>>(),
            [("s", 3, 2), ("t", 1, 0)]
        );
    })
    .await;
}

#[tokio::test]
async fn an_evolution_is_recorded_step_by_step() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 1.0)]).await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        assert_eq!(
            store.run_progress(&run_id).await.unwrap(),
            Progress::Running
        );
        let done = step(1, Role::Architect, StepOutcome::Done);
        let record = StepToRecord {
            step: &done,
            iteration: None,
            next: Ok(at(1, Role::Programmer)),
        };
        // Only the holder of the lease may write, and a refused call writes
        // nothing.
        let refused = store.record_step(&claim, "w/2", &record).await;
        assert!(matches!(refused, Err(Error::Conflict(_))));
        assert!(store.steps(&claim.evolution_id).await.unwrap().is_empty());
        store.record_step(&claim, "w/1", &record).await.unwrap();
        assert_eq!(
            store.evolution(&claim.evolution_id).await.unwrap().at,
            (1, Role::Programmer, 1)
        );

        let tested = step(1, Role::Test, StepOutcome::Scored { solved: true });
        let iteration = IterationRow {
            findings: vec![Finding::note(FindingKind::Steering, "conftest.py differs")],
            contradicted: Some(ShownContradictions {
                shown: 2,
                passed: vec!["tests/test_a.py::test_a".into()],
                report: Some("contradicted.json".into()),
            }),
            ..all_passed("code/x")
        };
        let record = StepToRecord {
            step: &tested,
            iteration: Some(&iteration),
            next: Err((Ending::Solved, None)),
        };
        store.record_step(&claim, "w/1", &record).await.unwrap();
        let lease = async |worker| store.heartbeat(&claim.evolution_id, worker, 60_000).await;
        assert_eq!(lease("w/1").await.unwrap(), Lease::Ended);
        assert_eq!(lease("w/2").await.unwrap(), Lease::Lost);

        let steps = store.steps(&claim.evolution_id).await.unwrap();
        assert_eq!(
            steps.iter().map(|s| s.outcome).collect::<Vec<_>>(),
            [done.outcome, tested.outcome]
        );
        assert!((steps[0].view().seconds - 1.5).abs() < 1e-9);
        let read = &store.iterations_of_run(&run_id).await.unwrap()[0].1;
        assert_eq!(read.view(), iteration.view());
        assert_eq!(read.contradicted, iteration.contradicted);
        let listed = store.listed_iterations_of_run(&run_id).await.unwrap();
        assert_eq!(listed[0].1.view(), iteration.view());
        let contradicted = store.contradicted_of_run(&run_id).await.unwrap();
        assert_eq!(contradicted[&claim.evolution_id].share(), Some(0.5));
        let run = store.run(&run_id).await.unwrap();
        assert_eq!(
            (
                run.progress,
                run.evolutions,
                run.evolutions_over,
                (run.evolutions_solved, run.evolutions_gave_up),
                (run.evolutions_scored, run.iterations)
            ),
            (Progress::Finished, 1, 1, (1, 0), (1, 1))
        );
        assert_eq!(run.finished_at.as_deref(), Some("1970-01-01T00:00:02Z"));
        assert!(matches!(
            store.cancel_run(&run_id, &Actor::Operator).await,
            Err(Error::Conflict(_))
        ));
    })
    .await;
}

#[tokio::test]
async fn the_longest_is_claimed_first_and_leases_expire() {
    on_both(async |store| {
        run(&store, &[("short", 1.0), ("long", 9.0)]).await;
        let first = store.claim("w/1", -1).await.unwrap().unwrap();
        assert_eq!(first.task_id.as_str(), "long");
        // Its lease expired at once: it is free again, and first in the queue
        // again.
        let again = store.claim("w/2", 60_000).await.unwrap().unwrap();
        assert_eq!(again.evolution_id, first.evolution_id);
        assert_eq!((first.number, again.number), (1, 2));
        let held = async |worker| store.heartbeat(&first.evolution_id, worker, 60_000).await;
        assert_eq!(held("w/1").await.unwrap(), Lease::Lost);
        assert_eq!(held("w/2").await.unwrap(), Lease::Held);
        assert_eq!(
            store
                .claim("w/3", 60_000)
                .await
                .unwrap()
                .unwrap()
                .task_id
                .as_str(),
            "short"
        );
        assert!(store.claim("w/3", 60_000).await.unwrap().is_none());
        assert_eq!(store.release("w/").await.unwrap(), 2);
        assert!(store.claim("w/3", 60_000).await.unwrap().is_some());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_evolution_is_claimed_twice() {
    on_both(async |store| {
        let names: Vec<String> = (0..40).map(|i| format!("t{i}")).collect();
        let tasks: Vec<(&str, f64)> = names.iter().map(|n| (n.as_str(), 1.0)).collect();
        run(&store, &tasks).await;
        let workers = (0..8).map(|w| {
            let store = store.clone();
            tokio::spawn(async move {
                let mut claimed: Vec<Claim> = Vec::new();
                while let Some(claim) = store.claim(&format!("w/{w}"), 60_000).await.unwrap() {
                    claimed.push(claim);
                }
                claimed
            })
        });
        let mut ids = Vec::new();
        for worker in workers.collect::<Vec<_>>() {
            ids.extend(worker.await.unwrap().into_iter().map(|c| c.evolution_id));
        }
        // A worker may find nothing while another holds the last row; the test
        // is that none was claimed twice.
        let total = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), total);
        assert!(total > 0);
    })
    .await;
}

#[tokio::test]
async fn cancelling_ends_queued_evolutions() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 2.0), ("b", 1.0)]).await;
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        assert!(store.cancel_run(&run_id, &Actor::Operator).await.unwrap());
        assert!(!store.cancel_run(&run_id, &Actor::Operator).await.unwrap());
        let endings: Vec<_> = store
            .evolutions_of_run(&run_id)
            .await
            .unwrap()
            .iter()
            .map(|e| (e.progress, e.ending))
            .collect();
        assert_eq!(
            endings,
            [
                (Progress::Running, None),
                (Progress::Cancelled, Some(Ending::Cancelled))
            ]
        );
        let step = step(1, Role::Architect, StepOutcome::Cancelled);
        let record = StepToRecord {
            step: &step,
            iteration: None,
            next: Err((Ending::Cancelled, None)),
        };
        store.record_step(&claim, "w/1", &record).await.unwrap();
        let run = store.run(&run_id).await.unwrap();
        assert_eq!(
            (run.progress, run.evolutions_over),
            (Progress::Cancelled, 0),
            "none of them came to an end"
        );
        for (start, expect) in [(&run_id[..8], 1), (&run_id, 1), ("", 0), ("%", 0), ("z", 0)] {
            let found = store.runs_that_begin(start).await.unwrap();
            assert_eq!(found.len(), expect, "{start}");
        }
        assert!(matches!(
            store.cancel_run("none", &Actor::Operator).await,
            Err(Error::NotFound { .. })
        ));
    })
    .await;
}

#[tokio::test]
async fn runs_page_newest_first() {
    on_both(async |store| {
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(run(&store, &[("a", 1.0)]).await);
        }
        ids.reverse();
        let list = |rows: Vec<swe_ci_views::view::RunSummary>| {
            rows.into_iter().map(|r| r.run_id).collect::<Vec<_>>()
        };
        assert_eq!(
            list(
                store
                    .runs(&Whose::All, &RunFilter::default(), "", 2)
                    .await
                    .unwrap()
            ),
            ids[..2]
        );
        assert_eq!(
            list(
                store
                    .runs(&Whose::All, &RunFilter::default(), &ids[1], 2)
                    .await
                    .unwrap()
            ),
            ids[2..]
        );
    })
    .await;
}

/// SQLite and Postgres agree only on TEXT, BIGINT and DOUBLE PRECISION.
#[test]
fn migrations_use_portable_column_types() {
    for migration in crate::migrations::migrator().iter() {
        for line in migration.sql.as_str().lines() {
            let code = line.split("--").next().unwrap_or_default().trim();
            let column = code
                .split_whitespace()
                .nth(1)
                .unwrap_or_default()
                .trim_end_matches(',');
            let is_column = line.starts_with("    ")
                && !code.starts_with("PRIMARY")
                && !code.is_empty()
                && !code.starts_with("UNIQUE");
            assert!(
                !is_column || ["TEXT", "BIGINT", "DOUBLE"].contains(&column),
                "{line}"
            );
        }
    }
}
