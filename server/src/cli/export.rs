//! `swe-ci export`: recorded runs for other programs.

use clap::{Args, Subcommand};
use swe_ci_core::task::TaskId;
use swe_ci_engine::{Engine, Error, TrainingRequest};
use swe_ci_views::training::TrainingFormat;

use super::failure::Failure;
use super::output;

pub(super) const TRAJECTORIES_HELP: &str = "\
Prints a JSON object a line, as training programs such as TRL read it. The reward
of an iteration is the share of the task's gap that it closes, minus the share
that it opens by losing tests.

  sft   messages, tools: a conversation of an agent whose iteration has a reward
        above --above
  dpo   prompt, chosen, rejected, tools: the best and the worst conversation of
        those that began with the same code and the same messages

`about` names run, model, task, licence, iteration, role and reward.

Examples:
  swe-ci export trajectories --for sft 0199a1b2-… > sft.jsonl
  swe-ci export trajectories --for dpo 0199a1b2-… 0199b2c3-… --licence MIT > dpo.jsonl";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print the conversations of agents as data for training
    #[command(after_help = TRAJECTORIES_HELP)]
    Trajectories(Trajectories),
}

#[derive(Debug, Args)]
pub(super) struct Trajectories {
    /// Ids of runs that are over, or how they begin
    #[arg(value_name = "ID", required = true)]
    runs: Vec<String>,
    /// What to train: sft or dpo
    #[arg(long = "for", value_name = "FORMAT")]
    format: TrainingFormat,
    /// Only these tasks, separated by commas
    #[arg(long, value_name = "TASK,…", value_delimiter = ',')]
    tasks: Vec<String>,
    /// Only repositories under these licences (SPDX), separated by commas
    #[arg(long, value_name = "LICENCE,…", value_delimiter = ',')]
    licence: Vec<String>,
    /// Only iterations whose reward is above it; of a pair the better one
    #[arg(
        long,
        value_name = "REWARD",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    above: f64,
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    let Command::Trajectories(options) = command;
    let mut runs = Vec::new();
    for id in &options.runs {
        runs.push(engine.run_that_begins(id).await?);
    }
    let tasks = options.tasks.iter().map(|task| TaskId::new(task.as_str()));
    let request = TrainingRequest {
        format: options.format,
        runs,
        tasks: tasks
            .collect::<Result<_, _>>()
            .map_err(|error| Failure::usage(error.to_string()))?,
        licences: options.licence.into_iter().collect(),
        above: options.above,
    };
    let mut write = |row: serde_json::Value| {
        output::line(row).map_err(|failure| Error::Unavailable(failure.what))
    };
    let export = engine.export_training(&request, &mut write).await?;
    output::note(format_args!(
        "{} rows; left out: {} steps under other licences, {} without a reward or a counterpart",
        export.rows, export.other_licences, export.no_reward
    ));
    Ok(())
}
