//! `swe-ci rescore`: scores stored runs again.

use clap::Args;
use swe_ci_engine::{Engine, METRIC_VERSION, Rescored};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
Executes nothing: verdicts follow from the stored reports and outcomes. Without
--run, it scores every finished run of older definitions again, each in one
transaction.

With --style, it measures code style instead, for every scored evolution with
stored code and without a measurement. A server measures its own runs; this is
for older ones.

Examples:
  swe-ci rescore
  swe-ci rescore --style
  swe-ci rescore --run 0199a1b2-… --json";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Only this run, whatever version of the definitions it has
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Measure code style, with Pylint, radon and others in containers
    #[arg(long)]
    style: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    if options.style {
        return measure(engine, options).await;
    }
    let rescored = engine.rescore(options.run.as_deref()).await?;
    output::show(&rescored[..], options.json, print)
}

fn print(rescored: &[Rescored]) -> Result<(), Failure> {
    let none = format!(
        "Every finished run has scores of the current definitions, version {METRIC_VERSION}."
    );
    let header = "run | model | definitions | iterations: | changed:";
    output::table_or_note(header, rescored.iter().map(row), &none)
}

async fn measure(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let measured = engine
        .measure_styles(options.run.as_deref(), &output::say)
        .await?;
    output::show(&measured, options.json, |measured| {
        let failed = match measured.failed.len() {
            0 => String::new(),
            n => format!(", {n} could not be"),
        };
        let measured = measured.measured;
        output::line(format_args!("{measured} evolutions measured{failed}"))
    })
}

fn row(run: &Rescored) -> [String; 5] {
    [
        run.run_id.clone(),
        output::short(&run.model, 40),
        format!("{} → {}", run.from_version, run.to_version),
        run.iterations.to_string(),
        run.changed.to_string(),
    ]
}
