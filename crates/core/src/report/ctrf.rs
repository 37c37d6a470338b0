//! Reports in the Common Test Report Format: JSON with a list of tests.

use serde::Deserialize;

use super::Outcome;
use super::written::{BadReport, Case, Cases};

#[derive(Deserialize)]
struct Document {
    results: Results,
}

#[derive(Deserialize)]
struct Results {
    summary: Summary,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Summary {
    passed: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Test {
    name: String,
    status: String,
    /// Milliseconds.
    #[serde(default)]
    duration: f64,
    suite: Option<Suite>,
    file_path: Option<String>,
    message: Option<String>,
    trace: Option<String>,
}

/// A name in the format's first edition, the path of names since.
#[derive(Deserialize)]
#[serde(untagged)]
enum Suite {
    Name(String),
    Path(Vec<String>),
}

pub(super) fn read(text: &str, cases: &mut Cases) -> Result<(), BadReport> {
    let document: Document = serde_json::from_str(text).map_err(BadReport::Ctrf)?;
    let Results { summary, tests } = document.results;
    let listed = tests.iter().filter(|test| test.status == "passed").count() as u64;
    if listed != summary.passed {
        let summary = summary.passed;
        return Err(BadReport::Contradiction { summary, listed });
    }
    for test in tests {
        let suites = match test.suite {
            None => Vec::new(),
            Some(Suite::Name(name)) => vec![name],
            Some(Suite::Path(names)) => names,
        };
        let parts = test.file_path.into_iter().chain(suites).chain([test.name]);
        let mut case = Case::new(parts, Outcome::Passed, test.duration / 1_000.0);
        let said = [test.message, test.trace].into_iter().flatten();
        let said = said.collect::<Vec<_>>().join("\n");
        match test.status.as_str() {
            "passed" => {}
            "failed" => case.spoil(Outcome::Failed, &said),
            "skipped" | "pending" => case.spoil(Outcome::Skipped, &said),
            _ => case.spoil(Outcome::Error, &said),
        }
        cases.add(case)?;
    }
    Ok(())
}
