//! `swe-ci findings`: the findings of runs, and the decisions about them.

use clap::{Args, Subcommand};
use swe_ci_core::finding::Decision;
use swe_ci_core::text::visible;
use swe_ci_engine::Engine;
use swe_ci_views::finding::{FindingId, RunFinding};

use super::failure::Failure;
use super::output;

const LIST_HELP: &str = "\
Without a run, it lists the suspicious findings of all runs that wait for a
decision. A run with one of them has no rank.

Examples:
  swe-ci findings list
  swe-ci findings list $run --json";

const REVIEW_HELP: &str = "\
Another decision replaces it; the audit log keeps both. Everybody who may see
the run sees the decision and its reason.

Examples:
  swe-ci findings clear $run $finding --reason \"the project's own plugin\"
  swe-ci findings confirm $run $finding --reason \"it rewrites the report\"";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the findings of a run, or all that wait for a decision
    #[command(after_help = LIST_HELP)]
    List {
        /// The run's id
        run: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
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
    /// The finding's id, as `swe-ci findings list` prints it
    finding: FindingId,
    /// The reason; 1 to 500 characters
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { run, json } => {
            let (found, none) = match run {
                Some(run) => (engine.findings(&run).await?, "The run has no findings."),
                None => (
                    engine.open_findings().await?,
                    "No finding waits for a decision.",
                ),
            };
            output::show(&found[..], json, |found| list(found, none))
        }
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

fn list(findings: &[RunFinding], none: &str) -> Result<(), Failure> {
    let rows = findings.iter().map(|found| {
        let decision = found.review.as_ref().map(|review| {
            let name = review.decision.name();
            format!("{name} by {}: {}", review.reviewer, review.reason)
        });
        let open = if found.is_open() { "open" } else { "" };
        [
            found.finding.grade.name().into(),
            found.finding.kind.name().into(),
            output::short(&found.finding.text, 80),
            found.task_id.to_string(),
            decision.unwrap_or_else(|| open.into()),
            found.run_id.clone(),
            found.finding_id.to_string(),
        ]
    });
    let header = "grade | kind | what | task | decision | run | finding";
    output::table_or_note(header, rows, none)
}
