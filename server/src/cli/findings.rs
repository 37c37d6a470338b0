//! `swe-ci findings`: decisions about the findings of runs.

use clap::{Args, Subcommand};
use swe_ci_core::finding::Decision;
use swe_ci_core::text::visible;
use swe_ci_engine::Engine;
use swe_ci_views::finding::FindingId;

use super::failure::Failure;
use super::output;

const REVIEW_HELP: &str = "\
Another decision replaces it; the audit log keeps both. Everybody who may see
the run sees the decision and its reason.

Examples:
  swe-ci read findings                 those of all runs that wait for a decision
  swe-ci read runs/$run/findings
  swe-ci findings clear $run $finding --reason \"the project's own plugin\"
  swe-ci findings confirm $run $finding --reason \"it rewrites the report\"";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Clear a suspicious finding: it counts as a note
    #[command(after_help = REVIEW_HELP)]
    Clear(Review),
    /// Confirm a suspicious finding: the run stays unranked
    #[command(after_help = REVIEW_HELP)]
    Confirm(Review),
}

#[derive(Debug, Args)]
pub(super) struct Review {
    /// The run's id
    run: String,
    /// The finding's id, as `swe-ci read runs/RUN/findings` prints it
    finding: FindingId,
    /// The reason; 1 to 500 characters
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    match command {
        Command::Clear(review) => review.decide(engine, Decision::Cleared).await,
        Command::Confirm(review) => review.decide(engine, Decision::Confirmed).await,
    }
}

impl Review {
    async fn decide(&self, engine: &Engine, decision: Decision) -> Result<(), Failure> {
        let Self {
            run,
            finding,
            reason,
        } = self;
        engine
            .review_finding(run, finding, decision, reason)
            .await?;
        let rank = match engine.run(run).await?.unranked {
            None => "nothing keeps the run from a rank".to_owned(),
            Some(why) => format!("the run has no rank: {}", visible(&why.to_string())),
        };
        output::line(format_args!(
            "finding {finding} is {}; {rank}",
            decision.name()
        ))
    }
}
