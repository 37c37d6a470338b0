//! `swe-ci workers`: draining of those who execute runs.

use clap::Subcommand;
use swe_ci_engine::Engine;

use super::failure::Failure;
use super::output;

const EXAMPLES: &str = "\
Examples:
  swe-ci read workers
  swe-ci workers drain node-7      claim nothing more there; what is under way goes on
  swe-ci workers resume node-7";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Have workers claim nothing more
    #[command(after_help = EXAMPLES)]
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

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    let (worker, drain, done) = match command {
        Command::Drain { worker } => (worker, true, "draining"),
        Command::Resume { worker } => (worker, false, "claiming again"),
    };
    let workers = engine.drain_workers(&worker, drain).await?;
    output::note(format_args!("{done}: {workers}"));
    Ok(())
}
