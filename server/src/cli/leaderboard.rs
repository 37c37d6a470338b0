//! `swe-ci leaderboard`: the ranking in the terminal.

use clap::Args;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_core::text::visible;
use swe_ci_engine::Engine;
use swe_ci_views::leaderboard::{Board, Row, UnrankedRun};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
EvoScore is the mean over the tasks of the weighted mean of an evolution's
normalized changes, -1 to 1. With --gamma above 1 later iterations count more.

Examples:
  swe-ci leaderboard
  swe-ci leaderboard --split demo --gamma 1.5 --convention reference
  swe-ci leaderboard --json | jq '.[0].evoscore'";

const NONE: &str =
    "No run of the whole split has a score yet; `swe-ci read runs` shows the state of all runs.";

/// Runs of which only counts are known have no score in the paper's convention.
const COUNTS_ONLY: &str = "No run has a score in the convention `paper`; `--convention reference` shows those that are known by counts alone.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The split; the one with the most tasks when absent
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// The mode of the runs: modes are never ranked together
    #[arg(long, default_value = "tdd", value_parser = Mode::ALL.map(Mode::name))]
    mode: String,
    /// Weight of later iterations, 0.1 to 10
    #[arg(long, value_name = "GAMMA", default_value = "1")]
    gamma: Gamma,
    /// How tests are counted: `paper` (only tests the target passes, one by
    /// one) or `reference` (as the authors' program counts)
    #[arg(long, default_value = "paper", value_parser = ["paper", "reference"])]
    convention: String,
    /// Count only tasks whose targets are younger than the model's training data,
    /// or than the model
    #[arg(long)]
    unseen: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let convention: Convention = options.convention.parse().map_err(Failure::usage)?;
    let split = match &options.split {
        Some(split) => Some(split.clone()),
        None => engine.default_split().await?,
    };
    let data = match &split {
        Some(split) => {
            let mode = Mode::from_name(&options.mode).unwrap_or_default();
            let board = Board::new(split, mode);
            match options.unseen {
                true => engine.unseen(board).await?.data.clone(),
                false => engine.leaderboard_data(board).await?,
            }
        }
        None => Default::default(),
    };
    let rows = data.rank(options.gamma, convention);
    let by_counts = || !data.rank(options.gamma, Convention::Reference).is_empty();
    let none = match rows.is_empty() && convention == Convention::Paper && by_counts() {
        true => COUNTS_ONLY,
        false => NONE,
    };
    output::show(&rows[..], options.json, |rows| print(rows, none))?;
    for run in data.unranked_runs() {
        let UnrankedRun {
            run_id,
            model,
            unranked,
        } = run;
        let line = format!("Not ranked: {model}, {unranked}; run {run_id}");
        output::note(visible(&line));
    }
    Ok(())
}

/// `none` is what to say without rows.
fn print(rows: &[Row], none: &str) -> Result<(), Failure> {
    let rows = rows.iter().map(|row| {
        [
            row.rank.to_string(),
            output::short(&row.model, 40),
            row.harness.clone(),
            format!("{:.4}", row.evoscore),
            output::percent(row.zero_regression_rate),
            output::percent(row.solved_rate),
            output::percent(row.zrr),
            format!("{:.1}", row.average_turns),
            format!("{}/{}", row.tasks, row.tasks_total),
            row.run_id.clone(),
        ]
    });
    let header = "#: | model | harness | EvoScore: | zero regression: | solved: | ZRR: | turns: | tasks: | run";
    output::table_or_note(header, rows, none)
}
