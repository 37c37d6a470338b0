use swe_ci_engine::{Check, Engine};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
Exit codes: 0 all checks passed, 1 a check failed.";

/// `opened` is the engine, or why it could not be opened.
pub(super) async fn execute(opened: Result<Engine, Failure>, json: bool) -> Result<(), Failure> {
    let checks = match opened {
        Ok(engine) => engine.doctor().await,
        Err(failure) if failure.is_usage() => return Err(failure),
        // A failure to start is a finding, and prevents all other checks.
        Err(failure) => vec![Check {
            name: "start",
            ok: false,
            found: failure.what,
            advice: "fix this first; --data or SWE_CI_DATA chooses another data folder".into(),
        }],
    };
    output::show(&checks[..], json, print)?;
    match checks.iter().filter(|check| !check.ok).count() {
        0 => Ok(()),
        1 => Err(Failure::new("one check failed")),
        failed => Err(Failure::new(format!("{failed} checks failed"))),
    }
}

fn print(checks: &[Check]) -> Result<(), Failure> {
    let rows = checks.iter().map(|check| {
        let mark = if check.ok { "ok" } else { "FAILED" };
        [mark.to_owned(), check.name.to_owned(), check.found.clone()]
    });
    output::table(" | check | found", rows)?;
    for check in checks.iter().filter(|check| !check.advice.is_empty()) {
        output::line(format_args!("\n{}: {}", check.name, check.advice))?;
    }
    Ok(())
}
