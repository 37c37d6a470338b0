//! The `swe-ci run` commands that steer a run, publish or withdraw it, and set
//! its verified mark.

use clap::{ArgGroup, Args, Subcommand};
use swe_ci_core::agent::Budget;
use swe_ci_core::step::Ending;
use swe_ci_engine::Engine;
use swe_ci_views::steering::{Change, MOST_AT_ONCE};
use swe_ci_views::view::RunSummary;

use super::failure::Failure;
use super::output;

const SET_HELP: &str = "\
A budget can only be raised; limits without an option stay as they are. A
running server applies the change within seconds.

Examples:
  swe-ci run set $id --max-usd 80
  swe-ci run set $id --at-once 2
  swe-ci run set $id --at-once all";

const WITHDRAW_HELP: &str = "\
A withdrawn run is in no ranking and no list; administrators and its
submitter still see it, with the reason.

Examples:
  swe-ci run withdraw $id --reason \"the prompts named the tests\"";

const DELETE_HELP: &str = "\
Its results, transcripts and logs go, and the code that no other run has.
Snapshots of leaderboards and the audit log stay.

Examples:
  swe-ci run delete $id --model \"Example 1\"";

const CLEAR_HELP: &str = "\
They resume at the step where they stopped, under new attempt numbers; nothing
recorded is lost. An agent that gave up gets its attempts at that step again:
that is choosing results, so the run says so and has no rank from then on.

Examples:
  swe-ci run clear $id
  swe-ci run clear $id --ending blocked,agent_gave_up";

/// Actions on a run; repeating one has no further effect.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Pause a run: running steps stop, and resume later from where they stood
    Pause(RunArgument),
    /// Resume a paused run
    Resume(RunArgument),
    /// Put the blocked evolutions of a run back in the queue
    Retry(RunArgument),
    /// Put evolutions with these endings back in the queue
    #[command(after_help = CLEAR_HELP)]
    Clear {
        #[command(flatten)]
        run: RunArgument,
        /// `blocked`, `agent_gave_up`, or both with a comma between
        #[arg(long, value_name = "ENDINGS", value_delimiter = ',', default_value = "blocked", value_parser = ending)]
        ending: Vec<Ending>,
    },
    /// Repeat the failed preflight of a run
    Preflight(RunArgument),
    /// Start a run whose preflight failed or is unfinished
    Begin(RunArgument),
    /// Raise a run's budget, or set how many of its evolutions run at once
    #[command(after_help = SET_HELP)]
    Set(Set),
    /// Cancel a run; its scores so far stay
    Cancel(RunArgument),
    /// Publish a private run, or a withdrawn one again
    Publish(RunArgument),
    /// Withdraw a public run
    #[command(after_help = WITHDRAW_HELP)]
    Withdraw {
        #[command(flatten)]
        run: RunArgument,
        /// The reason; 1 to 500 characters
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Delete a run that is over, for good
    #[command(after_help = DELETE_HELP)]
    Delete {
        #[command(flatten)]
        run: RunArgument,
        /// The name of its model, to confirm it
        #[arg(long, value_name = "NAME")]
        model: String,
    },
    /// Mark a run as verified, after `swe-ci verify` found no differences
    Mark(RunArgument),
    /// Remove the mark again
    Unmark(RunArgument),
}

#[derive(Debug, Args)]
pub(super) struct RunArgument {
    /// The run's id
    id: String,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).multiple(true)
    .args(["max_usd", "max_tokens", "max_requests", "max_seconds", "at_once"])))]
pub(super) struct Set {
    /// The run's id
    id: String,
    /// Budget of the run in US dollars
    #[arg(long, value_name = "USD")]
    max_usd: Option<f64>,
    /// Budget in tokens, input and output together
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Budget in requests
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,
    /// Budget in seconds since the run began
    #[arg(long, value_name = "N")]
    max_seconds: Option<u64>,
    /// Evolutions at the same time, 1 to 256; `all` for as many as there are workers
    #[arg(long, value_name = "N|all", value_parser = at_once)]
    at_once: Option<AtOnce>,
}

/// Evolutions at the same time; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AtOnce(Option<u32>);

fn ending(text: &str) -> Result<Ending, String> {
    let ending = Ending::from_name(text);
    let ending = ending.filter(|e| matches!(e, Ending::Blocked | Ending::AgentGaveUp));
    ending.ok_or_else(|| "it must be `blocked` or `agent_gave_up`".to_owned())
}

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

impl RunArgument {
    /// Waits for an action on the run, and prints what it did.
    async fn done(
        &self,
        action: impl Future<Output = swe_ci_engine::Result<()>>,
        what: &str,
    ) -> Result<(), Failure> {
        action.await?;
        output::line(format_args!("run {} {what}", self.id))
    }
}

pub(super) async fn execute(engine: &Engine, command: Command) -> Result<(), Failure> {
    match command {
        Command::Pause(run) => run.done(engine.pause(&run.id), "is paused").await,
        Command::Resume(run) => run.done(engine.resume(&run.id), "is resumed").await,
        Command::Retry(RunArgument { id }) => {
            let queued = engine.retry_blocked(&id).await?;
            output::line(format_args!("run {id}: {queued} back in the queue"))
        }
        Command::Clear {
            run: RunArgument { id },
            ending,
        } => {
            let queued = engine.clear(&id, &ending).await?;
            output::line(format_args!("run {id}: {queued} back in the queue"))
        }
        Command::Preflight(run) => {
            let again = engine.preflight_again(&run.id);
            run.done(again, "repeats its preflight").await
        }
        Command::Begin(run) => {
            let begun = engine.begin_anyway(&run.id);
            run.done(begun, "begins without a preflight").await
        }
        Command::Set(set) => {
            engine.change(&set.id, set.change()).await?;
            output::line(holds(&engine.run(&set.id).await?.summary))
        }
        Command::Cancel(run) => run.done(engine.cancel(&run.id), "is cancelled").await,
        Command::Publish(run) => run.done(engine.publish(&run.id), "is public").await,
        Command::Withdraw { run, reason } => {
            let withdrawn = engine.unpublish(&run.id, &reason);
            run.done(withdrawn, "is withdrawn").await
        }
        Command::Delete { run, model } => {
            let deleted = engine.delete_run(&run.id, &model);
            run.done(deleted, "is deleted").await
        }
        Command::Mark(run) => {
            let marked = engine.mark_verified(&run.id);
            run.done(marked, "is marked as verified").await
        }
        Command::Unmark(run) => {
            let unmarked = engine.unmark(&run.id);
            run.done(unmarked, "is not marked as verified").await
        }
    }
}

/// The current limits of a run: "run r: at most 80 US dollars, 2 at once".
fn holds(run: &RunSummary) -> String {
    let (steering, budget) = (run.steering, run.steering.budget);
    let limits = [
        budget.usd.map(|n| format!("at most {n} US dollars")),
        budget.tokens.map(|n| format!("at most {n} tokens")),
        budget.requests.map(|n| format!("at most {n} requests")),
        budget.seconds.map(|n| format!("at most {n} seconds")),
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

    #[test]
    fn endings_that_can_be_cleared() {
        for possible in [Ending::Blocked, Ending::AgentGaveUp] {
            assert_eq!(ending(possible.name()), Ok(possible));
        }
        for bad in ["", "solved", "budget_spent", "Blocked"] {
            assert!(ending(bad).is_err(), "{bad}");
        }
    }
}
