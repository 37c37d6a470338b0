//! `swe-ci score`: scores results from their files.

use std::path::PathBuf;

use clap::Args;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::results::Layout;
use swe_ci_core::uncertainty::Interval;
use swe_ci_engine::{ScoreRequest, Scored};
use swe_ci_views::leaderboard::{EvolutionScore, Intervals};

use super::failure::Failure;
use super::{output, score_samples};

pub(super) const AFTER_HELP: &str = "\
Needs no server, no database and no data folder, and writes nothing.

FOLDER is the folder of one experiment, with a folder for each task:
  reference   TASK_ID/iteration.jsonl, as the authors' program writes it
  otter       TASK_ID#SAMPLE/{meta.json,turn_N/conclusion.json}
  harbor      TRIAL/{result.json,verifier/swe-ci.json}, a job of Harbor

A missing task, or one with inconsistent files, is skipped with the reason; the
means are over the others. `--convention paper` counts single tests and needs
the archived test reports (TASK_ID/…/test_report.json).

Examples:
  swe-ci score experiments/my-model --metadata metadata/default.csv
  swe-ci score experiments/my-model --metadata metadata/default.csv --json | jq .evoscore

Exit codes: 0 at least one task was scored, 1 none was, 2 an option is invalid.";

/// Advice about an unusable folder or metadata file.
pub(super) const INPUT_ADVICE: &str = "FOLDER is the folder of one experiment, with a folder for each task; --metadata is the split's file of the dataset, metadata/SPLIT.csv; docs/results.md shows both";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Folder of the experiment
    folder: PathBuf,
    /// The split's metadata file: which tasks there are
    #[arg(long, value_name = "CSV")]
    metadata: PathBuf,
    /// Layout of the folder
    #[arg(long, value_name = "LAYOUT", default_value = "reference", value_parser = ["reference", "otter", "harbor"])]
    from: String,
    /// Number of iterations: shorter evolutions are padded, later iterations
    /// ignored; when absent that of the job with `--from harbor`, else 20
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_iterations: Option<u32>,
    /// Weight of later iterations, 0.1 to 10
    #[arg(long, value_name = "GAMMA", default_value = "1")]
    gamma: Gamma,
    /// How tests are counted: `paper` (only tests the target passes, one by
    /// one) or `reference` (as the authors' program counts)
    #[arg(long, default_value = "reference", value_parser = ["paper", "reference"])]
    convention: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(options: Options) -> Result<(), Failure> {
    let layout: Layout = options.from.parse().map_err(Failure::usage)?;
    let convention: Convention = options.convention.parse().map_err(Failure::usage)?;
    let request = ScoreRequest {
        layout,
        max_iterations: options.max_iterations,
        gamma: options.gamma,
        convention,
    };
    let (folder, metadata) = (options.folder, options.metadata);
    let scoring =
        tokio::task::spawn_blocking(move || swe_ci_engine::score(&folder, &metadata, &request));
    let scored = scoring
        .await
        .map_err(|e| Failure::new(format!("scoring failed: {e}")))?
        .map_err(|e| Failure::from(e).next(INPUT_ADVICE))?;
    output::show(&scored, options.json, print)?;
    tell(&scored, options.json);
    if scored.scores.tasks.is_empty() {
        let what = format!("no task could be scored in the layout `{}`", layout.name());
        return Err(Failure::new(what).next(
            "each skipped task has its reason; is it the folder of one experiment, and `--from` its layout?",
        ));
    }
    Ok(())
}

fn print(scored: &Scored) -> Result<(), Failure> {
    let scores = &scored.scores;
    if scores.tasks.is_empty() {
        return Ok(());
    }
    let header = "task | sample: | EvoScore: | solved | zero regression | ZRR | turns:";
    output::table(header, scores.tasks.iter().map(task_row))?;
    let row = |name: &str, mean: Option<f64>, interval: fn(&Intervals) -> Interval, show: Show| {
        let interval = scores.intervals.as_ref().map(interval);
        let interval = interval.map(|i| format!("[{}, {}]", show(i.low), show(i.high)));
        let mean = mean.map(show).unwrap_or_default();
        [name.to_owned(), mean, interval.unwrap_or_default()]
    };
    let (solved, kept) = (scores.solved_rate, scores.zero_regression_rate);
    let means = [
        row("EvoScore", scores.evoscore, |i| i.evoscore, score),
        row("solved", solved, |i| i.solved_rate, output::percent),
        row(
            "zero regression",
            kept,
            |i| i.zero_regression_rate,
            output::percent,
        ),
        row("ZRR", scores.zrr, |i| i.zrr, output::percent),
        row("turns", scores.average_turns, |i| i.average_turns, turns),
    ];
    output::table("mean over tasks | : | 95 %", means)?;
    if let Some(samples) = &scores.samples {
        score_samples::print(samples)?;
    }
    output::line(format_args!(
        "{} convention, γ = {}, N = {}",
        scores.convention.name(),
        scores.gamma.get(),
        scores.max_iterations
    ))
}

type Show = fn(f64) -> String;

fn score(value: f64) -> String {
    format!("{value:.4}")
}

fn turns(value: f64) -> String {
    format!("{value:.1}")
}

fn task_row(task: &EvolutionScore) -> [String; 7] {
    let yes = |it: bool| if it { "yes" } else { "no" }.to_owned();
    [
        task.task_id.to_string(),
        task.sample.to_string(),
        score(task.evoscore),
        yes(task.solved),
        yes(task.zero_regression),
        yes(task.zrr),
        task.turns.to_string(),
    ]
}

/// Prints notes on the numbers. JSON has the skipped and the ignored folders.
fn tell(scored: &Scored, json: bool) {
    for note in &scored.notes {
        output::note(format_args!("note: {note}"));
    }
    if json {
        return;
    }
    if scored.scores.intervals.is_none() && !scored.scores.tasks.is_empty() {
        output::note("no intervals: the tasks come from fewer than two repositories");
    }
    skipped(&scored.skipped, &scored.ignored);
}

/// Prints the skipped tasks.
pub(super) fn skipped(skipped: &[swe_ci_engine::Skipped], ignored: &[String]) {
    for task in skipped {
        output::note(format_args!("skipped {}: {}", task.task_id, task.reason));
    }
    // Names from outside must not move the cursor.
    let names = ignored
        .iter()
        .map(|name| format!("`{}`", name.escape_debug()));
    let named: Vec<String> = names.take(FOLDERS_NAMED).collect();
    let more = match ignored.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    if !named.is_empty() {
        let named = named.join(", ");
        output::note(format_args!(
            "ignored {named}{more}: the split has no task of this name"
        ));
    }
}

/// Folders to name of those that belong to no task; `--json` lists all.
const FOLDERS_NAMED: usize = 5;
