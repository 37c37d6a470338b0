//! `swe-ci gate`: whether a candidate loses too much against a baseline.

use std::path::{Path, PathBuf};

use clap::Args;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_engine::Engine;
use swe_ci_views::leaderboard::{GateDecision, GateRules};

use super::failure::Failure;
use super::output;
use crate::gate_report::junit;

pub(super) const AFTER_HELP: &str = "\
Prints a Markdown summary with the differences and their intervals. The gate
passes when the data shows that the candidate keeps to every bound, and fails
when the data shows that it breaks one. docs/gate.md explains the statistics,
and has a pipeline that asks a server instead.

Examples:
  swe-ci gate --baseline 0199a1b2-… --candidate 0199c3d4-…
  swe-ci gate --baseline A --candidate B --max-zero-regression-drop 0.05 --junit gate.xml
  swe-ci gate --baseline A --candidate B --early    decide while runs go on, if possible

Exit codes: 0 pass, 1 fail, 2 the gate cannot tell (yet), or an option is
invalid.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The run to compare with
    #[arg(long, value_name = "RUN")]
    baseline: String,
    /// The run that wants to pass
    #[arg(long, value_name = "RUN")]
    candidate: String,
    /// The least difference in EvoScore, candidate minus baseline, -2 to 2
    #[arg(
        long,
        value_name = "X",
        default_value_t = GateRules::default().min_evoscore_delta,
        allow_negative_numbers = true
    )]
    min_evoscore_delta: f64,
    /// The most that the zero-regression rate may drop, 0 to 1; it does not
    /// matter when absent
    #[arg(long, value_name = "X")]
    max_zero_regression_drop: Option<f64>,
    /// The error rate of each bound, 0.001 to 0.5
    #[arg(long, value_name = "X", default_value_t = GateRules::default().alpha)]
    alpha: f64,
    /// Decide before the runs are over if enough tasks are done; all looks
    /// together keep the error rate
    #[arg(long)]
    early: bool,
    /// Weight of later iterations, 0.1 to 10
    #[arg(long, value_name = "GAMMA", default_value = "1")]
    gamma: Gamma,
    /// How tests are counted, see `swe-ci leaderboard --help`
    #[arg(long, default_value = "paper", value_parser = ["paper", "reference"])]
    convention: String,
    /// Write a JUnit report to this file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(
    engine: impl AsyncFnOnce() -> Result<Engine, Failure>,
    options: &Options,
) -> Result<(), Failure> {
    let rules = GateRules {
        min_evoscore_delta: options.min_evoscore_delta,
        max_zero_regression_drop: options.max_zero_regression_drop,
        alpha: options.alpha,
        early: options.early,
    };
    rules.check().map_err(|(name, must)| {
        Failure::usage(format!("--{} must be {must}", name.replace('_', "-")))
    })?;
    let convention: Convention = options.convention.parse().map_err(Failure::usage)?;
    let engine = engine().await.map_err(Failure::cannot_tell)?;
    let (baseline, candidate) = (&options.baseline, &options.candidate);
    let report = engine.gate(baseline, candidate, rules, options.gamma, convention);
    let report = report.await.map_err(|e| Failure::from(e).cannot_tell())?;
    output::show(&report, options.json, |report| {
        output::line(report.markdown().trim_end())
    })?;
    if let Some(file) = &options.junit {
        let xml = junit(&report).map_err(|e| unwritable(file, &e).cannot_tell())?;
        std::fs::write(file, xml).map_err(|e| unwritable(file, &e).cannot_tell())?;
    }
    match report.decision {
        GateDecision::Pass => Ok(()),
        GateDecision::Fail => Err(Failure::new(format!("the gate fails: {}", report.reason))),
        GateDecision::Open => {
            Err(Failure::new(format!("the gate cannot tell: {}", report.reason)).cannot_tell())
        }
    }
}

fn unwritable(file: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", file.display()))
}
