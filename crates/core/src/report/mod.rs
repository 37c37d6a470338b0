//! The report of a test run: as `pytest-json-report` writes it, and stored in that
//! form whatever wrote it.
//!
//! The report comes from the container that ran the agent's code, so trust
//! only the parts that this module and the caller check (exit code, collected
//! node ids).

mod ctrf;
mod junit;
#[cfg(test)]
mod tests;
mod written;

use std::collections::BTreeMap;

use crate::test_plan::ReportFiles;

pub use written::{BadReport, Cases, Unknown};

/// Maximum characters of a failure message; the report artifact of pytest keeps the
/// whole text.
const MESSAGE_LIMIT: usize = 4_000;

impl Cases {
    /// Adds what a report says.
    ///
    /// # Errors
    /// [`BadReport`] when it is no whole report of its format, or exceeds a limit.
    pub fn read(&mut self, format: &ReportFiles, report: &[u8]) -> Result<(), BadReport> {
        let report = report.strip_prefix(b"\xef\xbb\xbf").unwrap_or(report);
        let text = str::from_utf8(report).map_err(|_| BadReport::Encoding)?;
        match format {
            ReportFiles::Junit(_) => junit::read(text, self),
            ReportFiles::Ctrf(_) => ctrf::read(text, self),
        }
    }
}

crate::named! {
    /// How one test ended. `Missing` is not pytest's: the test was expected, but
    /// the report does not have it.
    pub enum Outcome {
        Passed = "passed",
        Failed = "failed",
        Error = "error",
        Skipped = "skipped",
        Xfailed = "xfailed",
        Xpassed = "xpassed",
        Missing = "missing",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    pub outcome: Outcome,
    /// The failure message of pytest; empty for a pass.
    pub message: String,
}

/// The parts of a report that the benchmark uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The exit code that the report *claims*.
    pub exit_code: i64,
    /// Seconds, measured by pytest.
    pub duration: f64,
    pub tests: BTreeMap<String, TestResult>,
}

#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("the test report is not JSON as pytest-json-report writes it: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error(
        "the test report contradicts itself: its summary counts {summary} passed tests, its list has {listed}"
    )]
    Contradiction { summary: u64, listed: u64 },
}

impl Report {
    /// Parses a report.
    ///
    /// # Errors
    /// [`ReportError`] when it is not JSON of the expected shape, or its
    /// summary does not agree with its list of tests.
    pub fn parse(json: &[u8]) -> Result<Self, ReportError> {
        let raw: raw::Report = serde_json::from_slice(json)?;
        let listed = raw.tests.iter().filter(|t| t.outcome == "passed").count() as u64;
        let summary = raw.summary.passed;
        if summary != listed {
            return Err(ReportError::Contradiction { summary, listed });
        }
        let mut tests = BTreeMap::new();
        for test in raw.tests {
            let (node_id, result) = test.into_result();
            // A duplicate node id keeps the worse outcome, so that it cannot
            // hide a failure.
            let earlier: Option<&TestResult> = tests.get(&node_id);
            if earlier.is_none_or(|earlier| earlier.outcome == Outcome::Passed) {
                tests.insert(node_id, result);
            }
        }
        Ok(Self {
            exit_code: raw.exitcode,
            duration: raw.duration,
            tests,
        })
    }

    /// Number of tests that passed, in T or not.
    pub fn passed(&self) -> u32 {
        u32::try_from(self.passing().count()).unwrap_or(u32::MAX)
    }

    /// Node ids of the tests that passed, in order.
    pub fn passing(&self) -> impl Iterator<Item = &str> {
        self.tests
            .iter()
            .filter(|(_, t)| t.outcome == Outcome::Passed)
            .map(|(id, _)| id.as_str())
    }
}

/// pytest's exit codes (its `ExitCode`), as the benchmark distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PytestExit {
    /// 0 or 1: the suite ran to its end; some tests may have failed.
    Ran,
    /// 2 and above, or killed: collection error, usage error, crash.
    DidNotRun(i64),
}

impl PytestExit {
    pub fn from_code(code: i64) -> Self {
        match code {
            0 | 1 => Self::Ran,
            other => Self::DidNotRun(other),
        }
    }
}

/// The JSON of the report.
mod raw {
    use super::{MESSAGE_LIMIT, Outcome, TestResult};
    use serde::Deserialize;

    #[derive(Deserialize)]
    pub struct Report {
        pub exitcode: i64,
        #[serde(default)]
        pub duration: f64,
        pub summary: Summary,
        #[serde(default)]
        pub tests: Vec<Test>,
    }

    #[derive(Deserialize)]
    pub struct Summary {
        #[serde(default)]
        pub passed: u64,
    }

    #[derive(Deserialize)]
    pub struct Test {
        pub nodeid: String,
        pub outcome: String,
        setup: Option<Stage>,
        call: Option<Stage>,
        teardown: Option<Stage>,
    }

    #[derive(Deserialize)]
    struct Stage {
        longrepr: Option<String>,
    }

    impl Test {
        pub fn into_result(self) -> (String, TestResult) {
            // The outcome of a future pytest is not a pass.
            let outcome = Outcome::from_name(&self.outcome)
                .filter(|outcome| *outcome != Outcome::Missing)
                .unwrap_or(Outcome::Error);
            let message = [self.call, self.setup, self.teardown]
                .into_iter()
                .flatten()
                .filter_map(|stage| stage.longrepr)
                .find(|text| !text.is_empty())
                .map(|text| text.chars().take(MESSAGE_LIMIT).collect())
                .unwrap_or_default();
            (self.nodeid, TestResult { outcome, message })
        }
    }
}
