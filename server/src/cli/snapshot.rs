//! `swe-ci snapshot`: leaderboards as they were on a day.

use clap::Subcommand;
use swe_ci_engine::Engine;

use super::failure::Failure;
use super::output;

const MAKE_HELP: &str = "\
A snapshot holds the scores of all runs of a split with a place on its
leaderboards, and never changes. Each split has one a day at most; `swe-ci serve
--snapshot-every` makes them by itself.

Examples:
  swe-ci snapshot make
  swe-ci snapshot make --split demo
  swe-ci read snapshots";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Make today's snapshot of a split
    #[command(after_help = MAKE_HELP)]
    Make {
        /// The split; the one with the most tasks when absent
        #[arg(long, value_name = "NAME")]
        split: Option<String>,
    },
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    match command {
        Command::Make { split } => {
            let split = match split {
                Some(split) => Some(split),
                None => engine.default_split().await?,
            };
            let split = split.ok_or_else(|| {
                Failure::new("there is no split yet")
                    .next("import one with `swe-ci dataset import`")
            })?;
            let made = engine.make_snapshot(&split).await?;
            output::line(format_args!("{}  {}", made.path(), made.digest))
        }
    }
}
