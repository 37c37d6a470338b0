//! One run of a task's test suite: the code with the oracle's tests goes into
//! a fresh container, pytest runs there, its report comes out and is checked.

use std::time::Duration;

use swe_ci_core::report::{PytestExit, Report};
use swe_ci_core::run::Limits;

use crate::clock::OffClock;
use crate::code::CodeTree;
use crate::sandbox::{Exec, Exit, OnLine, SandboxError, StepBox};

/// The folder that is the oracle's, whatever an agent did to it.
pub const TESTS: &str = "tests";
/// Where the code stands in every container.
pub const CODE_FOLDER: &str = "/app/code";
const REPORT_FOLDER: &str = "/app/report";
const REPORT_FILE: &str = "/app/report/test_report.json";
/// The most bytes a report may have.
const MAX_REPORT: u64 = 512 * 1024 * 1024;

/// What came of it.
#[derive(Debug)]
pub struct SuiteRun {
    /// The report, or why the code counts as collapsed.
    pub result: Result<Report, String>,
    /// The report as it was written, if there was one.
    pub raw: Option<Vec<u8>>,
    /// Seconds from start to end of the command.
    pub seconds: f64,
}

/// Runs the suite of `code`, whose `tests/` must be the oracle's already.
///
/// An error is the platform's; whatever the code does to itself (crash,
/// endless loop, no report) is a [`SuiteRun`] without a report.
pub async fn run(
    sandbox: &dyn StepBox,
    code: &CodeTree,
    limits: Limits,
    on_line: OnLine<'_>,
) -> Result<SuiteRun, SandboxError> {
    let nothing = CodeTree::default();
    sandbox
        .put(&[(CODE_FOLDER, code), (REPORT_FOLDER, &nothing)])
        .await?;
    let began = std::time::Instant::now();
    let exit = sandbox.exec(&pytest(limits), on_line).await?;
    let seconds = began.elapsed().as_secs_f64();
    let code = match exit {
        Exit::Code(code) => code,
        Exit::TimedOut => {
            let why = format!("the tests took longer than {} s", limits.test_seconds);
            return Ok(SuiteRun {
                result: Err(why),
                raw: None,
                seconds,
            });
        }
        Exit::DiskSpent => {
            let why = format!("the tests wrote more than {} MiB", limits.disk_mb);
            return Ok(SuiteRun {
                result: Err(why),
                raw: None,
                seconds,
            });
        }
    };
    let raw = match sandbox.read(REPORT_FILE, MAX_REPORT).await {
        Ok(raw) => raw,
        Err(error @ SandboxError::TooBig { .. }) => {
            return Ok(SuiteRun {
                result: Err(error.to_string()),
                raw: None,
                seconds,
            });
        }
        Err(error) => return Err(error),
    };
    Ok(SuiteRun {
        result: judge(code, raw.as_deref()),
        raw,
        seconds,
    })
}

fn pytest(limits: Limits) -> Exec {
    let report = format!("--json-report-file={REPORT_FILE}");
    let command = [
        "python",
        "-m",
        "pytest",
        "-o",
        "addopts=",
        "--json-report",
        &report,
        TESTS,
    ];
    Exec {
        command: command.map(str::to_owned).to_vec(),
        env: vec!["PYTHONPATH=src:.".into()],
        working_dir: CODE_FOLDER.into(),
        time_limit: Duration::from_secs(limits.test_seconds.into()),
        off: OffClock::default(),
    }
}

/// The report of a suite that ran, or why there is none to be trusted.
fn judge(code: i64, raw: Option<&[u8]>) -> Result<Report, String> {
    if let PytestExit::DidNotRun(code) = PytestExit::from_code(code) {
        return Err(format!(
            "pytest ended with exit code {code}: {}",
            meaning(code)
        ));
    }
    let raw = raw.ok_or("pytest left no report")?;
    let report = Report::parse(raw).map_err(|error| error.to_string())?;
    if report.exit_code != code {
        return Err(format!(
            "the report speaks of exit code {}, pytest ended with {code}",
            report.exit_code
        ));
    }
    Ok(report)
}

fn meaning(code: i64) -> &'static str {
    match code {
        2 => "interrupted, most often because test files could not be imported",
        3 => "an internal error",
        4 => "a usage error",
        5 => "no tests were found",
        126 | 127 => "python or pytest is not in the image",
        137 => "killed, most often for want of memory",
        _ => "it did not run to its end",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judged_by_exit_code_and_report_together() {
        let report = |exit: i64| {
            format!(r#"{{"exitcode": {exit}, "duration": 1, "summary": {{}}, "tests": []}}"#)
        };
        let check = |code: i64, raw: Option<&str>, expect: &str| {
            let verdict =
                judge(code, raw.map(str::as_bytes)).map_or_else(|why| why, |_| "fine".to_owned());
            assert!(verdict.contains(expect), "{verdict}");
        };
        check(0, Some(&report(0)), "fine");
        check(1, Some(&report(1)), "fine");
        // A report that claims success while pytest failed is not believed.
        check(1, Some(&report(0)), "speaks of exit code 0");
        check(0, None, "left no report");
        check(0, Some("{"), "not JSON");
        check(2, Some(&report(2)), "could not be imported");
        check(137, None, "want of memory");
    }
}
