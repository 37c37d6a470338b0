//! Runs graded again, in real containers.

use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TestCommand;
use swe_ci_engine::testing::{self, TinyTask};
use swe_ci_engine::{Error, ImportOptions};
use swe_ci_views::regrade::{Moved, Why};

use crate::fixture::{Fixture, golden};

const TEST_FILE: &str = "tests/test_tiny.py";
const TESTS: &str = "
import tiny
def test_one(): assert tiny.one() == 1
def test_two(): assert tiny.two() == 2
";
/// Without the options of the settings, both tests count; with them, one.
const SETTINGS: [(&str, &str); 1] = [(
    "pytest.ini",
    "[pytest]\naddopts = --deselect tests/test_tiny.py::test_two\n",
)];
const NOTHING: &str = "def one(): return 0\ndef two(): return 0\n";
const TWO: &str = "def one(): return 0\ndef two(): return 2\n";
const BROKEN: &str = "def one(:\n";
const BOTH: &str = "def one(): return 1\ndef two(): return 2\n";

async fn import(fixture: &Fixture, command: TestCommand) {
    let versions = [NOTHING, TWO, BROKEN, BOTH].map(|code| {
        let [settings] = SETTINGS;
        [("tiny.py", code), (TEST_FILE, TESTS), settings]
    });
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 3]>::as_slice).collect();
    let task = TinyTask {
        name: "both",
        versions: &versions,
    };
    if !fixture.dataset().exists() {
        fixture.write(&[task]).await;
    }
    let options = ImportOptions {
        again: true,
        test_command: Some(command),
        ..testing::once()
    };
    fixture.import_with(&options).await.0.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_suite_moves_the_verdicts_that_it_decides() {
    let fixture = Fixture::new().await;
    let engine = &fixture.engine;
    import(&fixture, TestCommand::Bare).await;
    let original = fixture.replay().await;
    let id = original.summary.run_id.clone();
    let before = golden(&original.evolution_list[0]);
    assert!(before.starts_with("both solved\n1 1/2 "), "{before}");
    assert!(before.contains("\n2 collapsed "), "{before}");
    assert!(before.contains("\n3 2/2 "), "{before}");

    // Graded again as it is: nothing moves, and the code is the same.
    let same = engine.regrade(&id).await.unwrap();
    let run = fixture
        .until(&same, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(golden(&run.evolution_list[0]), before);
    let regrade = engine.moved_verdicts(&same).await.unwrap();
    assert_eq!((regrade.compared, regrade.moved), (3, Vec::new()));
    assert_eq!(run.spent, None);

    // From now on only the first test counts.
    import(&fixture, TestCommand::PLATFORM).await;
    let moved = engine.regrade(&id).await.unwrap();
    let run = fixture
        .until(&moved, |run| run.summary.progress.is_over())
        .await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::Solved));
    assert_eq!(evolution.suite.target, 1);
    let regrade = engine.moved_verdicts(&moved).await.unwrap();
    assert_eq!(
        (regrade.compared, regrade.not_graded, regrade.left_out),
        (3, 0, 0)
    );
    // The second iteration is as broken as before.
    let places: Vec<u32> = regrade
        .moved
        .iter()
        .map(|moved| moved.at.iteration)
        .collect();
    assert_eq!(places, [1, 3], "{regrade:?}");
    for Moved { tests, why, .. } in &regrade.moved {
        let [test] = tests.as_slice() else {
            panic!("the second test left: {regrade:?}")
        };
        assert_eq!(test.node_id, "tests/test_tiny.py::test_two");
        assert_eq!(test.recorded, "passed");
        assert_eq!(test.found, "not in the suite");
        assert_eq!(why, &[Why::Suite]);
    }
    let now = regrade.moved[0].now.verdict;
    assert!(
        matches!(now, Verdict::Scored { in_target: 0, .. }),
        "{now:?}"
    );

    // Both know of each other, and the one on the suite of today has a rank.
    let original = engine.run(&id).await.unwrap();
    assert_eq!(original.regraded_as, [same, moved.clone()]);
    assert_eq!(
        original.unranked,
        Some(Unranked::OtherRevisions { tasks: 1 })
    );
    assert_eq!(run.summary.regraded_from.as_deref(), Some(id.as_str()));
    assert_eq!(run.unranked, None);
    engine.unpublish(&id, "its suite was wrong").await.unwrap();
    assert_eq!(engine.run(&moved).await.unwrap().unranked, None);

    let again = engine.regrade(&moved).await;
    assert!(matches!(again, Err(Error::Conflict(why)) if why.contains(&id)));
    let none = engine.moved_verdicts(&id).await;
    assert!(matches!(none, Err(Error::NotFound { .. })), "{none:?}");
}
