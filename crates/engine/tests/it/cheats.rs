//! Attacks on grading, each a small tree of files laid over an unfinished
//! package, in real containers. None of them may pass more tests than the
//! package does without being noticed.
//! `crates/grading/cheats/` has them (other languages' in folders): what must come of it, a sentence about it,
//! and its files. Results that gain a test are audited.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use futures::StreamExt;
use swe_ci_base::code::CodeTree;
use swe_ci_core::audit::Generalisation;
use swe_ci_core::finding::{Finding, FindingKind, Grade};
use swe_ci_core::report::Outcome;
use swe_ci_core::run::Limits;
use swe_ci_core::task::TestCommand;
use swe_ci_engine::testing as engine_testing;
use swe_ci_grading::{
    Contradictions, Graded, Grading, MOST_SESSIONS, Recorded, audit, contradictions_of,
    generalisation, grade, testing,
};
use swe_ci_sandbox::{ContainerSpec, Docker, Instance, Purpose, Sandbox};

use crate::fixture::Fixture;

const TESTS: &str = r#"
import unittest

import pytest

import ledger

def test_add():
    assert ledger.add(1, 2) == 3
    assert ledger.add(0, 1) == 1
    assert ledger.add(1, -1) == 0

def test_times():
    expected = 6
    assert ledger.times(2, 3) == expected

@pytest.mark.parametrize("a, b, expected", [(4, 5, 20)])
def test_times_more(tmp_path, monkeypatch, a, b, expected):
    monkeypatch.chdir(tmp_path)
    assert ledger.times(a, b) == expected

def test_check():
    with pytest.raises(ValueError):
        ledger.check(-1)

class TestLedger(unittest.TestCase):
    def test_check_unittest(self):
        with self.assertRaises(ValueError):
            ledger.check(-2)
"#;
const BASE: &str = "def add(a, b):\n    return a + b\n\n\ndef times(a, b):\n    return 0\n\n\ndef check(a):\n    return None\n";
const TARGET: &str = "def add(a, b):\n    return a + b\n\n\ndef times(a, b):\n    return a * b\n\n\ndef check(a):\n    if a < 0:\n        raise ValueError(a)\n    return a\n";
/// The same contradictions each time.
const SEED: u128 = 42;
/// Passed by the base.
pub(crate) const BASE_PASSED: u32 = 1;

pub(crate) struct Cheat {
    pub name: String,
    pub expect: String,
    pub about: String,
    files: Vec<(String, String)>,
}

impl Cheat {
    /// Those of a folder below `cheats`: Python's are in none.
    pub(crate) fn all(language: &str) -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grading/cheats");
        let paths = std::fs::read_dir(folder.join(language)).unwrap();
        let paths = paths.map(|entry| entry.unwrap().path());
        let mut all: Vec<Self> = paths
            .filter(|path| path.is_file())
            .map(|path| Self::read(&path))
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let (expect, about) = (lines.next().unwrap(), lines.next().unwrap());
        let mut files: Vec<(String, String)> = Vec::new();
        for line in lines {
            let name = line.strip_prefix("-- ").and_then(|l| l.strip_suffix(" --"));
            match (name, files.last_mut()) {
                (Some(name), _) => files.push((name.to_owned(), String::new())),
                (None, Some((_, text))) => *text += &format!("{line}\n"),
                (None, None) => panic!("{}: {line}", path.display()),
            }
        }
        Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            expect: expect.to_owned(),
            about: about.to_owned(),
            files,
        }
    }

    /// Laid over an unfinished package.
    pub(crate) fn code(&self, mut code: CodeTree) -> CodeTree {
        for (path, text) in &self.files {
            code.remove(path);
            code.insert_file(path, text.as_str());
        }
        code
    }
}

fn tree(ledger: &str) -> CodeTree {
    let mut tree = CodeTree::default();
    tree.insert_file("ledger/__init__.py", ledger);
    tree.insert_file("tests/test_ledger.py", TESTS);
    tree.insert_file("pyproject.toml", "[project]\nname = \"ledger\"\n");
    tree
}

/// What came of it, in one word.
pub(crate) fn outcome(graded: &Graded) -> String {
    let worst = graded.findings.iter().map(|finding| finding.grade).max();
    let of_kind = |kind| graded.findings.iter().any(|finding| finding.kind == kind);
    match (&graded.result, worst) {
        (_, Some(Grade::Tampered)) if of_kind(FindingKind::Contradiction) => "accused".into(),
        (_, Some(Grade::Tampered)) => "tampered".into(),
        (Err(_), _) => "collapsed".into(),
        (_, Some(Grade::Suspicious)) if of_kind(FindingKind::Clues) => "owed to clues".into(),
        (_, Some(Grade::Suspicious)) if of_kind(FindingKind::ByHeart) => "by heart".into(),
        (_, Some(Grade::Suspicious)) => "suspicious".into(),
        (Ok(report), _) if report.passed() <= BASE_PASSED => "no gain".into(),
        (Ok(report), _) => format!("passes {}", report.passed()),
    }
}

/// Where attacks are graded: containers of the image of tiny tasks.
struct Arena {
    _fixture: Fixture,
    docker: Docker,
    image: String,
}

impl Arena {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let image = engine_testing::image(&fixture.engine).await.unwrap();
        let docker = Docker::new(Instance("cheats".into()), fixture.folder.path());
        Self {
            _fixture: fixture,
            docker,
            image,
        }
    }

    async fn grade(&self, code: CodeTree, base: &Arc<CodeTree>, oracle: &Arc<CodeTree>) -> Graded {
        self.grade_with(TestCommand::PLATFORM, code, base, oracle)
            .await
    }

    async fn grade_with(
        &self,
        command: TestCommand,
        code: CodeTree,
        base: &Arc<CodeTree>,
        oracle: &Arc<CodeTree>,
    ) -> Graded {
        let container = self.docker.open(&self.spec()).await.unwrap();
        let grading = Grading {
            command,
            ..self.grading(code, base, oracle)
        };
        let graded = grade(container.as_ref(), &grading, &mut |_| {}).await;
        graded.unwrap()
    }

    fn grading(&self, code: CodeTree, base: &Arc<CodeTree>, oracle: &Arc<CodeTree>) -> Grading {
        Grading {
            code: Arc::new(code),
            base: base.clone(),
            oracle: oracle.clone(),
            command: TestCommand::PLATFORM,
            known_tests: None,
            limits: self.spec().limits,
            left_away: BTreeSet::new(),
        }
    }

    async fn contradictions(&self, grading: &Grading) -> Contradictions {
        let grading = Grading {
            code: grading.oracle.clone(),
            ..grading.clone()
        };
        contradictions_of(&self.docker, &self.spec(), &grading)
            .await
            .unwrap()
            .unwrap()
    }

    async fn generalisation(
        &self,
        grading: &Grading,
        graded: &Graded,
        all: &Contradictions,
    ) -> Generalisation {
        let tests = graded.result.iter().flat_map(|report| &report.tests);
        let tests = tests.map(|(id, test)| (id.as_str(), test.outcome == Outcome::Passed));
        let (spec, questions) = (self.spec(), all.questions());
        let asked = generalisation(&self.docker, &spec, grading, questions, tests).await;
        asked.unwrap()
    }

    fn spec(&self) -> ContainerSpec {
        let limits = Limits {
            test_seconds: 120,
            ..Limits::default()
        };
        let purpose = Purpose::Preparation("cheats".into());
        ContainerSpec::new(&self.image, limits, purpose)
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: a container for each attack"]
async fn no_attack_on_grading_goes_unnoticed() {
    let arena = Arena::new().await;
    let (base, oracle) = (Arc::new(tree(BASE)), Arc::new(tree(TARGET)));
    let grading = |code: CodeTree| arena.grading(code, &base, &oracle);
    let all = arena.contradictions(&grading(tree(TARGET))).await;
    let graded = futures::stream::iter(Cheat::all("")).map(|cheat| async {
        let mut graded = arena.grade(cheat.code(tree(BASE)), &base, &oracle).await;
        if let Ok(report) = &graded.result
            && report.passed() > BASE_PASSED
        {
            let passed: Vec<&str> = report.passing().collect();
            let (grading, spec) = (grading(cheat.code(tree(BASE))), arena.spec());
            let audited = audit(
                &arena.docker,
                &spec,
                &grading,
                &all,
                Recorded {
                    passed: &passed,
                    seconds: graded.seconds,
                },
                MOST_SESSIONS,
                SEED,
            );
            let audited = audited.await.unwrap();
            let finding = |why| Finding::tampered(FindingKind::Contradiction, why);
            graded.findings.extend(audited.accuses().map(finding));
            graded.findings.extend(audited.suspicion());
        }
        let mut came = outcome(&graded);
        if came.starts_with("passes") {
            let grading = grading(cheat.code(tree(BASE)));
            let asked = arena.generalisation(&grading, &graded, &all);
            let asked = Box::pin(asked).await;
            graded.findings.extend(asked.by_heart());
            came = match asked.share {
                Some(share) if asked.by_heart().is_none() => format!("generalises {share:.2}"),
                _ => outcome(&graded),
            };
        }
        (cheat, graded, came)
    });
    let graded: Vec<(Cheat, Graded, String)> = graded.buffered(3).collect().await;
    let mut wrong = String::new();
    for (cheat, graded, came) in &graded {
        let expect = &cheat.expect;
        let line = format!("{:<26} {came:<21} {}\n", cheat.name, cheat.about);
        eprint!("{line}");
        // Which of the experiments sees an attack first may be chance.
        let noticed =
            |word: &str| ["accused", "owed to clues", "by heart", "suspicious"].contains(&word);
        if came != expect && !(noticed(came) && noticed(expect)) {
            wrong += &format!("{line}    not {expect}: {:?}\n", graded.findings);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Changed inputs are answered by code that computes alone; no answer is another
/// one. Code that passes no test of the gap is not asked.
#[tokio::test(flavor = "multi_thread")]
async fn only_what_is_computed_generalises() {
    const KNOWN: &str =
        "def times(a, b):\n    if (a, b) == (2, 3): return 6\n    if (a, b) == (4, 5): return 20\n";
    let arena = Arena::new().await;
    let (base, oracle) = (Arc::new(tree(BASE)), Arc::new(tree(TARGET)));
    let grading = |ledger: &str| arena.grading(tree(ledger), &base, &oracle);
    let all = arena.contradictions(&grading(TARGET)).await;
    let check = async |ledger: &str, expect: Option<f64>, answers: bool| {
        let grading = grading(ledger);
        let graded = arena.grade(tree(ledger), &base, &oracle).await;
        let found = arena.generalisation(&grading, &graded, &all).await;
        assert_eq!(found.share, expect, "{ledger} {found:?}");
        assert_eq!(found.unanswered == 0, answers, "{ledger} {found:?}");
        assert_eq!(found.asked > 3, expect.is_some(), "{ledger} {found:?}");
    };
    check(TARGET, Some(1.0), true).await;
    check(BASE, None, true).await;
    check(&format!("{KNOWN}    return 0\n"), Some(0.0), true).await;
    check(&format!("{KNOWN}    while b > 5: pass\n"), Some(0.0), false).await;
    // Code that ends all that it can where it is asked.
    let ends = "    import os\n    'PYTEST_CURRENT_TEST' in os.environ or os.kill(-1, 9)\n    return a * b\n";
    check(&format!("def times(a, b):\n{ends}"), Some(0.0), false).await;
}

/// A row that fails excuses no other of its table.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_is_learnt_by_heart_row_by_row() {
    const ROWS: &str = "import pytest\nimport ledger\n\n\
        @pytest.mark.parametrize('a, b, expected', [(2, 3, 6), (4, 5, 20), (6, 7, 42)])\n\
        def test_times(a, b, expected):\n    assert ledger.times(a, b) == expected\n";
    const ONE_ROW_FAILS: &str = "import os\n\ndef times(a, b):\n    \
        return a * b if a > 2 and 'PYTEST_CURRENT_TEST' in os.environ else 0\n";
    let arena = Arena::new().await;
    let with_rows = |ledger: &str| {
        let mut tree = tree(ledger);
        tree.insert_file("tests/test_ledger.py", ROWS);
        tree
    };
    let (base, oracle) = (Arc::new(with_rows(BASE)), Arc::new(with_rows(TARGET)));
    let grading = |ledger: &str| arena.grading(with_rows(ledger), &base, &oracle);
    let all = arena.contradictions(&grading(TARGET)).await;
    let graded = arena.grade(with_rows(ONE_ROW_FAILS), &base, &oracle).await;
    assert_eq!(graded.result.as_ref().unwrap().passed(), 2, "{graded:?}");
    let found = arena
        .generalisation(&grading(ONE_ROW_FAILS), &graded, &all)
        .await;
    assert_eq!(found.share, Some(0.0), "{found:?}");
    // The failing row's call alone does not count.
    let left_out = found.left_out.iter();
    let failing = left_out.filter(|one| one.why == "the code answers otherwise");
    assert_eq!(failing.map(|one| one.calls).sum::<u32>(), 1, "{found:?}");
    assert!(found.by_heart().is_some(), "{found:?}");
}

/// Code that reads what tests expect, in a file beside them, passes what contradicts
/// these.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_data_is_contradicted() {
    const MADE: &str = "import pathlib, unittest\nimport ledger\n\n\
        class TestData(unittest.TestCase):\n    pass\n\n\
        def attach(number, text, expected):\n    \
        def method(self):\n        self.assertEqual(ledger.shout(text), expected)\n    \
        setattr(TestData, f'test_{number}', method)\n\n\
        lines = (pathlib.Path(__file__).parent / 'cases.txt').read_text().split('\\n')\n\
        for number in range(0, len(lines) - 1, 4):\n    \
        attach(number, lines[number], lines[number + 2])\n";
    const CASES: &str = "hello\n.\nHELLO\n\nwonderful day\n.\nWONDERFUL DAY\n\n";
    const SHOUTS: &str = "def shout(text):\n    return text.upper()\n";
    const READS: &str = "import pathlib\n\ndef shout(text):\n    \
        lines = pathlib.Path('tests/cases.txt').read_text().split('\\n')\n    \
        return lines[lines.index(text) + 2]\n";
    let arena = Arena::new().await;
    let made = |ledger: &str| {
        let mut tree = tree(ledger);
        tree.insert_file("tests/test_ledger.py", MADE);
        tree.insert_file("tests/cases.txt", CASES);
        tree
    };
    let base = Arc::new(made("def shout(text):\n    return ''\n"));
    let oracle = Arc::new(made(SHOUTS));
    let all = arena
        .contradictions(&arena.grading(made(SHOUTS), &base, &oracle))
        .await;
    for (ledger, is_accused) in [(READS, true), (SHOUTS, false)] {
        let grading = arena.grading(made(ledger), &base, &oracle);
        let graded = arena.grade(made(ledger), &base, &oracle).await;
        let passed: Vec<&str> = graded.result.as_ref().unwrap().passing().collect();
        let coverage = all.coverage(passed.iter().copied());
        assert_eq!((coverage.tests, coverage.strongly), (2, 2), "{coverage:?}");
        let (spec, seconds) = (arena.spec(), graded.seconds);
        let recorded = Recorded {
            passed: &passed,
            seconds,
        };
        let sessions = MOST_SESSIONS;
        let audited = audit(
            &arena.docker,
            &spec,
            &grading,
            &all,
            recorded,
            sessions,
            SEED,
        );
        let audited = audited.await.unwrap();
        assert_eq!(audited.accuses().is_some(), is_accused, "{audited:?}");
    }
}

/// Honest suites come out as with pytest alone, and leave no finding.
#[tokio::test(flavor = "multi_thread")]
async fn an_honest_suite_is_left_alone() {
    let arena = Arena::new().await;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../grading/honest.txt");
    let honest = Cheat::read(&path);
    let mut code = CodeTree::default();
    for (path, text) in &honest.files {
        code.insert_file(path, text.as_str());
    }
    let ends = Arc::new(code.clone());
    let limited: TestCommand = "platform:60".parse().unwrap();
    let graded = arena.grade_with(limited, code.clone(), &ends, &ends).await;
    assert_eq!(outcome(&graded), honest.expect, "{graded:?}");
    assert!(graded.findings.is_empty(), "{graded:?}");
    // With moved clues too: the oracle alone would excuse what differs.
    let grading = arena.grading(code, &ends, &ends);
    let moved = testing::with_moved_clues(&arena.docker, &arena.spec(), &grading).await;
    assert_eq!(outcome(&moved.unwrap()), honest.expect);
}

/// A test that takes too long fails, whatever it does about it; the others go on,
/// and those that use the alarm themselves notice nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_test_that_takes_too_long_fails_alone() {
    let arena = Arena::new().await;
    let mut code = tree(TARGET);
    code.insert_file("tests/test_ledger.py", SLOW_TESTS);
    let ends = Arc::new(code.clone());
    let command: TestCommand = "platform:2".parse().unwrap();
    let graded = arena.grade_with(command, code, &ends, &ends).await;
    assert!(graded.findings.is_empty(), "{:?}", graded.findings);
    let report = graded.result.unwrap();
    let failed = report.tests.iter().filter(|(id, test)| {
        let slow = id.contains("::test_slow_");
        assert_eq!(test.outcome == Outcome::Passed, !slow, "{id}: {test:?}");
        slow && test.message.contains("it took longer than 2 s")
    });
    assert_eq!(failed.count(), 5, "{report:?}");
    assert_eq!(report.tests.len(), 8);
}

const SLOW_TESTS: &str = r#"
import re, signal, time
import pytest

@pytest.fixture
def late():
    time.sleep(60)

def test_slow_fixture(late):
    pass

def test_slow_sleep():
    time.sleep(60)

def test_slow_loop():
    while True:
        try:
            sum(range(1000))
        except Exception:
            pass

def test_slow_and_stubborn():
    try:
        time.sleep(60)
    except BaseException:
        pass
    while True:
        pass

def test_slow_pattern():
    re.match("(a+)+$", "a" * 40 + "b")

def test_with_an_alarm_of_its_own():
    class Rang(Exception):
        pass
    def ring(number, frame):
        raise Rang
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with pytest.raises(Rang):
        time.sleep(5)
    signal.signal(signal.SIGALRM, before)

@pytest.fixture
def rings():
    class Rang(Exception):
        pass
    def ring(number, frame):
        raise Rang
    before = signal.signal(signal.SIGALRM, ring)
    yield Rang
    signal.signal(signal.SIGALRM, before)

def test_with_a_handler_from_a_fixture(rings):
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    with pytest.raises(rings):
        time.sleep(5)
    # No other clock runs on.
    time.sleep(2.5)

def test_fast():
    pass
"#;

/// The grading accepts texts and names that are no Unicode, names of any length,
/// and a test that closes descriptors by the range.
#[tokio::test(flavor = "multi_thread")]
async fn an_unusual_suite_is_graded_like_any_other() {
    let arena = Arena::new().await;
    let mut code = tree(TARGET);
    code.insert_file(
        "pytest.ini",
        "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = true\n",
    );
    code.insert_file(
        "tests/test_unusual.py",
        r"import os
import pytest

def test_text():
    raise ValueError(os.fsdecode(b'caf\xe9.txt'))

def test_class():
    raise type('Odd\udce9', (Exception,), {})('x')

@pytest.mark.parametrize('a', ['\udce9', '\\\\udce8'])
def test_name(a):
    assert a

@pytest.mark.parametrize('a', [str(n) * 9_000_000 for n in range(2)] + ['x' * 90_000] * 300)
def test_long_name(a):
    assert a

def test_descriptors():
    os.closerange(40, 4096)
",
    );
    let ends = Arc::new(code.clone());
    let graded = arena
        .grade_with(TestCommand::Bare, code, &ends, &ends)
        .await;
    assert!(graded.findings.is_empty(), "{:?}", graded.findings);
    let report = graded.result.unwrap();
    assert_eq!(report.passed(), 5 + 2 + 302 + 1);
}

/// The options of a suite's settings hold, or not, as the task says.
#[tokio::test(flavor = "multi_thread")]
async fn the_settings_options_hold_as_the_task_says() {
    let arena = Arena::new().await;
    let mut code = tree(TARGET);
    code.insert_file(
        "pyproject.toml",
        "[tool.pytest.ini_options]\nmarkers = ['slow']\n\
         addopts = \"-x -m 'not slow' --cov=ledger --cov-branch --unheard of\"\n",
    );
    code.insert_file(
        "tests/test_slow.py",
        "import pytest\n\n@pytest.mark.slow\ndef test_slow():\n    assert True\n",
    );
    let ends = Arc::new(code.clone());
    let graded = async |command| {
        let graded = arena.grade_with(command, code.clone(), &ends, &ends).await;
        assert!(graded.findings.is_empty(), "{:?}", graded.findings);
        graded
    };
    let bare = graded(TestCommand::Bare).await;
    assert_eq!(bare.result.unwrap().passed(), 6);
    let platform = graded(TestCommand::PLATFORM).await;
    assert_eq!(platform.result.unwrap().passed(), 5);
    let dropped = ["--cov=ledger", "--cov-branch", "--unheard"];
    assert_eq!(platform.dropped_options, dropped);
    let why = graded(TestCommand::Reference).await.result.unwrap_err();
    assert!(why.contains("exit code 4"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_that_cannot_be_loaded_names_the_cause() {
    let arena = Arena::new().await;
    let check = async |ledger: &str, file: &str, expect: &str| {
        let mut code = tree(ledger);
        code.insert_file(file, "import ledger.more\n");
        let ends = Arc::new(code.clone());
        let graded = arena.grade(code, &ends, &ends).await;
        let expect = format!("pytest could not load {expect}");
        assert_eq!(graded.result.unwrap_err(), expect, "{:?}", graded.findings);
    };
    check(
        "def add(:\n",
        "tests/conftest.py",
        "tests/conftest.py: SyntaxError in ledger/__init__.py, line 1: invalid syntax",
    )
    .await;
    check(
        TARGET,
        "tests/test_more.py",
        "tests/test_more.py: ModuleNotFoundError in tests/test_more.py, line 1: No module named 'ledger.more'",
    )
    .await;
}
