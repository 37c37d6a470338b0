//! The import of a run of 100 tasks × 20 iterations with suites of 1,000 tests:
//! by counts, and test by test. It should take a second.

use std::path::Path;
use std::time::Instant;

use serde_json::json;
use swe_ci_core::requirement::Mode;
use swe_ci_core::results::Layout;
use swe_ci_engine::{Engine, ImportRequest};
use swe_ci_testing::measurements::lower_is_better;

use crate::database::Database;

const TASKS: usize = 100;
const ITERATIONS: usize = 20;
const TESTS: usize = 1_000;
/// Tests of a file, which mostly end alike.
const OF_FILE: usize = 20;

pub async fn measure(database: &Database, folder: &Path) -> anyhow::Result<()> {
    let metadata = folder.join("imported.csv");
    let tasks = (0..TASKS).map(|task| format!("imported-{task},aaaaaaa,bbbbbbb,repo/{task}\n"));
    let head = "task_id,current_sha,target_sha,repo\n".to_owned();
    std::fs::write(&metadata, tasks.fold(head, |csv, line| csv + &line))?;
    // The second run test by test brings no new suites.
    for (what, with_reports) in [
        ("by counts", false),
        ("test by test", true),
        ("another test by test", true),
    ] {
        let experiment = folder.join(if with_reports { "reports" } else { "counts" });
        for task in 0..TASKS {
            let of_task = experiment.join(format!("imported-{task}"));
            write(&of_task, task, with_reports)?;
        }
        let engine = Engine::open(database.config()).await?;
        let request = ImportRequest {
            layout: Layout::Reference,
            metadata: metadata.clone(),
            split: None,
            model: what.to_owned(),
            provider: String::new(),
            release_date: None,
            mode: Mode::default(),
            harness: None,
            max_iterations: Some(ITERATIONS as u32),
        };
        let before = database.bytes().await?;
        let began = Instant::now();
        let imported = engine.import_results(&experiment, &request).await?;
        let millis = began.elapsed().as_secs_f64() * 1e3;
        let bytes = (database.bytes().await? - before) as usize / (TASKS * ITERATIONS);
        assert_eq!(imported.counts_only, !with_reports, "{:?}", imported.notes);
        let what = format!("import: {:?}, a run {what}", database.kind);
        lower_is_better(&what, millis, "ms");
        println!("  {bytes} bytes an iteration with its three steps");
    }
    Ok(())
}

/// A task's results as the authors' program writes them.
fn write(folder: &Path, task: usize, with_reports: bool) -> anyhow::Result<()> {
    let passing: Vec<Vec<bool>> = (0..=ITERATIONS).map(|at| passing(task, at)).collect();
    let counts = passing
        .iter()
        .map(|tests| tests.iter().filter(|passes| **passes).count());
    let lines = counts.map(|n| {
        let line = json!({"gap": TESTS - n, "pytest": {"passed": n, "total": TESTS}});
        format!("{line}\n")
    });
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("iteration.jsonl"), lines.collect::<String>())?;
    if !with_reports {
        return Ok(());
    }
    for (at, tests) in passing.iter().enumerate() {
        let name = match at {
            ITERATIONS => "current".to_owned(),
            at => format!("2026-01-01-00-00-{at:02}"),
        };
        report(&folder.join(name), tests)?;
    }
    report(&folder.join("target"), &[true; TESTS])
}

/// The tests that pass after an iteration: whole files, but for a few.
fn passing(task: usize, iteration: usize) -> Vec<bool> {
    let file = |test: usize| (test / OF_FILE * 37 + task) % (TESTS / OF_FILE);
    let few = |test: usize| (test * 31 + task + iteration * 7).is_multiple_of(97);
    (0..TESTS)
        .map(|test| file(test) < 20 + iteration && !few(test))
        .collect()
}

fn report(folder: &Path, passing: &[bool]) -> anyhow::Result<()> {
    let test = |(test, passes): (usize, &bool)| {
        let file = test / OF_FILE;
        let outcome = if *passes { "passed" } else { "failed" };
        json!({"nodeid": format!("tests/unit/test_module_{file}.py::test_number_{test}"), "outcome": outcome})
    };
    let tests: Vec<_> = passing.iter().enumerate().map(test).collect();
    let passed = passing.iter().filter(|passes| **passes).count();
    let report =
        json!({"exitcode": 1, "duration": 0.1, "summary": {"passed": passed}, "tests": tests});
    std::fs::create_dir_all(folder)?;
    Ok(std::fs::write(
        folder.join("test_report.json"),
        report.to_string(),
    )?)
}
