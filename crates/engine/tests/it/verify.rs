//! Verification: tests run again, in real containers.

use std::sync::{Arc, Mutex};

use sqlx::Connection;
use swe_ci_core::finding::Grade;
use swe_ci_core::step::Ending;
use swe_ci_engine::testing::TinyTask;
use swe_ci_engine::{Checked, Error};
use swe_ci_views::verification::{Changed, Otherwise};

use crate::fixture::{self, Fixture};

const TEST_FILE: &str = "tests/test_tiny.py";
const TESTS: &str = "
import tiny
def test_one(): assert tiny.one() == 1
def test_two(): assert tiny.two() == 2
";
const NOTHING: &str = "def one(): return 0\ndef two(): return 0\n";
const UNPARSABLE: &str = "def one(:\n";
const ONE: &str = "def one(): return 1\ndef two(): return 0\n";
const BOTH: &str = "def one(): return 1\ndef two(): return 2\n";
const IN_ORDER: &str = "\
ANSWERS = iter([1, 2])
def one(): return next(ANSWERS)
def two(): return next(ANSWERS)
";

async fn import(fixture: &Fixture, versions: &[&str]) {
    let versions = versions.iter();
    let versions: Vec<[(&str, &str); 2]> = versions
        .map(|code| [("tiny.py", *code), (TEST_FILE, TESTS)])
        .collect();
    let versions: Vec<&[(&str, &str)]> = versions.iter().map(<[_; 2]>::as_slice).collect();
    let task = TinyTask {
        name: "both",
        versions: &versions,
    };
    fixture.import(&[task]).await.unwrap();
}

/// Writes false rows into the database.
async fn forge(fixture: &Fixture, sql: &'static str) {
    let file = fixture.folder.path().join("data/swe-ci.sqlite");
    let url = format!("sqlite:{}", file.display());
    let mut connection = sqlx::SqliteConnection::connect(&url).await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_outcomes_are_found() {
    let fixture = Fixture::new().await;
    import(&fixture, &[NOTHING, UNPARSABLE, ONE, BOTH]).await;
    let engine = &fixture.engine;
    let id = fixture.replay().await.summary.run_id;

    let progress = Arc::new(Mutex::new(Vec::new()));
    let sink = progress.clone();
    let tell = move |news: Checked| sink.lock().unwrap().push((news.done, news.of));
    let found = engine.verify(&id, None, 2, &tell).await.unwrap();
    assert!(found.holds(), "{found:?}");
    assert_eq!((found.checked, found.iterations), (3, 3));
    assert_eq!(*progress.lock().unwrap(), [(1, 3), (2, 3), (3, 3)]);
    assert_eq!(engine.run(&id).await.unwrap().verification, Some(found));

    // The rows now claim that two tests passed in the second iteration, and
    // that the first ran.
    forge(
        &fixture,
        "UPDATE iterations SET outcomes = 'pp', in_target = 2 WHERE iteration = 2;
         UPDATE iterations SET outcomes = 'pp', in_target = 2, verdict = 'scored' WHERE iteration = 1;",
    )
    .await;
    let found = engine.verify(&id, None, 2, &|_| ()).await.unwrap();
    assert!(!found.holds());
    let [first, second] = found.differences.as_slice() else {
        panic!("two iterations were forged: {found:?}")
    };
    assert_eq!((first.at.iteration, second.at.iteration), (1, 2));
    assert!(
        matches!(&first.what, Otherwise::Collapsed { reason } if reason.contains("SyntaxError in tiny.py, line 1"))
    );
    let tests = vec![Changed {
        node_id: "tests/test_tiny.py::test_two".into(),
        recorded: "passed".into(),
        found: "failed".into(),
    }];
    assert_eq!(second.what, Otherwise::Tests { tests, more: 0 });

    engine.start_verification(&id, Some(1)).await.unwrap();
    let again = engine.start_verification(&id, None).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
    let work = async || engine.run(&id).await.unwrap().verifying;
    let result = fixture::done_by_a_worker(engine, work).await;
    assert!(
        result.starts_with("1 of 3 iterations tested again, "),
        "{result}"
    );
    let found = engine.run(&id).await.unwrap().verification.unwrap();
    assert_eq!((found.checked, found.iterations), (1, 3));
    forge(&fixture, "UPDATE iterations SET code = ''").await;
    let nothing = engine.verify(&id, None, 1, &|_| ()).await;
    assert!(matches!(nothing, Err(Error::Conflict(why)) if why.contains("no code")));
}

/// A note that grading makes today is shown, and does not deny the result.
#[tokio::test(flavor = "multi_thread")]
async fn findings_that_are_not_recorded_are_kept() {
    let fixture = Fixture::new().await;
    let tests = (TEST_FILE, TESTS);
    let task = TinyTask {
        name: "both",
        versions: &[
            &[("tiny.py", NOTHING), tests],
            &[("tiny.py", ONE), ("data.zip", "not read"), tests],
            &[("tiny.py", BOTH), tests],
        ],
    };
    fixture.import(&[task]).await.unwrap();
    let id = fixture.replay().await.summary.run_id;
    let verify = async || fixture.engine.verify(&id, None, 1, &|_| ()).await.unwrap();
    assert_eq!(verify().await.findings, []);
    forge(&fixture, "UPDATE iterations SET findings = '[]'").await;
    let found = verify().await;
    let [new] = found.findings.as_slice() else {
        panic!("one is new: {found:?}")
    };
    assert_eq!((new.at.iteration, new.finding.grade), (1, Grade::Note));
    assert!(
        found.holds()
            && found
                .to_string()
                .ends_with("with 1 finding that is not recorded")
    );
}

/// A commit solves the task by the answers that its tests expect, in their order.
#[tokio::test(flavor = "multi_thread")]
async fn answers_in_the_order_of_the_tests_are_found() {
    let fixture = Fixture::new().await;
    import(&fixture, &[NOTHING, IN_ORDER, BOTH]).await;
    let run = fixture.replay().await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::Solved));
    let verifying = fixture.engine.verify(&run.summary.run_id, None, 1, &|_| ());
    let found = verifying.await.unwrap();
    let [difference] = found.differences.as_slice() else {
        panic!("verification finds it: {found:?}")
    };
    let Otherwise::Clues { finding } = &difference.what else {
        panic!("its order is moved: {difference:?}")
    };
    assert!(finding.starts_with("2 tests pass only "), "{finding}");
}
