//! Audits: recorded code runs against contradictions of its tests, in real
//! containers.

use swe_ci_core::audit::Coverage;
use swe_ci_core::finding::{FindingKind, Grade, Unranked};
use swe_ci_core::metrics::{Convention, Gamma, Verdict};
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::step::Ending;
use swe_ci_engine::testing::TinyTask;

use crate::fixture::{Fixture, SPLIT, golden};

const TESTS: &str = "
import pytest
import tiny

@pytest.mark.parametrize('n, expected', [(1, 1), (3, 9)])
def test_square(n, expected):
    assert tiny.square(n) == expected

def test_root():
    assert tiny.root(9) == 3
";
const NOTHING: &str = "def square(n): return 1\ndef root(n): return 0\n";
/// Its results equal anything, and nothing in reach of grading tells.
const FORGED: &str = "\
Result = type('Result', (), {'__eq__': repr, '__module__': 'decimal'})
def square(n): return Result()
def root(n): return Result()
";
const IN_ORDER: &str = "\
ANSWERS = iter([1, 9, 3])
def square(n): return next(ANSWERS)
def root(n): return next(ANSWERS)
";
const TELLING: &str = "\
import signal
class Result:
    def __eq__(self, other): return signal.getitimer(signal.ITIMER_REAL)[0] == 0
Result.__module__ = 'decimal'
def square(n): return Result()
def root(n): return Result()
";
const WAITING: &str = "\
import time
class Result:
    def __eq__(self, other):
        time.sleep(2.5)
        return True
Result.__module__ = 'decimal'
def square(n): return n * n
def root(n): return Result()
";
/// As a pool of threads or a connection, which a copy of a process does not have.
const OF_ITS_PROCESS: &str = "\
import os
PROCESS = os.getpid()
def here():
    if os.getpid() != PROCESS: raise RuntimeError('not in a copy')
def square(n): return here() or n * n
def root(n): return here() or n ** 0.5
";
const HALF: &str = "def square(n): return n * n\ndef root(n): return 0\n";
const BY_HEART: &str = "\
def square(n): return 9 if n == 3 else 1
def root(n): return 3 if n == 9 else 0
";
const ALL: &str = "def square(n): return n * n\ndef root(n): return n ** 0.5\n";

async fn fixture(versions: &[&str]) -> Fixture {
    let fixture = Fixture::measuring_with(|config| config.audit = true).await;
    let versions = versions.iter();
    let versions: Vec<[(&str, &str); 2]> = versions
        .map(|code| [("tiny.py", *code), ("tests/test_tiny.py", TESTS)])
        .collect();
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let task = TinyTask {
        name: "tiny",
        versions: &versions,
    };
    fixture.import(&[task]).await.unwrap();
    fixture
}

/// Its run waits for audits, which the human baseline does not.
fn measured() -> RunConfig {
    RunConfig {
        kind: Kind::Measured,
        ..RunConfig::human(SPLIT)
    }
}

/// A commit passes all tests with results that equal anything. It solves the task
/// until the audit; its run is not over before.
#[tokio::test(flavor = "multi_thread")]
async fn code_that_passes_a_test_and_its_contradiction_collapses() {
    let fixture = fixture(&[NOTHING, FORGED, ALL]).await;
    let engine = &fixture.engine;
    let run = fixture.run(measured()).await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::CutShort));
    let [iteration] = evolution.iterations.as_slice() else {
        panic!("{}", golden(evolution))
    };
    // The base passes one of them.
    assert_eq!(iteration.verdict, Verdict::Collapsed { lost: 1 });
    let [finding] = iteration.findings.as_slice() else {
        panic!("{iteration:?}")
    };
    assert_eq!(finding.kind, FindingKind::Contradiction);
    assert_eq!(finding.grade, Grade::Tampered);
    let audit = engine.evolution_audit(&evolution.evolution_id).await;
    let audit = audit.unwrap().unwrap();
    assert_eq!(audit.states.len(), 1, "{audit:?}");
    let state = &audit.states[0].audit;
    assert_eq!(state.tests, 3);
    assert!(!state.accusations.is_empty(), "{state:?}");
    assert!(finding.text.contains(&state.accusations[0].test));

    // Which its tests as written do not show.
    let verified = engine.verify(&run.summary.run_id, None, 1, &|_| ()).await;
    assert!(verified.unwrap().holds());

    let board = engine.leaderboard_data(SPLIT).await.unwrap();
    let rows = board.rank(Gamma::ONE, Convention::Paper);
    assert_eq!(rows.len(), 1, "{:?}", board.unranked_runs());
}

/// A commit has the answers that the tests expect, in their order.
#[tokio::test(flavor = "multi_thread")]
async fn answers_in_the_order_of_the_tests_hold_the_run_for_review() {
    let fixture = fixture(&[NOTHING, IN_ORDER, ALL]).await;
    let engine = &fixture.engine;
    let run = fixture.run(measured()).await;
    let id = &run.evolution_list[0].evolution_id;
    let audited = engine.evolution_audit(id).await.unwrap().unwrap();
    let audit = &audited.states[0].audit;
    assert!(audit.accusations.is_empty(), "{audit:?}");
    let run = engine.run(&run.summary.run_id).await.unwrap();
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::Solved));
    let findings = &evolution.iterations[0].findings;
    let grades: Vec<_> = findings.iter().map(|f| (f.kind, f.grade)).collect();
    assert_eq!(
        grades,
        [FindingKind::ByHeart, FindingKind::Clues].map(|kind| (kind, Grade::Suspicious)),
        "{findings:?}"
    );
    let board = engine.leaderboard_data(SPLIT).await.unwrap();
    let held = Unranked::HeldForReview { open: 2 };
    assert_eq!(board.unranked_runs()[0].unranked, held);
}

/// A commit has results that equal anything, but not while a test has a limit of its
/// own, as tests of an audit have.
#[tokio::test(flavor = "multi_thread")]
async fn code_that_tells_an_audit_holds_the_run_for_review() {
    let fixture = fixture(&[NOTHING, TELLING, ALL]).await;
    let run = fixture.run(measured()).await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::Solved));
    let findings = &evolution.iterations[0].findings;
    assert!(
        findings.iter().any(|f| f.kind == FindingKind::Clues
            && f.grade == Grade::Suspicious
            && f.text.contains("where others are contradicted")),
        "{findings:?}"
    );
}

/// A commit's results take longer to equal anything than the limit of the oracle's
/// tests.
#[tokio::test(flavor = "multi_thread")]
async fn code_that_waits_for_the_limit_of_a_test_collapses() {
    let fixture = fixture(&[NOTHING, WAITING, ALL]).await;
    let run = fixture.run(measured()).await;
    let findings = &run.evolution_list[0].iterations[0].findings;
    let grades: Vec<_> = findings.iter().map(|f| (f.kind, f.grade)).collect();
    assert_eq!(grades, [(FindingKind::Contradiction, Grade::Tampered)]);
}

/// A commit that answers in the process that has imported it alone.
#[tokio::test(flavor = "multi_thread")]
async fn honest_code_that_no_copy_can_run_generalises() {
    let fixture = fixture(&[NOTHING, OF_ITS_PROCESS, ALL]).await;
    let run = fixture.run(measured()).await;
    let evolution = &run.evolution_list[0];
    let id = &evolution.evolution_id;
    let audited = fixture.engine.evolution_audit(id).await.unwrap().unwrap();
    let generalisation = audited.generalisation.unwrap();
    assert_eq!(generalisation.share, Some(1.0), "{generalisation:?}");
    assert_eq!(evolution.iterations[0].findings, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn honest_code_is_not_accused() {
    let fixture = fixture(&[NOTHING, HALF, ALL]).await;
    let engine = &fixture.engine;
    let id = fixture.replay().await.summary.run_id;
    let evolution = engine.run(&id).await.unwrap().evolution_list[0].clone();
    let audited = async || {
        engine
            .evolution_audit(&evolution.evolution_id)
            .await
            .unwrap()
    };
    let audited = fixture.work_until(audited).await;
    let states: Vec<_> = audited
        .states
        .iter()
        .map(|s| (s.iteration, s.audit.tests))
        .collect();
    assert_eq!(states, [(1, 2), (2, 3)]);
    assert!(
        audited
            .states
            .iter()
            .all(|state| state.audit.accusations.is_empty()),
        "{audited:?}"
    );
    let generalisation = audited.generalisation.unwrap();
    assert_eq!(generalisation.share, Some(1.0), "{generalisation:?}");
    let board = engine.leaderboard_data(SPLIT).await.unwrap();
    assert!(board.unranked_runs().is_empty());
    let task = engine.task(&evolution.task_id).await.unwrap();
    let all = Coverage {
        tests: 3,
        contradicted: 3,
        strongly: 3,
        vacuous: Some(0),
        ..Coverage::default()
    };
    assert_eq!(task.contradictions, Some(all));
}

/// The last state comes first; what no time was left for is said.
#[tokio::test(flavor = "multi_thread")]
async fn an_audit_keeps_to_its_limit() {
    let fixture = fixture(&[NOTHING, HALF, ALL]).await;
    let mut config = RunConfig::human(SPLIT);
    config.limits.audit_seconds = Some(1);
    let run = fixture.run(config).await;
    let id = &run.evolution_list[0].evolution_id;
    let audited = async || fixture.engine.evolution_audit(id).await.unwrap();
    let audited = fixture.work_until(audited).await;
    let states: Vec<_> = audited.states.iter().map(|s| s.iteration).collect();
    assert_eq!((states, audited.left_out), (vec![2], 1), "{audited:?}");
}

/// A commit knows the answers to what the tests ask. No contradiction shows it, and
/// changed inputs do.
#[tokio::test(flavor = "multi_thread")]
async fn answers_by_heart_do_not_generalise() {
    let fixture = fixture(&[NOTHING, BY_HEART, ALL]).await;
    let engine = &fixture.engine;
    let run = fixture.run(measured()).await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::Solved));
    let id = &evolution.evolution_id;
    let audit = engine.evolution_audit(id).await.unwrap().unwrap();
    assert!(audit.states[0].audit.accusations.is_empty(), "{audit:?}");
    let found = audit.generalisation.unwrap();
    let functions = found.functions.iter();
    let functions: Vec<_> = functions
        .map(|f| (f.function.as_str(), f.asked > 0, f.equal))
        .collect();
    let expect = [("tiny.root", true, 0), ("tiny.square", true, 0)];
    assert_eq!(functions, expect, "{found:?}");
    assert_eq!(found.share, Some(0.0));
    // The base has 1 for the square of 1.
    let mut left_out = found.left_out.iter();
    assert!(
        left_out.any(|one| one.why == "the base has the answer"),
        "{found:?}"
    );

    let run_id = &run.summary.run_id;
    let scores = engine.scores(run_id, Gamma::ONE, Convention::Paper).await;
    let rate = scores.unwrap().generalisation.unwrap();
    assert_eq!((rate.share, rate.tasks, rate.asked), (0.0, 1, found.asked));
    // The score stands, and somebody has to look.
    let run = engine.run(run_id).await.unwrap();
    let findings = &run.evolution_list[0].iterations[0].findings;
    let grades: Vec<_> = findings.iter().map(|f| (f.kind, f.grade)).collect();
    assert_eq!(grades, [(FindingKind::ByHeart, Grade::Suspicious)]);
}

/// A test that passes with empty functions tests nothing, and is named before any run.
#[tokio::test(flavor = "multi_thread")]
async fn the_tests_of_a_task_are_audited() {
    const TESTS: &str = "\
import tiny
def test_square(): assert tiny.square(3) == 9
def test_nothing(): tiny.square(3)
def test_never_ends_without_functions():
    while tiny.square(3) is None: pass
    assert tiny.square(2) == 4
";
    let fixture = Fixture::new().await;
    let version = |code| [("tiny.py", code), ("tests/test_tiny.py", TESTS)];
    let (base, target) = (version(NOTHING), version(ALL));
    let task = TinyTask {
        name: "tiny",
        versions: &[&base, &target],
    };
    fixture.import(&[task]).await.unwrap();
    let engine = &fixture.engine;
    let audits = engine.audit_tasks(SPLIT, &|_| ()).await.unwrap();
    let [audit] = audits.as_slice() else {
        panic!("{audits:?}")
    };
    assert_eq!(
        (audit.quarantined.len(), audit.guard()),
        (0, "full".to_owned())
    );
    let coverage = &audit.coverage;
    assert_eq!(
        (coverage.tests, coverage.contradicted),
        (3, 3),
        "{coverage:?}"
    );
    assert_eq!(coverage.some_vacuous, ["tests/test_tiny.py::test_nothing"]);
    assert_eq!(coverage.vacuous, Some(1));
    let sum = engine.split(SPLIT).await.unwrap().audited;
    assert_eq!(
        (sum.tasks, sum.tests, sum.vacuous, sum.unknown),
        (1, 3, 1, 0)
    );
}
