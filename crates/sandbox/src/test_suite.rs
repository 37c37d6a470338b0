//! Runs a task's test suite: the code and the oracle's tests go into a fresh
//! container, pytest runs there, and its report comes out and is checked.

use std::time::Duration;

use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::CodeTree;
use swe_ci_core::report::{PytestExit, Report};
use swe_ci_core::run::Limits;

use crate::{Exec, Exit, OnLine, SandboxContainer, SandboxError};

/// The folder that always holds the oracle's tests, whatever the agent did to
/// it.
pub const TESTS: &str = "tests";
/// Folder of the code in every container.
pub const CODE_FOLDER: &str = "/app/code";
const REPORT_FOLDER: &str = "/app/report";
const REPORT_FILE: &str = "/app/report/test_report.json";
/// The size limit of a report, in bytes.
const MAX_REPORT: u64 = 512 * 1024 * 1024;

#[derive(Debug)]
pub struct SuiteRun {
    /// The report, or why the code counts as collapsed.
    pub result: Result<Report, String>,
    /// The report as pytest wrote it, if there was one.
    pub raw: Option<Vec<u8>>,
    /// Seconds from start to end of the command.
    pub seconds: f64,
}

/// Runs the suite of `code`, whose `tests/` must already be the oracle's.
///
/// Errors are failures of the platform; a crash, endless loop or missing report
/// of the code itself is a [`SuiteRun`] without a report.
pub async fn run(
    sandbox: &dyn SandboxContainer,
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
    let (result, raw) = match exit {
        Exit::TimedOut => {
            let reason = format!("the tests took longer than {} s", limits.test_seconds);
            (Err(reason), None)
        }
        Exit::DiskSpent => {
            let reason = format!("the tests wrote more than {} MiB", limits.disk_mb);
            (Err(reason), None)
        }
        Exit::Code(code) => match sandbox.read(REPORT_FILE, MAX_REPORT).await {
            Ok(raw) => (checked_report(code, raw.as_deref()), raw),
            Err(error @ SandboxError::TooBig { .. }) => (Err(error.to_string()), None),
            Err(error) => return Err(error),
        },
    };
    Ok(SuiteRun {
        result,
        raw,
        seconds,
    })
}

fn pytest(limits: Limits) -> Exec {
    let options = format!("-o addopts= --json-report --json-report-file={REPORT_FILE}");
    let command = format!("python -m pytest {options} {TESTS}");
    Exec {
        command: command.split(' ').map(str::to_owned).collect(),
        env: vec!["PYTHONPATH=src:.".into()],
        working_dir: CODE_FOLDER.into(),
        time_limit: Duration::from_secs(limits.test_seconds.into()),
        off: ExcludedTime::default(),
    }
}

/// The report of a suite that ran, or why there is no trustworthy one.
fn checked_report(code: i64, raw: Option<&[u8]>) -> Result<Report, String> {
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
        137 => "killed, most often because memory ran out",
        _ => "it did not run to its end",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_and_report_must_agree() {
        let report = |exit: i64| {
            format!(r#"{{"exitcode": {exit}, "duration": 1, "summary": {{}}, "tests": []}}"#)
        };
        let check = |code: i64, raw: Option<&str>, expect: &str| {
            let verdict = checked_report(code, raw.map(str::as_bytes))
                .map_or_else(|reason| reason, |_| "fine".to_owned());
            assert!(verdict.contains(expect), "{verdict}");
        };
        check(0, Some(&report(0)), "fine");
        check(1, Some(&report(1)), "fine");
        // A report that claims success while pytest failed is not trusted.
        check(1, Some(&report(0)), "speaks of exit code 0");
        check(0, None, "left no report");
        check(0, Some("{"), "not JSON");
        check(2, Some(&report(2)), "could not be imported");
        check(137, None, "memory ran out");
    }
}
