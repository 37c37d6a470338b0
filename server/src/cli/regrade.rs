//! `swe-ci regrade`: grades the code of a run again, in a new run.

use clap::Args;
use serde_json::json;
use swe_ci_engine::Engine;
use swe_ci_views::regrade::{Regrade, Why};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
The stored code of each iteration goes through the tests again, with the task's
suite, test command and image of today, in a new run that is linked to the old
one. No agent works in it. The run waits in the queue until a server on the same
data executes it; stdout shows its id. It has no rank beside the old run: it takes
its place when the old one is withdrawn.

--moved shows the verdicts that moved, of a run that was graded again.

Examples:
  id=$(swe-ci regrade 0199a1b2-…)
  swe-ci regrade --moved $id
  swe-ci regrade --moved $id --csv > moved.csv";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a finished run; with --moved, of a run that was graded again
    #[arg(value_name = "ID")]
    id: String,
    /// Show the verdicts that moved
    #[arg(long)]
    moved: bool,
    /// Print a line for each moved verdict as CSV
    #[arg(long, requires = "moved", conflicts_with = "json")]
    csv: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let Options { id, json, .. } = options;
    if !options.moved {
        let new = engine.regrade(id).await?;
        return output::show(&json!({ "run_id": new }), *json, |_| output::line(&new));
    }
    let regrade = engine.moved_verdicts(id).await?;
    match options.csv {
        true => output::line(regrade.to_csv().trim_end()),
        false => output::show(&regrade, *json, print),
    }
}

fn print(regrade: &Regrade) -> Result<(), Failure> {
    output::note(format_args!(
        "graded again from run {}: {} of {} iterations moved",
        regrade.regraded_from,
        regrade.moved.len(),
        regrade.compared
    ));
    let rows = regrade.moved.iter().map(|moved| {
        let why: Vec<&str> = moved.why.iter().map(|why: &Why| why.words()).collect();
        [
            moved.at.task_id.to_string(),
            moved.at.sample.to_string(),
            moved.at.iteration.to_string(),
            moved.before.to_string(),
            moved.now.to_string(),
            why.join("; "),
        ]
    });
    let header = "Task | Sample: | Iteration: | Before | Now | Why";
    output::table_or_note(header, rows, "No verdict moved.")
}
