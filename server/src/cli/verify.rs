use clap::Args;
use swe_ci_core::verification::{Difference, Otherwise, Verification};
use swe_ci_engine::{Checked, Extent};

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

pub(super) const AFTER_HELP: &str = "\
The tests run in fresh containers on the code that was kept after each
iteration, with the oracle's tests. What came of it is shown on the run's page.
Exit code 1 when something came out otherwise.

Examples:
  swe-ci verify 0199a1b2-…
  swe-ci verify 0199a1b2-… --sample 20";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a run that is over
    #[arg(value_name = "ID")]
    id: String,
    /// Only so many iterations, drawn by lot; the same ones each time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Iterations tested at the same time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    at_once: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(global: &GlobalOptions, options: &Options) -> Result<(), Failure> {
    let engine = super::open(global).await?;
    let extent = options.sample.map_or(Extent::All, Extent::Some);
    let tell = |news: Checked| {
        let place = format!("{}/{}", news.done, news.of);
        match &news.difference {
            None => output::note(format_args!("{place} as recorded")),
            Some(difference) => output::note(format_args!("{place} {}", told(difference))),
        }
    };
    let at_once = usize::from(options.at_once);
    let found = engine.verify(&options.id, extent, at_once, &tell).await?;
    if options.json {
        output::json(&found)?;
    } else {
        output::line(format_args!("{}", summary(&found)))?;
    }
    match found.holds() {
        true => Ok(()),
        false => Err(Failure::new(format!(
            "{} of {} iterations came out otherwise than recorded",
            found.differences.len(),
            found.checked
        ))
        .next("`swe-ci run withdraw` takes a run out of the rankings, with a reason")),
    }
}

fn summary(found: &Verification) -> String {
    format!(
        "{} of {} iterations tested again, {} as recorded",
        found.checked,
        found.iterations,
        found.checked as usize - found.differences.len()
    )
}

fn told(difference: &Difference) -> String {
    let what = match &difference.what {
        Otherwise::Collapsed { reason } => format!("the code no longer ran: {reason}"),
        Otherwise::Ran => "the code ran, and had not".into(),
        Otherwise::Tests { tests, more } => {
            let count = tests.len() + *more as usize;
            let first = tests.first();
            let first = first.map(|t| format!("{} {}, now {}", t.node_id, t.recorded, t.found));
            format!("{count} tests otherwise: {}", first.unwrap_or_default())
        }
    };
    format!(
        "{} sample {} iteration {}: {what}",
        difference.task_id, difference.sample, difference.iteration
    )
}
