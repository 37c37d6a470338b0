//! `swe-ci judge`: a model answers the questions of a rubric about a run.

use std::path::PathBuf;

use clap::Args;
use swe_ci_core::format;
use swe_ci_engine::{EXAMPLE_JUDGE, Engine, Judged, judge_plan};
use swe_ci_views::judge::{Answer, JudgedRun};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
A model answers the questions of a rubric about each iteration of a run, with
quotes from the requirement, the change, the tests and the conversation. The
answers are never part of a score. A second pass with the same rubric and model
asks only about what has no answer yet.

Examples:
  swe-ci judge --example > judge.toml
  swe-ci judge 0199a1b2-… judge.toml";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a run that is over
    #[arg(value_name = "ID", required_unless_present = "example")]
    id: Option<String>,
    /// The judge's model, budget and rubric, in TOML
    #[arg(value_name = "FILE", required_unless_present = "example")]
    file: Option<PathBuf>,
    /// Print a plan to begin with
    #[arg(long, conflicts_with_all = ["id", "file", "json"])]
    example: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints the example without an engine, or judges.
pub(super) async fn execute(
    engine: impl AsyncFnOnce() -> Result<Engine, Failure>,
    options: Options,
) -> Result<(), Failure> {
    let (Some(id), Some(file)) = (options.id, options.file) else {
        return output::line(EXAMPLE_JUDGE.trim_end());
    };
    let wrong = |error: &dyn std::fmt::Display| {
        Failure::new(format!("{}: {error}", file.display()))
            .next("`swe-ci judge --example` prints a plan to begin with")
    };
    let text = std::fs::read_to_string(&file).map_err(|e| wrong(&e))?;
    let plan = judge_plan(&text).map_err(|e| wrong(&e))?;
    let tell = |news: Judged| output::note(format_args!("{}/{}", news.done, news.of));
    let judged = engine().await?.judge(&id, plan, &tell).await?;
    output::show(&judged, options.json, |judged| {
        output::line(summary(judged))
    })?;
    let mut problems = judged
        .judgements
        .iter()
        .filter_map(|one| one.problem.as_ref());
    match problems.next() {
        None => Ok(()),
        Some(first) => {
            let unanswered = judged.unanswered();
            let why = format!("{unanswered} iterations have no answers, such as: {first}");
            Err(Failure::new(why).next("the same command asks about them again"))
        }
    }
}

fn summary(judged: &JudgedRun) -> String {
    let counts = judged.judge.criteria.iter().map(|criterion| {
        let name = &criterion.name;
        let counts = Answer::ALL.map(|a| format!("{} {}", judged.count(name, a), a.name()));
        format!("{name}: {}\n", counts.join(", "))
    });
    let counts: String = counts.collect();
    let (invented, quotes) = judged.invented_quotes();
    let cost = judged.micro_usd().map(output::dollars);
    let cost = cost.unwrap_or_else(|| "price unknown".into());
    format!(
        "{counts}{} iterations, {} without answers; {invented} of {quotes} quotes are not in the record; {} tokens, {cost}",
        judged.judgements.len(),
        judged.unanswered(),
        format::thousands(judged.usage().total()),
    )
}
