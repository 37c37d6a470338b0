//! Tasks whose tests are run by a plan, in real containers. The runner is a real one
//! that writes JUnit's XML; nothing here knows which.

use swe_ci_core::step::Ending;
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_engine::ImportOptions;
use swe_ci_engine::testing::{self, TinyTask};

use crate::fixture::{Fixture, golden};

const PLAN: &str = r#"{
    "language": "shell",
    "build": "sh build.sh",
    "test": "python -m pytest -q -p no:cacheprovider --junitxml=reports/junit.xml spec",
    "report": {"junit": ["reports/*.xml"]},
    "tests": ["spec/**"],
    "settings": ["pytest.ini"],
    "caches": ["reports"]
}"#;
const TEST_FILE: &str = "spec/test_tiny.py";
const TESTS: &str = "
import tiny
def test_one(): assert tiny.one() == 1
def test_two(): assert tiny.two() == 2
";
const BUILD: &str = "python -m py_compile tiny.py";
const NOTHING: &str = "def one(): return 0\ndef two(): return 0\n";
const ONE: &str = "def one(): return 1\ndef two(): return 0\n";
const BOTH: &str = "def one(): return 1\ndef two(): return 2\n";
/// Everything passes, it says.
const FORGED: &str = r#"<testsuite name="pytest"><testcase classname="spec.test_tiny" name="test_one"/>
<testcase classname="spec.test_tiny" name="test_two"/></testsuite>"#;
/// Replaces the tests, or what they stand in.
const EDITS_TESTS: &str = "python -m py_compile tiny.py
echo 'def test_two(): pass' > spec/test_tiny.py
rm -rf spec; mv spec elsewhere; chmod 777 spec
echo > /opt/venv/bin/pytest; true";

async fn imported(versions: &[&[(&str, &str)]]) -> Fixture {
    let fixture = Fixture::new().await;
    let task = TinyTask {
        name: "planned",
        versions,
    };
    fixture.write(&[task]).await;
    let options = ImportOptions {
        test_command: Some(PLAN.parse().unwrap()),
        ..testing::once()
    };
    let imported = fixture.import_with(&options).await.0.unwrap();
    assert_eq!(imported.tasks[0].gap, 2, "{:?}", imported.tasks);
    fixture
}

#[tokio::test(flavor = "multi_thread")]
async fn the_human_baseline_solves_a_task_with_a_plan() {
    let at = |code| [("tiny.py", code), (TEST_FILE, TESTS), ("build.sh", BUILD)];
    let versions = [NOTHING, ONE, "def one(:\n", BOTH].map(at);
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 3]>::as_slice).collect();
    let fixture = imported(&versions).await;
    let run = fixture.replay().await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::Solved));
    let told = golden(evolution);
    assert!(told.contains("\n1 1/2 "), "{told}");
    let why = "\n2 collapsed (the build failed with exit code 1\n";
    assert!(told.contains(why) && told.contains("SyntaxError"), "{told}");
    assert!(told.contains("\n3 2/2 "), "{told}");
    // The plan stands with the task, as it was read.
    let id = TaskId::new("planned").unwrap();
    let task = fixture.engine.task(&id).await.unwrap();
    let plan: TestCommand = PLAN.parse().unwrap();
    assert_eq!(task.test_command, plan);
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_and_tests_of_the_codes_own_gain_nothing() {
    let honest = |code| [("tiny.py", code), (TEST_FILE, TESTS), ("build.sh", BUILD)];
    let cheat = [
        ("tiny.py", ONE),
        (TEST_FILE, "def test_one(): pass\ndef test_two(): pass\n"),
        ("build.sh", EDITS_TESTS),
        ("reports/junit.xml", FORGED),
        (
            "pytest.ini",
            "[pytest]\naddopts = --deselect spec/test_tiny.py::test_two\n",
        ),
    ];
    let (base, target) = (honest(NOTHING), honest(BOTH));
    let fixture = imported(&[&base, &cheat, &target]).await;
    let run = fixture.replay().await;
    let told = golden(&run.evolution_list[0]);
    assert!(told.contains("\n1 1/2 "), "{told}");
    assert!(told.contains("\n2 2/2 "), "{told}");
}
