//! `swe-ci run publish` and `withdraw`, and the verified mark.

use clap::{Args, Subcommand};

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

const WITHDRAW_HELP: &str = "\
A withdrawn run is in no ranking and no list; administrators and its
submitter still see it, with the reason.

Examples:
  swe-ci run withdraw $id --reason \"the prompts named the tests\"";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Publish a private run, or a withdrawn one again
    Publish(Publish),
    /// Withdraw a public run
    #[command(after_help = WITHDRAW_HELP)]
    Withdraw(Withdraw),
    /// Mark a run as verified, after `swe-ci verify` found no differences
    Mark(Marked),
    /// Remove the mark again
    Unmark(Marked),
}

#[derive(Debug, Args)]
pub(super) struct Marked {
    /// The run's id
    id: String,
}

#[derive(Debug, Args)]
pub(super) struct Publish {
    /// The run's id
    id: String,
}

#[derive(Debug, Args)]
pub(super) struct Withdraw {
    /// The run's id
    id: String,
    /// The reason; 1 to 500 characters
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    let engine = super::open(global).await?;
    match command {
        Command::Publish(Publish { id }) => {
            engine.publish(&id).await?;
            output::line(format_args!("run {id} is public"))
        }
        Command::Withdraw(Withdraw { id, reason }) => {
            engine.unpublish(&id, &reason).await?;
            output::line(format_args!("run {id} is withdrawn"))
        }
        Command::Mark(Marked { id }) => {
            engine.mark_verified(&id).await?;
            output::line(format_args!("run {id} is marked as verified"))
        }
        Command::Unmark(Marked { id }) => {
            engine.unmark(&id).await?;
            output::line(format_args!("run {id} is not marked as verified"))
        }
    }
}
