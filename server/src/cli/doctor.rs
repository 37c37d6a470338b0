use clap::Args;
use comfy_table::CellAlignment::Left;
use serde_json::json;
use swe_ci_engine::Check;

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

pub(super) const AFTER_HELP: &str = "\
Exit codes: 0 all checks passed, 1 a check failed.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(global: &GlobalOptions, options: &Options) -> Result<(), Failure> {
    let checks = match super::open(global).await {
        Ok(engine) => engine.doctor().await,
        Err(failure) if failure.is_usage() => return Err(failure),
        // A failure to start is a finding, and prevents all other checks.
        Err(failure) => vec![Check {
            name: "start",
            ok: false,
            found: failure.what().to_owned(),
            advice: "fix this first; --data or SWE_CI_DATA chooses another data folder".into(),
        }],
    };
    if options.json {
        let list: Vec<_> = checks
            .iter()
            .map(|c| json!({"name": c.name, "ok": c.ok, "found": c.found, "advice": c.advice}))
            .collect();
        output::json(&list)?;
    } else {
        print(&checks)?;
    }
    match checks.iter().filter(|check| !check.ok).count() {
        0 => Ok(()),
        1 => Err(Failure::new("one check failed")),
        failed => Err(Failure::new(format!("{failed} checks failed"))),
    }
}

fn print(checks: &[Check]) -> Result<(), Failure> {
    let columns = [("", Left), ("check", Left), ("found", Left)];
    let rows = checks.iter().map(|check| {
        let mark = if check.ok { "ok" } else { "FAILED" };
        [mark.to_owned(), check.name.to_owned(), check.found.clone()]
    });
    output::table(columns, rows)?;
    for check in checks.iter().filter(|check| !check.advice.is_empty()) {
        output::line(format_args!("\n{}: {}", check.name, check.advice))?;
    }
    Ok(())
}
