use clap::{ArgGroup, Args, Subcommand};
use swe_ci_core::agent::Budget;
use swe_ci_core::steering::{Change, MOST_AT_ONCE};
use swe_ci_core::view::RunSummary;

use super::failure::Failure;
use super::output;
use crate::config::GlobalOptions;

const SET_HELP: &str = "\
A budget can only be raised; limits that are not named stay as they are. A
server at work follows within seconds.

Examples:
  swe-ci run set $id --max-usd 80
  swe-ci run set $id --at-once 2
  swe-ci run set $id --at-once all";

/// What can be said of a run that is under way; twice is the same as once.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Pause a run: what is at work is broken off, to go on where it stood
    Pause(Which),
    /// Let a paused run go on
    Resume(Which),
    /// Put the blocked evolutions of a run back in the queue
    Retry(Which),
    /// Try a run again whose preflight failed
    Preflight(Which),
    /// Let a run begin whose preflight failed or is not over
    Begin(Which),
    /// Raise a run's budget, or say how many evolutions are worked on at once
    #[command(after_help = SET_HELP)]
    Set(Set),
    /// Cancel a run; what it has scored so far stays
    Cancel(Which),
}

#[derive(Debug, Args)]
pub(super) struct Which {
    /// The run's id
    id: String,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).multiple(true)
    .args(["max_usd", "max_tokens", "max_requests", "max_seconds", "at_once"])))]
pub(super) struct Set {
    /// The run's id
    id: String,
    /// US dollars the run may take
    #[arg(long, value_name = "USD")]
    max_usd: Option<f64>,
    /// Tokens it may take, input and output together
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Requests it may make
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,
    /// Seconds it may go on since it began
    #[arg(long, value_name = "N")]
    max_seconds: Option<u64>,
    /// Evolutions at the same time, 1 to 256; `all` for as many as there are workers
    #[arg(long, value_name = "N|all", value_parser = at_once)]
    at_once: Option<AtOnce>,
}

/// How many evolutions at the same time; none for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AtOnce(Option<u32>);

fn at_once(text: &str) -> Result<AtOnce, String> {
    if text == "all" {
        return Ok(AtOnce(None));
    }
    let number = text.parse().ok().filter(|n| (1..=MOST_AT_ONCE).contains(n));
    number
        .map(|n| AtOnce(Some(n)))
        .ok_or_else(|| format!("it must be a whole number from 1 to {MOST_AT_ONCE}, or `all`"))
}

impl Set {
    fn change(&self) -> Change {
        let budget = Budget {
            tokens: self.max_tokens,
            usd: self.max_usd,
            requests: self.max_requests,
            seconds: self.max_seconds,
        };
        Change {
            budget: (!budget.is_unlimited()).then_some(budget),
            at_once: self.at_once.map(|AtOnce(n)| n),
        }
    }
}

pub(super) async fn execute(global: &GlobalOptions, command: Command) -> Result<(), Failure> {
    let engine = super::open(global).await?;
    match command {
        Command::Pause(Which { id }) => {
            engine.pause(&id).await?;
            output::line(format_args!("run {id} is paused"))
        }
        Command::Resume(Which { id }) => {
            engine.resume(&id).await?;
            output::line(format_args!("run {id} goes on"))
        }
        Command::Retry(Which { id }) => {
            let queued = engine.retry_blocked(&id).await?;
            output::line(format_args!("run {id}: {queued} back in the queue"))
        }
        Command::Preflight(Which { id }) => {
            engine.preflight_again(&id).await?;
            output::line(format_args!("run {id} is tried again"))
        }
        Command::Begin(Which { id }) => {
            engine.begin_anyway(&id).await?;
            output::line(format_args!("run {id} waits for no preflight"))
        }
        Command::Set(set) => {
            engine.change(&set.id, set.change()).await?;
            output::line(holds(&engine.run(&set.id).await?.summary))
        }
        Command::Cancel(Which { id }) => {
            engine.cancel(&id).await?;
            output::line(format_args!("run {id} is cancelled"))
        }
    }
}

/// What holds of a run now: "run r: at most 80 US dollars, 2 at once".
fn holds(run: &RunSummary) -> String {
    let steering = run.steering;
    let Budget {
        tokens,
        usd,
        requests,
        seconds,
    } = steering.budget;
    let limits = [
        usd.map(|n| format!("at most {n} US dollars")),
        tokens.map(|n| format!("at most {n} tokens")),
        requests.map(|n| format!("at most {n} requests")),
        seconds.map(|n| format!("at most {n} seconds")),
        steering.at_once.map(|n| format!("{n} at once")),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    match limits.is_empty() {
        true => format!("run {}: no limits", run.run_id),
        false => format!("run {}: {}", run.run_id, limits.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_many_at_once() {
        let check = |text: &str, expect: Option<AtOnce>| {
            assert_eq!(at_once(text).ok(), expect, "{text}");
        };
        check("1", Some(AtOnce(Some(1))));
        check("256", Some(AtOnce(Some(256))));
        check("all", Some(AtOnce(None)));
        for bad in ["0", "257", "", "-1", "none"] {
            check(bad, None);
        }
    }
}
