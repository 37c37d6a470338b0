//! `swe-ci workers`: who executes runs, and draining.

use clap::{Args, Subcommand};
use swe_ci_engine::Engine;
use swe_ci_views::workers::{WorkerView, unmet_in_words};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
A worker is lost when it sent no heartbeat for a minute; others take over what it
held as soon as its lease ends. At hand are the prepared images of tasks and the
layers of harnesses in its container engine.

Examples:
  swe-ci workers
  swe-ci workers drain node-7      claim nothing more there; what is under way goes on
  swe-ci workers resume node-7";

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Have workers claim nothing more
    Drain {
        /// Id or name
        worker: String,
    },
    /// Have drained workers claim again
    Resume {
        /// Id or name
        worker: String,
    },
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let (worker, drain, done) = match &options.command {
        None => {
            output::show(&engine.workers().await?, options.json, |all| print(all))?;
            for run in engine.runs_without_worker().await? {
                let waits = unmet_in_words(&run.needs);
                output::note(format_args!("run {} ({}) {waits}", run.run_id, run.model));
            }
            return Ok(());
        }
        Some(Command::Drain { worker }) => (worker, true, "draining"),
        Some(Command::Resume { worker }) => (worker, false, "claiming again"),
    };
    let workers = engine.drain_workers(worker, drain).await?;
    output::note(format_args!("{done}: {workers}"));
    Ok(())
}

fn print(workers: &[WorkerView]) -> Result<(), Failure> {
    let rows = workers.iter().map(|worker| {
        let tasks: Vec<String> = worker
            .claims
            .iter()
            .map(|claim| format!("{} {}", claim.task_id, claim.iteration))
            .collect();
        [
            worker.name.clone(),
            worker.state.name().to_owned(),
            format!("{}/{}", worker.claims.len(), worker.slots),
            format!("{:.0} s", worker.silent_seconds),
            worker.started_at.clone(),
            worker.version.clone(),
            worker.labels.to_string(),
            worker.figures.at_hand(),
            tasks.join(", "),
        ]
    });
    let header =
        "Worker | State | Busy: | Last heartbeat: | Since | Version | Labels | At hand | Works on";
    output::table_or_note(header, rows, "No worker; start one with `swe-ci work`.")
}
