//! The report of a pytest run, as `pytest-json-report` writes it.
//!
//! The report comes from the container that ran the agent's code, so trust
//! only the parts that this module and the caller check (exit code, collected
//! node ids).

use std::collections::BTreeMap;

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
    use super::{Outcome, TestResult};
    use serde::Deserialize;

    /// Maximum characters of a failure message; the report artifact keeps the
    /// whole text.
    const MESSAGE_LIMIT: usize = 4_000;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn report(tests: &str, passed: u32) -> Result<Report, ReportError> {
        let json = format!(
            r#"{{"created": 1.0, "duration": 0.5, "exitcode": 1, "root": "/app/code",
                "environment": {{}}, "summary": {{"passed": {passed}, "total": 9}}, "tests": [{tests}]}}"#
        );
        Report::parse(json.as_bytes())
    }

    #[test]
    fn reads_outcomes_and_messages() {
        let report = report(
            r#"{"nodeid": "tests/test_a.py::t1", "outcome": "passed", "call": {"outcome": "passed"}},
               {"nodeid": "tests/test_a.py::t2", "outcome": "failed", "call": {"longrepr": "assert 1 == 2"}},
               {"nodeid": "tests/test_a.py::t3", "outcome": "error", "setup": {"longrepr": "fixture 'x' not found"}},
               {"nodeid": "tests/test_a.py::t4", "outcome": "sideways"}"#,
            1,
        )
        .unwrap();
        assert_eq!(report.passed(), 1);
        assert_eq!(
            report.passing().collect::<Vec<_>>(),
            ["tests/test_a.py::t1"]
        );
        assert_eq!(report.tests["tests/test_a.py::t2"].message, "assert 1 == 2");
        assert_eq!(
            report.tests["tests/test_a.py::t3"].message,
            "fixture 'x' not found"
        );
        assert_eq!(report.tests["tests/test_a.py::t4"].outcome, Outcome::Error);
    }

    #[test]
    fn a_duplicate_cannot_hide_a_failure() {
        let report = report(
            r#"{"nodeid": "t", "outcome": "failed"}, {"nodeid": "t", "outcome": "passed"}"#,
            1,
        )
        .unwrap();
        assert_eq!(report.passed(), 0);
    }

    #[test]
    fn refuses_what_is_not_a_report() {
        for bad in [
            "",
            "null",
            "[]",
            "{}",
            r#"{"exitcode": "zero", "summary": {}}"#,
            "{\"exitcode\": 0",
        ] {
            assert!(
                matches!(
                    Report::parse(bad.as_bytes()),
                    Err(ReportError::Malformed(_))
                ),
                "{bad}"
            );
        }
        assert!(matches!(
            report("", 3),
            Err(ReportError::Contradiction {
                summary: 3,
                listed: 0
            })
        ));
    }

    #[test]
    fn exit_codes() {
        assert_eq!(PytestExit::from_code(0), PytestExit::Ran);
        assert_eq!(PytestExit::from_code(1), PytestExit::Ran);
        for code in [2, 3, 4, 5, 137, -1] {
            assert_eq!(PytestExit::from_code(code), PytestExit::DidNotRun(code));
        }
    }
}
