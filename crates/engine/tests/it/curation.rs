//! Splits from git histories: real packages of the package index, and local
//! repositories whose tests need more than is declared.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use swe_ci_core::task::TaskId;
use swe_ci_engine::testing::commit_history;
use swe_ci_engine::{Engine, Error, ImportOptions};
use swe_ci_views::curation::{
    CandidateView, CurationDetail, CurationState, DroppedByReview, Fate, PreparedCandidate, Stage,
};
use swe_ci_views::preparation::{Condition, TaskFinding};
use tokio_util::sync::CancellationToken;

use crate::fixture::Fixture;

const OLD: &str = "def question(): return 'six times seven'\n";

/// Its tests read YAML, but none of its files declares that.
fn undeclared(folder: &Path) {
    let tests = "import yaml\nimport tiny_lib\n\n\
        def test_new():\n    assert tiny_lib.answer(yaml.safe_load('6')) == 42\n\n\
        def test_old():\n    assert tiny_lib.question() == 'six times seven'\n";
    tiny_library(folder, tests, OLD);
}

/// Its tests depend on more than its code, and it hung for a while.
fn fragile(folder: &Path) {
    let hung = format!("{OLD}def answer(n):\n    while True: pass\n");
    tiny_library(folder, include_str!("fragile_tests.py"), &hung);
}

/// A small library with a release a year.
fn tiny_library(folder: &Path, tests: &str, between: &str) {
    let project = "[project]\nname = 'tiny-lib'\nversion = '1'\nlicense = {text = 'MIT'}\n";
    let filler: String = (0..60).map(|n| format!("VALUE_{n} = {n}\n")).collect();
    let new = format!("{OLD}{filler}def answer(n): return n * 7\n");
    let files = |source: &str| {
        vec![
            ("pyproject.toml".to_owned(), project.to_owned()),
            (
                "LICENSE".to_owned(),
                "MIT License\n\nPermission is hereby granted, free of charge".to_owned(),
            ),
            ("src/tiny_lib/__init__.py".to_owned(), source.to_owned()),
            ("tests/test_tiny.py".to_owned(), tests.to_owned()),
        ]
    };
    // 2021, 2023, 2024.
    let versions = [
        (1_610_000_000, files(OLD)),
        (1_680_000_000, files(between)),
        (1_710_000_000, files(&new)),
    ];
    commit_history(folder, &versions).unwrap();
}

/// A repository without tests.
fn untested(folder: &Path) {
    let files = |text: &str| vec![("a.py".to_owned(), text.to_owned())];
    let versions = [(1_610_000_000, files("1")), (1_710_000_000, files("2"))];
    commit_history(folder, &versions).unwrap();
}

fn plan(repositories: &Path) -> String {
    format!(
        r#"
split = "curated"
[[source]]
package = "cssselect"
from = "1.1.0"
to = "1.6.0"
[[source]]
package = "sqlparse"
from = "0.5.0"
to = "0.5.3"
[[source]]
package = "humanize"
from = "4.0.0"
to = "4.9.0"
[[source]]
git = "{}"
branch = "main"
[collect]
min_age_years = 0.5
licences = "any"
[spans]
min_modified_lines = 60
min_source_lines = 20
[filter]
min_gap = 1
repeats = 2
shuffles = 0
conditions = []
most_per_repository = 1
[environment]
images = {{ "3.11" = "swe-ci/base:py311" }}
[limits]
candidates_per_repository = 1
"#,
        repositories.join("untested").display()
    )
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: builds environments for real suites"]
async fn real_histories_become_tasks() {
    let fixture = Fixture::new().await;
    let repositories = fixture.folder.path().join("repositories");
    untested(&repositories.join("untested"));
    let engine = &fixture.engine;
    let id = engine.submit_curation(&plan(&repositories)).await.unwrap();
    let selected = engine
        .submit_curation(&plan(&repositories))
        .await
        .unwrap_err();
    assert!(matches!(selected, Error::Conflict(_)), "{selected}");

    // A server starts, and stops when the first environment exists.
    let before = until_an_environment(engine, &id).await;
    let built: Vec<_> = before
        .candidates
        .iter()
        .filter(|c| !c.attempts.is_empty())
        .collect();
    assert!(!built.is_empty());
    let state = engine
        .curate(&id, &|_| {}, &CancellationToken::new())
        .await
        .unwrap();
    let found = engine.curation(&id).await.unwrap();
    assert_eq!(state, CurationState::Finished, "{found:#?}");
    for candidate in &built {
        let after = found
            .candidates
            .iter()
            .find(|c| c.task == candidate.task)
            .unwrap();
        assert_eq!(after.attempts, candidate.attempts, "it was not built again");
    }
    check_funnel(&found);
    check_split(&fixture).await;
    for task in all_tasks(engine).await {
        let image = engine.task(&task).await.unwrap().image_digest;
        fixture.remove_image(&image);
    }
}

/// Before a split is written, a person sees what its tests depend on.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "slow: builds environments"]
async fn a_person_decides_what_is_published() {
    let fixture = Fixture::new().await;
    let repositories = fixture.folder.path().join("repositories");
    fragile(&repositories.join("fragile"));
    undeclared(&repositories.join("undeclared"));
    let engine = &fixture.engine;
    let plan = format!(
        r#"
split = "reviewed"
[[source]]
git = "{0}/fragile"
branch = "main"
[[source]]
git = "{0}/undeclared"
branch = "main"
[spans]
min_modified_lines = 60
min_source_lines = 20
[filter]
min_gap = 1
repeats = 2
max_test_seconds = 3
shuffles = 4
review = true
[environment]
images = {{ "3.11" = "swe-ci/base:py311" }}
"#,
        repositories.display()
    );
    let id = engine.submit_curation(&plan).await.unwrap();
    let curate = async || {
        let stop = CancellationToken::new();
        engine.curate(&id, &|_| {}, &stop).await.unwrap()
    };
    let state = curate().await;
    let found = engine.curation(&id).await.unwrap();
    assert_eq!(state, CurationState::InReview, "{found:#?}");
    // Nobody has decided: it stays so.
    assert_eq!(curate().await, CurationState::InReview);
    assert!(engine.splits().await.unwrap().is_empty());
    let candidate = |repository: &str| {
        let mut all = found.candidates.iter();
        all.find(|c| c.repository == repository).unwrap()
    };
    check_dependence(candidate("fragile").prepared.as_ref().unwrap());
    check_repair(candidate("undeclared"));

    let drop = |task: &str, reason: &str| DroppedByReview {
        task: task.into(),
        reason: reason.into(),
    };
    let dropped = candidate("undeclared").task.as_str();
    for (wrong, expect) in [
        (drop(dropped, " "), "say why"),
        (drop("other", "x"), "no task `other`"),
    ] {
        let error = engine.publish_curation(&id, &[wrong]).await.unwrap_err();
        assert!(error.to_string().contains(expect), "{error}");
    }
    let decision = [drop(dropped, "it is too small")];
    engine.publish_curation(&id, &decision).await.unwrap();
    let again = engine.publish_curation(&id, &decision).await.unwrap_err();
    assert!(matches!(again, Error::Conflict(_)), "{again}");
    assert_eq!(curate().await, CurationState::Finished);

    let split = engine.split("reviewed").await.unwrap();
    assert_eq!((split.summary.tasks, split.summary.ready), (1, 1));
    let filter = split.funnel.last().unwrap();
    assert_eq!((filter.entered, filter.survived), (2, 1));
    assert_eq!(filter.dropped[0].reason, "dropped in review");
    let tasks = all_tasks(engine).await;
    let task = engine.task(&tasks[0]).await.unwrap();
    assert_eq!(task.test_command.to_string(), "platform:3");
    let summary = &task.summary;
    let licence = summary.licence.as_deref();
    assert_eq!((licence, summary.modified_lines), (Some("MIT"), Some(61)));
    let metadata = "data/datasets/reviewed/metadata/reviewed.csv";
    let metadata = std::fs::read_to_string(fixture.folder.path().join(metadata)).unwrap();
    assert!(metadata.contains("platform:3"), "{metadata}");
    fixture.remove_image(&task.image_digest);
}

/// What `fragile_tests.py` depends on is known, and the code that hangs costs one
/// test, not the suite.
fn check_dependence(prepared: &PreparedCandidate) {
    assert_eq!((prepared.gap, prepared.target_passed), (1, 6));
    let preparation = &prepared.preparation;
    let failing = |condition| {
        let trial = preparation.trials.iter().find(|t| t.condition == condition);
        let trial = trial.unwrap();
        assert_eq!(trial.problem, None, "{trial:?}");
        let tests = trial.failing.as_ref();
        tests.map_or(Vec::new(), |tests| tests.first.clone())
    };
    let test = |name: &str| vec![format!("tests/test_tiny.py::test_{name}")];
    assert_eq!(failing(Condition::Order), test("second"));
    assert_eq!(failing(Condition::Home), test("home"));
    assert_eq!(failing(Condition::Clock), test("today"));
    let found = |finding: &&TaskFinding| matches!(finding, TaskFinding::DependOn { .. });
    assert_eq!(preparation.findings.iter().filter(found).count(), 3);
    let history: Vec<_> = preparation.history.iter().map(|p| p.passed).collect();
    assert_eq!(history, [5, 6], "{preparation:?}");
    assert_eq!(preparation.history[0].problem, None);
    assert_eq!(preparation.human_iterations(6), Some((2, 2)));
    assert_eq!(preparation.gap_without_code, Some(0));
}

async fn until_an_environment(engine: &Engine, id: &str) -> CurationDetail {
    let stop = CancellationToken::new();
    let worker = tokio::spawn({
        let (engine, stop) = (engine.clone(), stop.clone());
        async move { Box::pin(engine.work(stop)).await }
    });
    let found = loop {
        let found = engine.curation(id).await.unwrap();
        assert!(!found.summary.state.is_over(), "{found:#?}");
        if found.candidates.iter().any(|c| !c.attempts.is_empty()) {
            break found;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    stop.cancel();
    worker.await.unwrap().unwrap();
    assert_eq!(
        engine.curation(id).await.unwrap().summary.state,
        CurationState::Running
    );
    found
}

fn check_funnel(found: &CurationDetail) {
    let counts = |stage| {
        let count = found
            .summary
            .funnel
            .iter()
            .find(|count| count.stage == stage);
        count
            .map(|count| (count.entered, count.survived, count.waiting))
            .unwrap()
    };
    assert_eq!(counts(Stage::Collect), (4, 3, 0));
    assert_eq!(
        counts(Stage::Environment),
        (3, 3, 0),
        "{:#?}",
        found.candidates
    );
    assert_eq!(counts(Stage::Filter), (3, 3, 0), "{:#?}", found.candidates);
    let untested = found
        .repositories
        .iter()
        .find(|r| r.name == "untested")
        .unwrap();
    match &untested.fate {
        Fate::Dropped { reason, detail } => {
            assert!(detail.contains("tests/"), "{detail}");
            assert!(
                ["no manifest", "no tests"].contains(&reason.as_str()),
                "{reason}"
            );
        }
        other => panic!("{other:?}"),
    }
}

/// The missing package was found under another name, and added.
fn check_repair(candidate: &CandidateView) {
    let [first, second] = candidate.attempts.as_slice() else {
        panic!("{candidate:#?}");
    };
    assert_eq!(first.change, "");
    assert!(
        first.outcome.contains("No module named 'yaml'"),
        "{first:?}"
    );
    let change = second.change.to_lowercase();
    assert!(
        change.contains("yaml") && change.contains("pyyaml"),
        "{second:?}"
    );
    assert_eq!(second.outcome, "2 of 2 tests pass");
    let pinned = second
        .dockerfile
        .iter()
        .any(|line| line.contains("PIP_UPLOADED_PRIOR_TO=2024-03"));
    assert!(pinned, "{:?}", second.dockerfile);
}

async fn all_tasks(engine: &Engine) -> Vec<TaskId> {
    let found = engine
        .tasks(&Default::default(), &Default::default())
        .await
        .unwrap();
    found
        .page
        .items
        .into_iter()
        .map(|task| task.task_id)
        .collect()
}

/// The split can be run here, and imported elsewhere.
async fn check_split(fixture: &Fixture) {
    let engine = &fixture.engine;
    let split = engine.split("curated").await.unwrap();
    assert_eq!((split.summary.tasks, split.summary.ready), (3, 3));
    assert_eq!(split.funnel.len(), 4);
    assert!(split.origin().contains("Curated here"));
    let found = engine
        .tasks(&Default::default(), &Default::default())
        .await
        .unwrap();
    let gap = |repo: &str| {
        let task = found.page.items.iter().find(|task| task.repo == repo);
        task.unwrap().gap
    };
    // Pinned: releases by their versions, packages by the targets' days.
    assert_eq!(gap("sqlparse"), 12);
    assert_eq!(gap("cssselect"), 13);
    assert_eq!(gap("humanize"), 23);

    let dataset = fixture.folder.path().join("data/datasets/curated");
    for file in [
        "plan.toml",
        "DATASHEET.md",
        "SHA256SUMS",
        "metadata/curated.csv",
    ] {
        assert!(dataset.join(file).is_file(), "{file}");
    }
    let checked = std::process::Command::new("sha256sum")
        .args(["--check", "--quiet", "SHA256SUMS"])
        .current_dir(&dataset)
        .status()
        .unwrap();
    assert!(checked.success());
    let leftovers = fixture.folder.path().join("data/curations");
    assert_eq!(std::fs::read_dir(leftovers).unwrap().count(), 0);

    let elsewhere = Fixture::new().await;
    let only = ImportOptions {
        only: all_tasks(engine)
            .await
            .into_iter()
            .filter(|id| id.as_str().starts_with("cssselect"))
            .collect(),
        ..swe_ci_engine::testing::once()
    };
    let imported = elsewhere
        .engine
        .import(dataset.as_path(), "curated", &only, &|_| {})
        .await;
    let imported = imported.unwrap();
    assert_eq!(imported.tasks.len(), 1);
    assert_eq!(imported.tasks[0].gap, 13);

    // Three images on one base, whose layers count once.
    let images = engine.disk_use().await.unwrap().images.unwrap();
    assert_eq!((images.images, images.missing), (3, 0));
    assert!(images.apart_bytes > 2 * images.bytes, "{images:?}");

    let exported = fixture.folder.path().join("exported");
    assert_eq!(
        engine.export("curated", &exported, &|_| {}).await.unwrap(),
        3
    );
    // The sums of all files: an export is the same to the byte.
    let sums = |folder: &Path| std::fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&exported), sums(&dataset));
    assert!(sums(&exported).contains("plan.toml"));
    check_reference_reader(&exported, fixture.folder.path());
    let again = engine
        .export("curated", &exported, &|_| {})
        .await
        .unwrap_err();
    assert!(again.to_string().contains("not empty"), "{again}");
}

/// The benchmark's own program can read the split, and finds the same gaps.
fn check_reference_reader(exported: &Path, folder: &Path) {
    let reader = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/reference_reader.py");
    let read = std::process::Command::new("python3")
        .arg(reader)
        .args([exported, Path::new("curated")])
        .arg(folder.join("read"))
        .output()
        .unwrap();
    let problem = String::from_utf8_lossy(&read.stderr);
    assert!(read.status.success(), "{problem}");
    let gaps: BTreeMap<String, [u32; 2]> = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!(gaps.len(), 3);
    for (task, [found, declared]) in gaps {
        assert_eq!(found, declared, "{task}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_curation_without_tasks_names_the_stages() {
    let fixture = Fixture::new().await;
    let repositories = fixture.folder.path().join("repositories");
    untested(&repositories.join("untested"));
    let engine = &fixture.engine;
    let plan = format!(
        "split = 'none'\n[[source]]\ngit = '{}'\nbranch = 'main'\n[[source]]\ngit = '{}'\n",
        repositories.join("untested").display(),
        repositories.join("nothing").display()
    );
    let id = engine.submit_curation(&plan).await.unwrap();
    let state = engine
        .curate(&id, &|_| {}, &CancellationToken::new())
        .await
        .unwrap();
    let CurationState::Failed { reason } = state else {
        panic!("{state:?}");
    };
    assert!(reason.contains("no candidate became a task"), "{reason}");
    let found = engine.curation(&id).await.unwrap();
    let dropped = &found.summary.funnel[0].dropped;
    let reasons: Vec<&str> = dropped.iter().map(|d| d.reason.as_str()).collect();
    assert_eq!(reasons, ["no manifest", "not to be had"]);
    assert!(engine.splits().await.unwrap().is_empty());

    let cancelled = engine.submit_curation(&plan).await.unwrap();
    engine.cancel_curation(&cancelled).await.unwrap();
    let over = engine.cancel_curation(&cancelled).await.unwrap_err();
    assert!(matches!(over, Error::Conflict(_)), "{over}");
    let state = engine
        .curate(&cancelled, &|_| {}, &CancellationToken::new())
        .await
        .unwrap();
    assert_eq!(state, CurationState::Cancelled);
    let bad = engine.submit_curation("split = 'x'").await.unwrap_err();
    assert!(bad.to_string().contains("add a [[source]]"), "{bad}");
}
