//! How states are called on the pages. One place, so that a thing has one
//! name everywhere.

use swe_ci_core::account::{AccountRole, Visibility};
use swe_ci_core::agent::{Budget, Endpoint};
use swe_ci_core::metrics::{Convention, Verdict};
use swe_ci_core::run::{HarnessConfig, Kind, Limits, Progress, RunConfig};
use swe_ci_core::step::{Ending, StepOutcome};
use swe_ci_core::usage::{Prices, Usage};
use swe_ci_core::verification::Mark;
use swe_ci_core::view::{EvolutionView, IterationView};

use crate::components::Tone;
use crate::format;
use crate::glossary::Word;

/// What is said of a run that not everybody sees: a word, a sentence, a tone.
#[must_use]
pub(super) fn visibility(visibility: Visibility) -> Option<(&'static str, &'static str, Tone)> {
    match visibility {
        Visibility::Public => None,
        Visibility::Private => Some((
            "private",
            "Whoever submitted it and administrators see it; it stands in no ranking",
            Tone::Plain,
        )),
        Visibility::Withdrawn => Some((
            "taken back",
            "It was public; whoever submitted it and administrators still see it, with the reason",
            Tone::Warn,
        )),
    }
}

#[must_use]
pub(super) fn progress_tone(progress: Progress) -> Tone {
    match progress {
        Progress::Queued | Progress::Cancelled => Tone::Plain,
        Progress::Running => Tone::Live,
        Progress::Finished => Tone::Good,
    }
}

/// A role where one is chosen.
#[must_use]
pub(super) fn role(role: AccountRole) -> &'static str {
    match role {
        AccountRole::Reader => "reader: looks at what is public",
        AccountRole::Submitter => "submitter: submits runs and steers its own",
        AccountRole::Admin => "admin: steers all runs, and says who else may",
    }
}

/// What somebody of a role is told of it.
#[must_use]
pub(super) fn role_may(role: AccountRole) -> &'static str {
    match role {
        AccountRole::Reader => "As a reader you look at what is public on this site.",
        AccountRole::Submitter => "As a submitter you submit runs to this site and steer your own.",
        AccountRole::Admin => {
            "As an administrator you steer all runs of this site, and say who else may do what."
        }
    }
}

/// What the form sends that disables an account or enables it again, and the
/// word on its button.
#[must_use]
pub(super) fn disabling(disabled: bool) -> (&'static str, &'static str) {
    match disabled {
        true => ("enable", "Enable"),
        false => ("disable", "Disable"),
    }
}

/// The tag beside a run's name, what it means, and its tone.
#[must_use]
pub(super) fn kind(kind: Kind) -> Option<(&'static str, &'static str, Tone)> {
    match kind {
        Kind::Human => Some((
            "human",
            "The real commits between base and target, replayed and graded in the same way",
            Tone::Accent,
        )),
        Kind::Measured => None,
        Kind::Imported => Some((
            "imported",
            "Made elsewhere and reported by whoever did it; scored here by the same definitions",
            Tone::Elsewhere,
        )),
    }
}

/// The word of a mark, and its tone.
#[must_use]
pub(super) fn mark(mark: Mark) -> (Word, Tone) {
    match mark {
        Mark::Verified => (Word::Verified, Tone::Good),
        Mark::SelfReported => (Word::SelfReported, Tone::Elsewhere),
    }
}

/// The marks there are among these, for the key of a table.
#[must_use]
pub(super) fn marks(marks: impl IntoIterator<Item = Option<Mark>>) -> Vec<Word> {
    let there: Vec<Mark> = marks.into_iter().flatten().collect();
    [Mark::Verified, Mark::SelfReported]
        .into_iter()
        .filter(|mark| there.contains(mark))
        .map(|found| mark(found).0)
        .collect()
}

/// How a convention counts.
#[must_use]
pub(super) fn convention(convention: Convention) -> &'static str {
    match convention {
        Convention::Paper => {
            "Counts the tests the target passes, and looks at regressions test by test"
        }
        Convention::Reference => {
            "Counts as the authors' program does: every passing test, regressions by net count"
        }
    }
}

/// "replay · at most 20 chunks".
#[must_use]
pub(super) fn harness(config: &HarnessConfig) -> String {
    match config {
        HarnessConfig::Replay { max_chunks } => {
            format!("replay · at most {}", format::count(*max_chunks, "chunk"))
        }
        HarnessConfig::Elsewhere { program } => format!("{program} · run elsewhere"),
        HarnessConfig::Builtin => "builtin · the platform's own agent".into(),
        HarnessConfig::Program { program, .. } => program.clone(),
    }
}

/// "glm-5 at api.example.org by chat".
#[must_use]
pub(super) fn endpoint(endpoint: &Endpoint) -> String {
    let Endpoint {
        model,
        url,
        protocol,
        recording,
        ..
    } = endpoint;
    match recording {
        Some(run) => format!("{model}, answers of run {run} heard again"),
        None => {
            let host = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
            let host = host.split('/').next().unwrap_or(host);
            format!("{model} at {host} by {protocol}")
        }
    }
}

/// "$3 in · $0.30 cached · $15 out", for a million tokens each.
#[must_use]
pub(super) fn prices(prices: Prices) -> String {
    let cached = prices
        .cached
        .map(|usd| format!("{} cached", format::usd(usd)));
    let parts = [
        Some(format!("{} in", format::usd(prices.input))),
        cached,
        Some(format!("{} out", format::usd(prices.output))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}, a million tokens each", parts.join(" · "))
}

/// "1 sha256:0123456789ab…" out of version and digest.
#[must_use]
pub(super) fn prompts(recorded: &str) -> String {
    match recorded.split_once(' ') {
        Some((version, digest)) => format!("version {version}, {}", format::short(digest)),
        None => recorded.to_owned(),
    }
}

/// "1 000 000 tokens · $25"; nothing when there is no limit.
#[must_use]
pub(super) fn budget(budget: &Budget) -> Option<String> {
    let parts = [
        budget
            .tokens
            .map(|n| format!("{} tokens", format::thousands(n))),
        budget.usd.map(format::usd),
        budget
            .requests
            .map(|n| format!("{} requests", format::thousands(n))),
        budget
            .seconds
            .map(|n| format!("{} seconds", format::thousands(n))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// "replay · provider".
#[must_use]
pub(super) fn origin(harness: &str, provider: &str) -> String {
    if provider.is_empty() {
        harness.to_owned()
    } else {
        format!("{harness} · {provider}")
    }
}

#[must_use]
pub(super) fn limits(limits: &Limits) -> String {
    let cpus = format::decimals(f64::from(limits.cpus_milli) / 1000.0, 1);
    let cpus = cpus.strip_suffix(".0").unwrap_or(&cpus);
    let gibibytes = |mb: u32| {
        let text = format::decimals(f64::from(mb) / 1024.0, 1);
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    };
    format!(
        "{cpus} CPU · {} GiB memory · {} GiB disk · {} processes",
        gibibytes(limits.memory_mb),
        gibibytes(limits.disk_mb),
        format::thousands(limits.pids)
    )
}

/// "an agent step 1 h, a test run 1 h".
#[must_use]
pub(super) fn time_limits(limits: &Limits) -> String {
    format!(
        "an agent step {}, a test run {}",
        format::seconds(f64::from(limits.agent_seconds)),
        format::seconds(f64::from(limits.test_seconds))
    )
}

/// "at most 20 iterations, 10 attempts per step, 1 sample per task". How often
/// a step was tried elsewhere is not known.
#[must_use]
pub(super) fn plan(config: &RunConfig) -> String {
    let iterations = format::count(config.plan.max_iterations, "iteration");
    let samples = format::count(config.samples, "sample");
    match config.kind {
        Kind::Imported => format!("at most {iterations}, {samples} per task"),
        Kind::Human | Kind::Measured => {
            let attempts = format::count(config.plan.max_attempts, "attempt");
            format!("at most {iterations}, {attempts} per step, {samples} per task")
        }
    }
}

#[must_use]
pub(super) fn ending(ending: Ending) -> (&'static str, Tone) {
    match ending {
        Ending::Solved => ("solved", Tone::Good),
        Ending::IterationsSpent => ("all iterations used", Tone::Plain),
        Ending::NothingLeft => ("nothing left to ask for", Tone::Plain),
        Ending::AgentGaveUp => ("agent gave up", Tone::Bad),
        Ending::CutShort => ("ends early, reason unknown", Tone::Plain),
        Ending::BudgetSpent => ("budget spent, not scored", Tone::Warn),
        Ending::Blocked => ("blocked, not scored", Tone::Warn),
        Ending::Cancelled => ("cancelled, not scored", Tone::Plain),
    }
}

/// How an evolution stands.
#[must_use]
pub(super) fn standing(evolution: &EvolutionView) -> (&'static str, Tone) {
    match evolution.ending {
        Some(end) => ending(end),
        None => (evolution.progress.name(), progress_tone(evolution.progress)),
    }
}

/// "iteration 3 · programmer · attempt 1", while there is something at work.
#[must_use]
pub(super) fn current_step(evolution: &EvolutionView) -> Option<String> {
    evolution.current.as_ref().map(|step| {
        let waits = match step.waiting {
            Some(_) => " · waits for the provider",
            None => "",
        };
        format!(
            "iteration {} · {} · attempt {}{waits}",
            step.iteration,
            step.role.name(),
            step.attempt
        )
    })
}

/// An iteration's verdict: a sign, words, a tone.
#[must_use]
pub(super) fn verdict(
    iteration: &IterationView,
    target: u32,
) -> (&'static str, &'static str, Tone) {
    match iteration.verdict {
        Verdict::Collapsed { .. } => ("✕", "collapsed", Tone::Bad),
        Verdict::Scored { in_target, .. } if in_target >= target => ("✓", "solved", Tone::Good),
        Verdict::Scored { lost, .. } if lost > 0 => ("▼", "regressed", Tone::Bad),
        Verdict::Scored { .. } if iteration.gained > 0 => ("▲", "improved", Tone::Good),
        Verdict::Scored { .. } => ("=", "no change", Tone::Plain),
    }
}

#[must_use]
pub(super) fn outcome(outcome: StepOutcome) -> (&'static str, Tone) {
    match outcome {
        StepOutcome::Done => ("done", Tone::Plain),
        StepOutcome::NothingLeft => ("nothing left to ask for", Tone::Plain),
        StepOutcome::Scored { solved: true } => ("scored, all pass", Tone::Good),
        StepOutcome::Scored { solved: false } => ("scored", Tone::Plain),
        StepOutcome::Collapsed => ("collapsed", Tone::Bad),
        StepOutcome::NoChange => ("nothing changed", Tone::Plain),
        StepOutcome::MalformedRequirement => ("no usable document", Tone::Bad),
        StepOutcome::AgentFailed => ("agent failed", Tone::Bad),
        StepOutcome::AgentTimedOut => ("agent out of time", Tone::Bad),
        StepOutcome::BudgetSpent => ("budget spent", Tone::Warn),
        StepOutcome::ProviderFailed => ("provider failed", Tone::Warn),
        StepOutcome::InfraFailed => ("platform failed", Tone::Warn),
        StepOutcome::Interrupted => ("interrupted, repeated", Tone::Plain),
        StepOutcome::Cancelled => ("cancelled", Tone::Plain),
        StepOutcome::Retried => ("to be tried again", Tone::Plain),
    }
}

/// "12 345 in · 678 out": what a step took of the model.
#[must_use]
pub(super) fn tokens(usage: Usage) -> String {
    let (sent, back) = (usage.input_tokens, usage.output_tokens);
    format!(
        "{} in · {} out",
        format::thousands(sent),
        format::thousands(back)
    )
}

/// "of it 800 cached · 20 reasoning", as far as there is any.
#[must_use]
pub(super) fn tokens_within(usage: Usage) -> Option<String> {
    let part = |n: u64, what| (n > 0).then(|| format!("{} {what}", format::thousands(n)));
    let parts = [
        part(usage.cached_tokens, "cached"),
        part(usage.reasoning_tokens, "reasoning"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("of it {}", parts.join(" · ")))
}

/// "12 of 40": what was taken of what may be.
#[must_use]
pub(super) fn of_limit(taken: String, limit: Option<String>) -> String {
    match limit {
        Some(limit) => format!("{taken} of {limit}"),
        None => taken,
    }
}

/// A heading and a sentence for the iteration an evolution did not come to
/// test; none where that says nothing.
#[must_use]
pub(super) fn untested(ending: Option<Ending>, iteration: u32) -> Option<(String, &'static str)> {
    let says = match ending {
        None => {
            return Some((
                format!("Iteration {iteration} so far"),
                "What its steps have come to until now.",
            ));
        }
        Some(Ending::Blocked) => {
            "A step failed as often as it may be tried, and not through the agent: the platform failed, or whoever runs the model. So the evolution is blocked and not scored."
        }
        Some(Ending::BudgetSpent) => {
            "The budget of the whole run was spent before. Nothing is begun after that; the evolution is not scored, and what it had reached is not held against the agent."
        }
        Some(Ending::AgentGaveUp) => {
            "The agent failed at a step as often as it may be tried. The evolution is scored with what it had reached before."
        }
        Some(Ending::Cancelled) => {
            "The run was cancelled meanwhile, so the evolution is not scored."
        }
        Some(Ending::Solved | Ending::IterationsSpent | Ending::NothingLeft | Ending::CutShort) => {
            return None;
        }
    };
    Some((format!("Iteration {iteration} was not tested"), says))
}

/// A gain with its sign; a dash for none.
#[must_use]
pub(super) fn gained(n: u32) -> String {
    if n == 0 {
        "–".into()
    } else {
        format!("+{n}")
    }
}

/// A loss with its sign; a dash for none.
#[must_use]
pub(super) fn lost(n: u32) -> String {
    if n == 0 {
        "–".into()
    } else {
        format!("\u{2212}{n}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plots::fixture::{iteration, scored};

    #[test]
    fn verdicts_in_words() {
        let check = |verdict_, gained, expect| {
            let mut seen = iteration(1, verdict_);
            seen.gained = gained;
            assert_eq!(verdict(&seen, 20).1, expect);
        };
        check(scored(20, 0), 1, "solved");
        check(scored(12, 0), 2, "improved");
        check(scored(12, 0), 0, "no change");
        // More gained than lost is a regression all the same.
        check(scored(15, 1), 5, "regressed");
        check(Verdict::Collapsed { lost: 3 }, 0, "collapsed");
    }

    #[test]
    fn what_was_made_elsewhere_has_no_attempts() {
        let mut config = RunConfig::human("demo");
        assert_eq!(
            plan(&config),
            "at most 20 iterations, 10 attempts per step, 1 sample per task"
        );
        config.kind = Kind::Imported;
        config.harness = HarnessConfig::Elsewhere {
            program: "iFlow".into(),
        };
        assert_eq!(plan(&config), "at most 20 iterations, 1 sample per task");
        assert_eq!(harness(&config.harness), "iFlow · run elsewhere");
        assert_eq!(kind(config.kind).map(|(word, ..)| word), Some("imported"));
    }

    #[test]
    fn tokens_in_words() {
        let usage = Usage {
            input_tokens: 1_234_567,
            output_tokens: 890,
            ..Usage::default()
        };
        assert_eq!(tokens(usage), "1\u{202f}234\u{202f}567 in · 890 out");
        assert_eq!(tokens_within(usage), None);
        let mut usage = usage;
        usage.cached_tokens = 1_000;
        assert_eq!(tokens_within(usage).as_deref(), Some("of it 1000 cached"));
        usage.reasoning_tokens = 20;
        let both = Some("of it 1000 cached · 20 reasoning");
        assert_eq!(tokens_within(usage).as_deref(), both);
    }

    #[test]
    fn prices_in_words() {
        let mut seen = Prices {
            input: 3.0,
            cached: None,
            output: 15.0,
        };
        assert_eq!(prices(seen), "$3 in · $15 out, a million tokens each");
        seen.cached = Some(0.3);
        let all = "$3 in · $0.30 cached · $15 out, a million tokens each";
        assert_eq!(prices(seen), all);
    }

    #[test]
    fn what_was_taken_of_a_budget() {
        assert_eq!(of_limit("12".into(), None), "12");
        assert_eq!(of_limit("12".into(), Some("40".into())), "12 of 40");
    }

    #[test]
    fn every_ending_that_leaves_an_iteration_untested_says_why() {
        for ending in Ending::ALL {
            let whole = matches!(
                ending,
                Ending::Solved | Ending::IterationsSpent | Ending::NothingLeft | Ending::CutShort
            );
            assert_eq!(untested(Some(ending), 3).is_none(), whole, "{ending:?}");
            let says = untested(Some(ending), 3).map_or("", |(_, says)| says);
            let unscored = says.contains("not scored");
            assert!(whole || unscored != ending.is_scored(), "{says}");
        }
        let going_on = untested(None, 2).map(|(title, _)| title);
        assert_eq!(going_on.as_deref(), Some("Iteration 2 so far"));
    }

    #[test]
    fn limits_in_words() {
        assert_eq!(
            limits(&Limits::default()),
            "2 CPU · 4 GiB memory · 4 GiB disk · 1024 processes"
        );
        assert_eq!(
            time_limits(&Limits::default()),
            "an agent step 1 h, a test run 1 h"
        );
    }
}
