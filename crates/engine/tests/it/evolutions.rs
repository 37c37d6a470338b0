//! Evolutions of three-test packages, with golden results.

use std::process::Command;

use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::step::{Ending, StepOutcome};
use swe_ci_engine::testing::TinyTask;
use swe_ci_views::account::Visibility;

use crate::fixture::{Fixture, SPLIT, golden};

const TESTS: &str = "
import tiny
def test_one(): assert tiny.one() == 1
def test_two(): assert tiny.two() == 2
def test_three(): assert tiny.three() == 3
";
const TEST_FILE: &str = "tests/test_tiny.py";

const NOTHING: &str = "def one(): return 1\ndef two(): return 0\ndef three(): return 0\n";
const TWO: &str = "def one(): return 1\ndef two(): return 2\ndef three(): return 0\n";
const BROKEN_ONE: &str = "def one(): return 0\ndef two(): return 2\ndef three(): return 3\n";
const ALL: &str = "def one(): return 1\ndef two(): return 2\ndef three(): return 3\n";

#[tokio::test(flavor = "multi_thread")]
async fn improves_regresses_collapses() {
    let fixture = Fixture::new().await;
    let version = |code: &'static str| [("tiny.py", code), (TEST_FILE, TESTS)];
    let (nothing, two, broken, all) = (
        version(NOTHING),
        version(TWO),
        version(BROKEN_ONE),
        version(ALL),
    );
    let unparsable = version("def one(:\n");
    fixture
        .import(&[
            TinyTask {
                name: "improves",
                versions: &[&nothing, &two, &all],
            },
            TinyTask {
                name: "regresses",
                versions: &[&nothing, &broken, &two, &all],
            },
            TinyTask {
                name: "collapses",
                versions: &[&nothing, &two, &unparsable, &all],
            },
        ])
        .await
        .unwrap();
    let run = fixture.replay().await;
    assert_eq!(run.summary.progress, Progress::Finished);
    let text: String = run.evolution_list.iter().map(golden).collect();
    assert_eq!(
        text,
        "collapses solved\n\
         1 2/3 lost 0 gained 1\n\
         2 collapsed (pytest could not load tests/test_tiny.py: SyntaxError in tiny.py, line 1: invalid syntax) lost 2 gained 0\n\
         3 3/3 lost 0 gained 1\n\
         improves solved\n\
         1 2/3 lost 0 gained 1\n\
         2 3/3 lost 0 gained 1\n\
         regresses solved\n\
         1 2/3 lost 1 gained 2\n\
         2 2/3 lost 1 gained 1\n\
         3 3/3 lost 0 gained 1\n"
    );

    let leaderboard = fixture.engine.leaderboard_data(SPLIT).await.unwrap();
    let row = &leaderboard.rank(Gamma::ONE, Convention::Paper)[0];
    // One of three tasks is without regressions; N = 20 pads with the end.
    let expect = [
        (0.5 - 1.0 + 18.0) / 20.0,
        (0.5 + 19.0) / 20.0,
        (0.5 + 0.5 + 18.0) / 20.0,
    ];
    assert!(
        (row.evoscore - expect.iter().sum::<f64>() / 3.0).abs() < 1e-12,
        "{}",
        row.evoscore
    );
    assert!((row.zero_regression_rate - 1.0 / 3.0).abs() < 1e-12);
    assert!((row.average_turns - 8.0 / 3.0).abs() < 1e-12);
    assert_eq!((row.tasks, row.tasks_total, row.tasks_blocked), (3, 3, 0));

    let regressing = run
        .evolution_list
        .iter()
        .find(|e| e.task_id.as_str() == "regresses")
        .unwrap();
    let detail = fixture
        .engine
        .iteration(&regressing.evolution_id, 1)
        .await
        .unwrap();
    assert_eq!(detail.lost_tests, ["tests/test_tiny.py::test_one"]);
    assert_eq!(
        detail.gained_tests,
        [
            "tests/test_tiny.py::test_three",
            "tests/test_tiny.py::test_two"
        ]
    );
    let (_, contract) = detail.requirements[0].parts()[2];
    assert_eq!(contract, "Version 1");
    assert_eq!(detail.steps.len(), 3);
}

/// Grading trusts only the source of the code: weakened tests are restored, and
/// what would steer pytest outside them is not used, and is a finding.
#[tokio::test(flavor = "multi_thread")]
async fn cheating_does_not_help() {
    let fixture = Fixture::new().await;
    let honest = [("tiny.py", NOTHING), (TEST_FILE, TESTS)];
    let weak_tests = [
        ("tiny.py", NOTHING),
        (
            TEST_FILE,
            "def test_one(): pass\ndef test_two(): pass\ndef test_three(): pass\n",
        ),
    ];
    let skipping = [
        ("tiny.py", NOTHING),
        (TEST_FILE, TESTS),
        (
            "conftest.py",
            "import os\ndef pytest_sessionfinish(): os._exit(0)\n",
        ),
    ];
    let target = [("tiny.py", ALL), (TEST_FILE, TESTS)];
    fixture
        .import(&[TinyTask {
            name: "cheats",
            versions: &[&honest, &weak_tests, &skipping, &target],
        }])
        .await
        .unwrap();
    let run = fixture.replay().await;
    let evolution = &run.evolution_list[0];
    assert_eq!(
        golden(evolution),
        "cheats solved\n\
         1 1/3 lost 0 gained 0\n\
         2 1/3 lost 0 gained 0\n\
         3 3/3 lost 0 gained 2\n"
    );
    assert_eq!(
        evolution.iterations[1].findings,
        [Finding::note(
            FindingKind::Steering,
            "conftest.py differs from the base's and the oracle's, and was not used"
        )]
    );
    assert!(
        evolution.iterations[0].findings.is_empty() && evolution.iterations[2].findings.is_empty()
    );
}

/// A suite over its time limit is a collapse; nothing waits for it.
#[tokio::test(flavor = "multi_thread")]
async fn endless_tests_end() {
    let fixture = Fixture::new().await;
    let base = [("tiny.py", NOTHING), (TEST_FILE, TESTS)];
    let endless = [
        ("tiny.py", "def one():\n    while True: pass\n"),
        (TEST_FILE, TESTS),
    ];
    let target = [("tiny.py", ALL), (TEST_FILE, TESTS)];
    fixture
        .import(&[TinyTask {
            name: "endless",
            versions: &[&base, &endless, &target],
        }])
        .await
        .unwrap();
    let mut config = RunConfig::human(SPLIT);
    config.limits.test_seconds = 10;
    let run = fixture.run(config).await;
    assert_eq!(
        golden(&run.evolution_list[0]),
        "endless solved\n1 collapsed (the tests took longer than 10 s) lost 1 gained 0\n2 3/3 lost 0 gained 2\n"
    );
}

/// A container killed from outside is the platform's fault: the step is
/// repeated and does not count.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_container_is_not_a_regression() {
    let fixture = Fixture::new().await;
    let slow = format!("import time\ntime.sleep(2)\n{TESTS}");
    let base = [("tiny.py", NOTHING), (TEST_FILE, slow.as_str())];
    let target = [("tiny.py", ALL), (TEST_FILE, slow.as_str())];
    fixture
        .import(&[TinyTask {
            name: "killed",
            versions: &[&base, &target],
        }])
        .await
        .unwrap();
    let run_id = fixture
        .engine
        .submit(RunConfig::human(SPLIT), Visibility::Public)
        .await
        .unwrap();
    let evolution_id = fixture.engine.run(&run_id).await.unwrap().evolution_list[0]
        .evolution_id
        .clone();
    let label = format!("label=swe-ci.detail={evolution_id}");
    let killer = tokio::spawn(async move { kill_container_running_pytest(&label).await });
    let run = fixture
        .until(&run_id, |run| run.summary.progress.is_over())
        .await;
    killer.await.unwrap();
    assert_eq!(
        golden(&run.evolution_list[0]),
        "killed solved\n1 3/3 lost 0 gained 2\n"
    );
    let steps = fixture
        .engine
        .iteration(&evolution_id, 1)
        .await
        .unwrap()
        .steps;
    let outcomes: Vec<StepOutcome> = steps.iter().map(|s| s.outcome).collect();
    assert_eq!(
        outcomes[2..],
        [
            StepOutcome::InfraFailed,
            StepOutcome::Scored { solved: true }
        ]
    );
}

/// Waits for the container in which pytest runs, and removes it. A container of
/// the pool would not be missed.
async fn kill_container_running_pytest(label: &str) {
    let docker = |args: &[&str]| {
        let output = Command::new("docker").args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    for _ in 0..600 {
        let ids = docker(&["ps", "-q", "--filter", label]);
        if let Some(id) = ids
            .split_whitespace()
            .find(|id| docker(&["top", id]).contains("stdin.buffer"))
        {
            docker(&["rm", "-f", id]);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("no container ran pytest");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_run_ends() {
    let fixture = Fixture::new().await;
    let slow = format!("import time\ntime.sleep(30)\n{TESTS}");
    let base = [("tiny.py", NOTHING), (TEST_FILE, TESTS)];
    let slow = [
        ("tiny.py", NOTHING),
        (TEST_FILE, TESTS),
        ("sitecustomize.py", slow.as_str()),
    ];
    let target = [("tiny.py", ALL), (TEST_FILE, TESTS)];
    fixture
        .import(&[TinyTask {
            name: "cancelled",
            versions: &[&base, &slow, &target],
        }])
        .await
        .unwrap();
    let run_id = fixture
        .engine
        .submit(RunConfig::human(SPLIT), Visibility::Public)
        .await
        .unwrap();
    fixture
        .until(&run_id, |run| {
            run.evolution_list[0]
                .current
                .as_ref()
                .is_some_and(|c| c.role.name() == "test")
        })
        .await;
    fixture.engine.cancel(&run_id).await.unwrap();
    fixture.engine.cancel(&run_id).await.unwrap();
    let run = fixture
        .until(&run_id, |run| run.evolution_list[0].ending.is_some())
        .await;
    assert_eq!(run.summary.progress, Progress::Cancelled);
    assert_eq!(run.evolution_list[0].ending, Some(Ending::Cancelled));
    assert!(
        fixture
            .engine
            .leaderboard_data(SPLIT)
            .await
            .unwrap()
            .entries
            .is_empty()
    );
}

/// A worker that stops in the middle leaves everything resumable: completed
/// steps are not repeated.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_worker_is_resumed() {
    let fixture = Fixture::new().await;
    let version = |code: &'static str| [("tiny.py", code), (TEST_FILE, TESTS)];
    let (nothing, two, all) = (version(NOTHING), version(TWO), version(ALL));
    fixture
        .import(&[TinyTask {
            name: "resumed",
            versions: &[&nothing, &two, &nothing, &two, &all],
        }])
        .await
        .unwrap();
    let run_id = fixture
        .engine
        .submit(RunConfig::human(SPLIT), Visibility::Public)
        .await
        .unwrap();
    let before = fixture
        .until(&run_id, |run| run.summary.iterations >= 2)
        .await;
    assert!(!before.summary.progress.is_over());
    let after = fixture
        .until(&run_id, |run| run.summary.progress.is_over())
        .await;
    let (before, after) = (&before.evolution_list[0], &after.evolution_list[0]);
    assert_eq!(
        after.iterations[..before.iterations.len()],
        before.iterations[..]
    );
    assert_eq!(
        golden(after),
        "resumed solved\n1 2/3 lost 0 gained 1\n2 1/3 lost 1 gained 0\n3 2/3 lost 0 gained 1\n4 3/3 lost 0 gained 1\n"
    );
}

/// One data folder, one worker: of two, one is refused and the other works.
#[tokio::test(flavor = "multi_thread")]
async fn two_workers_on_one_folder_are_refused() {
    let fixture = Fixture::new().await;
    let stop = tokio_util::sync::CancellationToken::new();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let (engine, stop) = (fixture.engine.clone(), stop.clone());
        workers.spawn(async move { engine.work(stop).await });
    }
    let error = workers.join_next().await.unwrap().unwrap().unwrap_err();
    assert!(
        error.to_string().contains("another swe-ci process"),
        "{error}"
    );
    stop.cancel();
    workers.join_next().await.unwrap().unwrap().unwrap();
}
