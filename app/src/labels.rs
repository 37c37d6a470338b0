//! The names of states, so that everything has one name on all pages.

use swe_ci_core::agent::{Budget, Endpoint};
use swe_ci_core::finding::{FindingKind, Grade};
use swe_ci_core::metrics::{Convention, Verdict};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{HarnessConfig, Kind, Limits, Progress, RunConfig};
use swe_ci_core::step::{Ending, StepOutcome};
use swe_ci_core::text::visible;
use swe_ci_core::usage::{Prices, Usage};
use swe_ci_views::account::{AccountRole, TokenScope, Visibility};
use swe_ci_views::failures::LossClass;
use swe_ci_views::run_state::RunState;
use swe_ci_views::trajectories::{FailureClass, Trouble};
use swe_ci_views::verification::Mark;
use swe_ci_views::view::{EvolutionView, IterationView, RunSummary};

use crate::components::Tone;
use crate::format;
use crate::glossary::Word;

/// The tag of a run that is not public: a word, a sentence, a tone.
pub(crate) fn visibility(visibility: Visibility) -> Option<(&'static str, &'static str, Tone)> {
    match visibility {
        Visibility::Public => None,
        Visibility::Private => Some((
            "private",
            "Visible to its submitter and administrators; not in any ranking",
            Tone::Plain,
        )),
        Visibility::Withdrawn => Some((
            "withdrawn",
            "It was public; its submitter and administrators still see it, with the reason",
            Tone::Warn,
        )),
    }
}

fn progress_tone(progress: Progress) -> Tone {
    match progress {
        Progress::Queued | Progress::Cancelled => Tone::Plain,
        Progress::Running => Tone::Live,
        Progress::Finished => Tone::Good,
    }
}

/// The most characters of the cause in a run's state: it is a line of a phone.
const LONGEST_CAUSE: usize = 40;

/// The state of a run: "preflight failed: no key". `waits`: all its steps at work wait
/// for their provider.
pub(crate) fn run_state(run: &RunSummary, waits: bool) -> (String, Tone) {
    let state = run.state();
    let name = state.name();
    match state {
        RunState::PreflightFailed(Some(finding)) => {
            let cause = format::clip(&visible(&finding.says), LONGEST_CAUSE);
            (format!("{name}: {cause}"), Tone::Bad)
        }
        RunState::PreflightFailed(None) => (name.into(), Tone::Bad),
        RunState::Paused => (name.into(), Tone::Warn),
        RunState::PreflightRunning | RunState::BeingAudited => (name.into(), Tone::Live),
        RunState::At(Progress::Running) if waits => ("waiting for the provider".into(), Tone::Warn),
        RunState::At(progress) => (name.into(), progress_tone(progress)),
    }
}

/// A role in a menu.
pub(crate) fn role(role: AccountRole) -> &'static str {
    match role {
        AccountRole::Reader => "reader: views public data",
        AccountRole::Submitter => "submitter: submits runs and steers its own",
        AccountRole::Admin => "admin: steers all runs and manages accounts",
    }
}

/// The scope of a token in a menu.
pub(crate) fn scope(scope: TokenScope) -> &'static str {
    match scope {
        TokenScope::Metrics => "metrics: reads /metrics and public data",
        scope => role(scope.role()),
    }
}

/// The parts there are, with dots between them.
pub(crate) fn joined<const N: usize>(parts: [Option<String>; N]) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(" · ")
}

/// The actions a role permits, for the account that has it.
pub(crate) fn role_may(role: AccountRole) -> &'static str {
    match role {
        AccountRole::Reader => "As a reader you can view the public data of this site.",
        AccountRole::Submitter => "As a submitter you can submit runs and steer your own.",
        AccountRole::Admin => {
            "As an administrator you steer all runs of this site and manage its accounts."
        }
    }
}

/// The tag beside a run's name, its meaning and its tone.
pub(crate) fn kind(kind: Kind) -> Option<(&'static str, &'static str, Tone)> {
    match kind {
        Kind::Human => Some((
            "human",
            "The real commits between base and target, replayed and graded in the same way",
            Tone::Accent,
        )),
        Kind::Measured => None,
        Kind::Imported => Some((
            "imported",
            "Run elsewhere and reported by its author; scored here by the same definitions",
            Tone::Elsewhere,
        )),
    }
}

/// The word for a mark, and its tone.
pub(crate) fn mark(mark: Mark) -> (Word, Tone) {
    match mark {
        Mark::Verified => (Word::Verified, Tone::Good),
        Mark::SelfReported => (Word::SelfReported, Tone::Elsewhere),
    }
}

/// The marks that occur in a table, for its key.
pub(crate) fn marks(marks: impl IntoIterator<Item = Option<Mark>>) -> Vec<Word> {
    let there: Vec<Mark> = marks.into_iter().flatten().collect();
    [Mark::Verified, Mark::SelfReported]
        .into_iter()
        .filter(|mark| there.contains(mark))
        .map(|found| mark(found).0)
        .collect()
}

/// The value of `aria-sort` for a sorted column.
pub(crate) fn aria_sort(descending: bool) -> &'static str {
    match descending {
        true => "descending",
        false => "ascending",
    }
}

/// How a convention counts.
pub(crate) fn convention(convention: Convention) -> &'static str {
    match convention {
        Convention::Paper => {
            "Counts the tests the target passes, and finds regressions test by test"
        }
        Convention::Reference => {
            "Counts as the authors' program does: every passing test, regressions by net count"
        }
    }
}

/// "replay · at most 20 chunks".
pub(crate) fn harness(config: &HarnessConfig) -> String {
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
pub(crate) fn endpoint(endpoint: &Endpoint) -> String {
    let (model, url) = (&endpoint.model, endpoint.url.as_str());
    if let Some(run) = &endpoint.recording {
        return format!("{model}, replaying the answers of run {run}");
    }
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or(host);
    format!("{model} at {host} by {}", endpoint.protocol)
}

/// "$3 in · $0.30 cached · $15 out", for a million tokens each.
pub(crate) fn prices(prices: Prices) -> String {
    let price = |usd: f64, what| format!("{} {what}", format::usd(usd));
    let parts = joined([
        Some(price(prices.input, "in")),
        prices.cached.map(|usd| price(usd, "cached")),
        Some(price(prices.output, "out")),
    ]);
    format!("{parts}, a million tokens each")
}

/// "version 1, 0123456789" from version and digest.
pub(crate) fn prompts(recorded: &str) -> String {
    match recorded.split_once(' ') {
        Some((version, digest)) => format!("version {version}, {}", format::short(digest)),
        None => recorded.to_owned(),
    }
}

/// "1 000 000 tokens · $25"; none without a limit.
pub(crate) fn budget(budget: &Budget) -> Option<String> {
    let limit = |n: Option<u64>, what| n.map(|n| format!("{} {what}", format::thousands(n)));
    let limits = joined([
        limit(budget.tokens, "tokens"),
        budget.usd.map(format::usd),
        limit(budget.requests, "requests"),
        limit(budget.seconds, "seconds"),
    ]);
    (!limits.is_empty()).then_some(limits)
}

/// "replay · provider".
pub(crate) fn origin(harness: &str, provider: &str) -> String {
    match provider {
        "" => harness.to_owned(),
        _ => format!("{harness} · {provider}"),
    }
}

pub(crate) fn limits(limits: &Limits) -> String {
    format!(
        "{} CPU · {} GiB memory · {} GiB disk · {} processes",
        format::few(f64::from(limits.cpus_milli) / 1000.0),
        format::few(f64::from(limits.memory_mb) / 1024.0),
        format::few(f64::from(limits.disk_mb) / 1024.0),
        format::thousands(limits.pids)
    )
}

/// "an agent step 1 h, a test run 1 h".
pub(crate) fn time_limits(limits: &Limits) -> String {
    let audit = limits.audit_seconds.map_or_else(String::new, |seconds| {
        format!(", an audit {}", format::seconds(f64::from(seconds)))
    });
    format!(
        "an agent step {}, a test run {}{audit}",
        format::seconds(f64::from(limits.agent_seconds)),
        format::seconds(f64::from(limits.test_seconds))
    )
}

pub(crate) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Tdd => "The programmer has requirements and tests",
        Mode::Rdd => "The programmer has requirements alone",
        Mode::Impossible => {
            "The programmer has requirements, tests, and contradictions of some tests"
        }
    }
}

/// The mark of a run that is part of an experiment.
pub(crate) const ARM: &str = "The arm of an experiment: what it varies in this run";

/// The mark of a run that goes on with other code.
pub(crate) const HANDOVER: (&str, &str, Tone) = (
    "handover",
    "It goes on with the code of another run instead of the base, and is not ranked",
    Tone::Accent,
);

/// The mark of a run of another mode than the default.
pub(crate) fn mode_mark(mode: Mode) -> Option<(&'static str, &'static str, Tone)> {
    let hint = match mode {
        Mode::Tdd => return None,
        Mode::Rdd => {
            "Requirement-driven: the programmer saw no tests, only the architect's specification; ranked among such runs"
        }
        Mode::Impossible => {
            "Its agents saw tests and contradictions of some of them, which no honest code passes together; ranked among such runs"
        }
    };
    Some((mode.name(), hint, Tone::Accent))
}

/// The heading of a part of a requirement.
pub(crate) fn requirement_part(element: &str) -> &'static str {
    match element {
        "location" => "Place",
        "description" => "Now",
        "contract" => "Expected",
        "acceptance" => "Done when",
        _ => "Specified",
    }
}

/// The mark of a run whose model's provider could act for the agent.
pub(crate) const HOSTED_TOOLS: (&str, &str, Tone) = (
    "hosted tools",
    "The model's provider was allowed to search the web and to execute code for the agent; not ranked",
    Tone::Warn,
);

/// "at most 20 iterations, 10 attempts per step, 1 sample per task". Imported
/// results do not say how many attempts a step had.
pub(crate) fn plan(config: &RunConfig) -> String {
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

pub(crate) fn ending(ending: Ending) -> (&'static str, Tone) {
    match ending {
        Ending::Solved => ("solved", Tone::Good),
        Ending::IterationsSpent => ("all iterations used", Tone::Plain),
        Ending::NothingLeft => ("nothing left to do", Tone::Plain),
        Ending::AgentGaveUp => ("agent gave up", Tone::Bad),
        Ending::CutShort => ("ends early, reason unknown", Tone::Plain),
        Ending::EvolutionBudgetSpent => ("evolution's budget spent", Tone::Bad),
        Ending::BudgetSpent => ("budget spent, not scored", Tone::Warn),
        Ending::Blocked => ("blocked, not scored", Tone::Warn),
        Ending::Cancelled => ("cancelled, not scored", Tone::Plain),
    }
}

/// The state of an evolution.
pub(crate) fn standing(evolution: &EvolutionView) -> (&'static str, Tone) {
    match evolution.ending {
        Some(end) => ending(end),
        None => (evolution.progress.name(), progress_tone(evolution.progress)),
    }
}

/// "iteration 3 · programmer · attempt 1", while a step is running.
pub(crate) fn current_step(evolution: &EvolutionView) -> Option<String> {
    let step = evolution.current.as_ref()?;
    let waits = evolution.wait();
    Some(joined([
        Some(format!("iteration {}", step.iteration)),
        Some(step.role.name().to_owned()),
        Some(format!("attempt {}", step.attempt)),
        waits.map(|_| "waits for the provider".to_owned()),
    ]))
}

/// The consequence of a finding of this grade: a sentence, a tone.
pub(crate) fn grade(grade: Grade) -> (&'static str, Tone) {
    match grade {
        Grade::Note => ("Worth knowing; without consequence", Tone::Plain),
        Grade::Suspicious => (
            "Honest work hardly ever does this: the run is held for review",
            Tone::Warn,
        ),
        Grade::Tampered => (
            "The test runner was tampered with: the iteration collapsed",
            Tone::Bad,
        ),
    }
}

pub(crate) fn finding_kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Steering => "Test configuration",
        FindingKind::Shadowing => "Shadowed module",
        FindingKind::Construct => "Unusual construct",
        FindingKind::Canary => "Canary test",
        FindingKind::Specification => "Specification",
        FindingKind::Report => "Contradictory report",
        FindingKind::Equality => "One-sided equality",
        FindingKind::Clues => "Answers by order or name",
        FindingKind::ByHeart => "Answers by heart",
        FindingKind::Contradiction => "Passes a contradiction",
        FindingKind::HostedTool => "Hosted tool",
        FindingKind::Other => "Noted",
    }
}

/// An iteration's verdict: a symbol, words, a tone.
pub(crate) fn verdict(
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

pub(crate) fn outcome(outcome: StepOutcome) -> (&'static str, Tone) {
    match outcome {
        StepOutcome::Done => ("done", Tone::Plain),
        StepOutcome::NothingLeft => ("nothing left to do", Tone::Plain),
        StepOutcome::Scored { solved: true } => ("scored, all pass", Tone::Good),
        StepOutcome::Scored { solved: false } => ("scored", Tone::Plain),
        StepOutcome::Collapsed => ("collapsed", Tone::Bad),
        StepOutcome::NoChange => ("nothing changed", Tone::Plain),
        StepOutcome::MalformedRequirement => ("no usable document", Tone::Bad),
        StepOutcome::AgentFailed => ("agent failed", Tone::Bad),
        StepOutcome::AgentTimedOut => ("agent out of time", Tone::Bad),
        StepOutcome::BudgetSpent => ("budget spent", Tone::Warn),
        StepOutcome::EvolutionBudgetSpent => ("evolution's budget spent", Tone::Bad),
        StepOutcome::ProviderFailed => ("provider failed", Tone::Warn),
        StepOutcome::InfraFailed => ("platform failed", Tone::Warn),
        StepOutcome::Interrupted => ("interrupted, repeated", Tone::Plain),
        StepOutcome::Cancelled => ("cancelled", Tone::Plain),
        StepOutcome::Retried => ("will be retried", Tone::Plain),
        StepOutcome::Cleared => ("put back after giving up", Tone::Warn),
    }
}

/// A sign of trouble, by its name.
pub(crate) fn trouble(name: &str) -> &'static str {
    match Trouble::from_name(name) {
        Some(Trouble::Repeated) => "repeated calls with the same result",
        Some(Trouble::Truncated) => "answers cut off at their maximum length",
        Some(Trouble::Empty) => "answers without a text or a call",
        Some(Trouble::Unanswered) => "requests without a complete answer",
        None => "other",
    }
}

/// Why tests were lost, by the name of the class.
pub(crate) fn loss(name: &str) -> &'static str {
    match LossClass::from_name(name) {
        Some(LossClass::RemovedName) => "a name is gone",
        Some(LossClass::ChangedSignature) => "a call no longer fits the signature",
        Some(LossClass::DoesNotLoad) => "the code does not load",
        Some(LossClass::NoLongerEnds) => "too slow, or it no longer ends",
        Some(LossClass::WrongValue) => "a wrong result",
        Some(LossClass::OtherError) => "another exception",
        Some(LossClass::Unknown) | None => "unknown: no report tells",
    }
}

/// Why steps failed, by the name of the class.
pub(crate) fn failure(name: &str) -> &'static str {
    match FailureClass::from_name(name) {
        Some(FailureClass::MalformedDocument) => "left no valid document",
        Some(FailureClass::GaveUp) => "gave up",
        Some(FailureClass::ContextOverflow) => "the conversation became too long",
        Some(FailureClass::EqualCalls) => "made the same call again and again",
        Some(FailureClass::TruncatedAnswer) => "the last answer was cut off",
        Some(FailureClass::ToolMisuse) => "most tool calls failed",
        Some(FailureClass::TimedOut) => "exceeded the time limit",
        Some(FailureClass::Provider) => "the provider failed",
        Some(FailureClass::Budget) => "the budget was spent",
        Some(FailureClass::Platform) => "the platform failed",
        None => "other",
    }
}

/// "12 345 in · 678 out": the tokens of a step.
pub(crate) fn tokens(usage: Usage) -> String {
    let [sent, back] = [usage.input_tokens, usage.output_tokens].map(format::thousands);
    format!("{sent} in · {back} out")
}

/// "of it 800 cached · 20 reasoning", without parts that are zero.
pub(crate) fn tokens_within(usage: Usage) -> Option<String> {
    let part = |n: u64, what| (n > 0).then(|| format!("{} {what}", format::thousands(n)));
    let parts = joined([
        part(usage.cached_tokens, "cached"),
        part(usage.reasoning_tokens, "reasoning"),
    ]);
    (!parts.is_empty()).then(|| format!("of it {parts}"))
}

/// "12 of 40": used, of a limit.
pub(crate) fn of_limit(taken: String, limit: Option<String>) -> String {
    match limit {
        Some(limit) => format!("{taken} of {limit}"),
        None => taken,
    }
}

/// A heading and a sentence for the iteration that an evolution did not get to
/// test; none where that goes without saying.
pub(crate) fn untested(ending: Option<Ending>, iteration: u32) -> Option<(String, &'static str)> {
    let says = match ending {
        None => "The results of its steps so far.",
        Some(Ending::Blocked) => {
            "A step used all its attempts, and the platform or the model's provider failed, not the agent. So the evolution is blocked and not scored."
        }
        Some(Ending::BudgetSpent) => {
            "The run's budget was spent first. After that no new work starts, the evolution is not scored, and its result does not count against the agent."
        }
        Some(Ending::EvolutionBudgetSpent) => {
            "The evolution's own budget was spent first, which is a limit like the agent's time. It is scored with its result up to then."
        }
        Some(Ending::AgentGaveUp) => {
            "The agent failed in all attempts at a step. The evolution is scored with its result up to then."
        }
        Some(Ending::Cancelled) => "The run was cancelled first, so the evolution is not scored.",
        Some(Ending::Solved | Ending::IterationsSpent | Ending::NothingLeft | Ending::CutShort) => {
            return None;
        }
    };
    let stands = ending.map_or("so far", |_| "was not tested");
    Some((format!("Iteration {iteration} {stands}"), says))
}

/// A gain with its sign; a dash for zero.
pub(crate) fn gained(n: u32) -> String {
    signed('+', n)
}

/// A loss with its sign; a dash for zero.
pub(crate) fn lost(n: u32) -> String {
    signed('\u{2212}', n)
}

fn signed(sign: char, n: u32) -> String {
    match n {
        0 => "0".to_owned(),
        n => format!("{sign}{n}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::{iteration, scored};

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
        // Any loss is a regression, even with a larger gain.
        check(scored(15, 1), 5, "regressed");
        check(Verdict::Collapsed { lost: 3 }, 0, "collapsed");
    }

    #[test]
    fn states_of_runs() {
        use swe_ci_views::preflight::{Finding, Preflight, PreflightState};
        let mut run = swe_ci_views::testing::run_summary(Progress::Queued);
        let check = |run: &RunSummary, waits, text: &str, tone| {
            assert_eq!(run_state(run, waits), (text.to_owned(), tone));
        };
        check(&run, false, "queued", Tone::Plain);
        run.preflight = Some(Preflight {
            state: PreflightState::Waiting,
            at: String::new(),
            findings: Vec::new(),
        });
        check(&run, false, "preflight running", Tone::Live);
        run.steering.paused = true;
        check(&run, false, "paused", Tone::Warn);
        run.preflight = Some(Preflight {
            state: PreflightState::Failed,
            at: String::new(),
            findings: vec![Finding {
                subject: "agents".into(),
                good: false,
                says: "key refused".into(),
                advice: Vec::new(),
                last_lines: Vec::new(),
            }],
        });
        check(&run, false, "preflight failed: key refused", Tone::Bad);
        run.progress = Progress::Finished;
        check(&run, true, "finished", Tone::Good);
        (run.progress, run.preflight) = (Progress::Running, None);
        run.steering.paused = false;
        check(&run, true, "waiting for the provider", Tone::Warn);
        check(&run, false, "running", Tone::Live);
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
