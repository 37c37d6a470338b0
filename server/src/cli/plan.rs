//! `swe-ci plan`: how long a run would take on so many slots.

use clap::Args;
use swe_ci_engine::{Engine, PlannedRun};
use swe_ci_views::schedule::Schedule;

use super::failure::Failure;
use super::output;

pub(super) const AFTER_HELP: &str = "\
The schedule is simulated as workers make it: each free slot takes the longest
evolution that is left. An evolution is a chain of steps, so no number of slots
is faster than the longest one.

Examples:
  swe-ci plan --split demo
  swe-ci plan --split default --slots 2,8,32 --agent-seconds 900
  swe-ci plan --split default --like RUN     as long as in that run";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The split
    #[arg(long, value_name = "NAME")]
    split: String,
    /// Numbers of slots, over all workers
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,4,16,64",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    slots: Vec<u32>,
    /// Samples of each task, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    samples: u32,
    /// Iterations of each evolution
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100))]
    iterations: u32,
    /// Seconds that both agents together take in an iteration, 0 to 86400
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(0..=86_400))]
    agent_seconds: u32,
    /// A run of this split that took as long as this one will: its evolutions'
    /// durations are taken instead of iterations and seconds
    #[arg(long, value_name = "RUN", conflicts_with_all = ["iterations", "agent_seconds"])]
    like: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn execute(engine: &Engine, options: &Options) -> Result<(), Failure> {
    let planned = PlannedRun {
        split: options.split.clone(),
        samples: options.samples,
        iterations: options.iterations,
        agent_seconds: f64::from(options.agent_seconds),
        like: options.like.clone(),
    };
    let durations = engine.expected_durations(&planned).await?;
    let schedules: Vec<Schedule> = options
        .slots
        .iter()
        .map(|slots| Schedule::of(&durations, *slots as usize))
        .collect();
    output::show(&schedules, options.json, |all| print(all, &durations))
}

fn print(schedules: &[Schedule], durations: &[f64]) -> Result<(), Failure> {
    let longest = durations.iter().copied().fold(0.0, f64::max);
    output::note(format_args!(
        "{} evolutions; the longest takes {}",
        durations.len(),
        hours(longest)
    ));
    let rows = schedules.iter().map(|schedule| {
        [
            schedule.slots.to_string(),
            hours(schedule.seconds),
            format!("{:.0} %", schedule.busy * 100.0),
            hours(schedule.tail_seconds),
        ]
    });
    output::table("Slots: | Takes: | Busy: | Runs empty for:", rows)
}

fn hours(seconds: f64) -> String {
    let minutes = (seconds / 60.0).ceil() as u64;
    format!("{} h {:02} min", minutes / 60, minutes % 60)
}
