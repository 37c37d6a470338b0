//! `swe-ci handovers`: what models make of each other's code.

use clap::Args;
use swe_ci_core::handover::HandoverTarget;
use swe_ci_core::uncertainty::{Comparison, Interval};
use swe_ci_engine::Engine;
use swe_ci_views::handover::{After, HandoverMatrix, Wanted};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
A handover is a run that goes on with the code another run wrote. CLOSED is the
share of the tests not passing at the start that pass at the end, LOST the share
of those passing at the start that no longer do. Differences are to the same
model on its own code, and on the human baseline's.

Examples:
  swe-ci run submit my-model.toml --continue RUN
  swe-ci handovers --split demo
  swe-ci handovers --split demo --after 5 --at 3 --json";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The split; the one with the most tasks when absent
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// The iteration after which the code was handed over, or `last`; the first
    /// that there is when absent
    #[arg(long, value_name = "N")]
    after: Option<After>,
    /// Those towards a later target, also while there are others
    #[arg(long)]
    moved: bool,
    /// The iteration since the handover; the last one when absent
    #[arg(long, value_name = "N")]
    at: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let split = match &options.split {
        Some(split) => Some(split.clone()),
        None => engine.default_split().await?,
    };
    let matrix = match &split {
        Some(split) => {
            let wanted = Wanted {
                target: options.moved.then_some(HandoverTarget::Moved),
                after: options.after,
            };
            engine.handovers(split, wanted).await?
        }
        None => HandoverMatrix::default(),
    };
    let last = matrix.iterations;
    let at = options.at.unwrap_or(last);
    if !matrix.cells.is_empty() && !(1..=last).contains(&at) {
        let why = format!("--at: the handovers have no iteration {at}; they have 1 to {last}");
        return Err(Failure::usage(why));
    }
    output::show(&matrix, options.json, |matrix| print(matrix, at))
}

fn print(matrix: &HandoverMatrix, at: u32) -> Result<(), Failure> {
    let rows = matrix.cells.iter().filter_map(|cell| {
        let after = cell.at(at)?;
        let writer = &matrix.writers[cell.writer as usize];
        let continuer = &matrix.continuers[cell.continuer as usize];
        Some([
            output::short(&writer.name(), 30),
            output::short(&continuer.model, 30),
            with_interval(output::percent(after.closed_gap), after.closed_gap_interval),
            output::percent(after.lost),
            after.tokens.map_or_else(String::new, |n| format!("{n:.0}")),
            after
                .usd
                .map_or_else(String::new, |usd| format!("{usd:.4}")),
            difference(after.against_own),
            difference(after.against_human),
            cell.tasks.to_string(),
            cell.left_out.to_string(),
            cell.run_id.clone(),
        ])
    });
    let header = "written by | continued by | closed | lost: | tokens: | USD: | to own | to human | tasks: | left out: | run";
    let none = "There is no finished handover; `swe-ci run submit FILE --continue RUN` queues one.";
    output::table_or_note(header, rows, none)
}

fn with_interval(value: String, interval: Option<Interval>) -> String {
    match interval {
        Some(Interval { low, high }) => format!(
            "{value} ({} to {})",
            output::percent(low),
            output::percent(high)
        ),
        None => value,
    }
}

/// "+0.12, p 0.03".
fn difference(comparison: Option<Comparison>) -> String {
    comparison.map_or_else(String::new, |c| {
        format!("{:+.2}, p {:.2}", c.difference, c.p_value)
    })
}
