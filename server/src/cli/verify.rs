//! `swe-ci verify`: repeats the tests of a run.

use clap::Args;
use swe_ci_engine::{Checked, Engine};

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
The oracle's tests run in fresh containers on the stored code of each iteration.
The last code of each evolution is also tested in another order, with other names
and lines. The run's page shows the results. Exit code 1 when an outcome differs,
or when it finds worse than a note that is not recorded.

Examples:
  swe-ci verify 0199a1b2-…
  swe-ci verify 0199a1b2-… --sample 20";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Id of a run that is over
    #[arg(value_name = "ID")]
    id: String,
    /// Only this many iterations, drawn at random; the same ones each time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
    /// Iterations tested at the same time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    at_once: u8,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let at_once = usize::from(options.at_once);
    let verifying = engine.verify(&options.id, options.sample, at_once, &tell);
    let found = verifying.await?;
    output::show(&found, options.json, |found| output::line(found))?;
    let why = match found.differences.len() {
        _ if found.holds() => return Ok(()),
        0 => "a finding that is not recorded is worse than a note".to_owned(),
        n => format!(
            "{n} of {} iterations differ from the recorded outcomes",
            found.checked
        ),
    };
    Err(Failure::new(why)
        .next("`swe-ci run withdraw` removes a run from the rankings, with a reason"))
}

pub(super) fn tell(news: Checked) {
    let place = format!("{}/{}", news.done, news.of);
    let difference = news.difference.map(|d| format!("{}: {}", d.at, d.what));
    let found = difference.as_deref().unwrap_or("as recorded");
    output::note(format_args!("{place} {found}"));
    for new in news.findings {
        output::note(format_args!("  {}: {new}", new.at));
    }
}
