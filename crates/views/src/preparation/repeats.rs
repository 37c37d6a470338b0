//! What several runs of the target's suite say about its tests.

use std::collections::BTreeMap;

use swe_ci_core::report::{Outcome, Report, TestResult};

use super::{Named, TaskFinding};
use crate::counted;

/// The most characters of an error in a finding.
const MAX_ERROR_CHARS: usize = 200;

/// Every node id with the number of runs that had it, and that passed it.
pub(super) fn count_runs(reports: &[Report]) -> BTreeMap<&str, (usize, usize)> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (name, test) in reports.iter().flat_map(|report| &report.tests) {
        let (had, passed) = counts.entry(name).or_default();
        *had += 1;
        *passed += usize::from(test.outcome == Outcome::Passed);
    }
    counts
}

/// The tests that fail on the target in every run.
pub(super) fn not_passing(target: &[Report]) -> Option<TaskFinding> {
    let (tests, error) = in_every_run(target, |test| {
        let fails = matches!(test.outcome, Outcome::Failed | Outcome::Error);
        fails.then(|| error_line(&test.message))
    })?;
    Some(TaskFinding::NotPassing { tests, error })
}

/// The tests that are skipped in every run for a reason that somebody could
/// remove; others are skipped on purpose, such as those for another system.
pub(super) fn skipped(target: &[Report]) -> Option<TaskFinding> {
    let (tests, reason) = in_every_run(target, |test| {
        let reason = skip_reason(&test.message);
        let lower = reason.to_lowercase();
        let misses = MISSING.iter().any(|word| lower.contains(word));
        (test.outcome == Outcome::Skipped && misses).then_some(reason)
    })?;
    Some(TaskFinding::Skipped { tests, reason })
}

/// Words of reasons that name something to install or to run.
const MISSING: [&str; 9] = [
    "could not import",
    "generate",
    "install",
    "missing",
    "not available",
    "not found",
    "require",
    ".sh",
    "needs ",
];

/// The reason in pytest's message, `('tests/a.py', 1, 'Skipped: the reason')`.
fn skip_reason(message: &str) -> &str {
    let (_, reason) = message.split_once("Skipped: ").unwrap_or(("", message));
    let reason = reason.lines().next().unwrap_or_default();
    shortened(reason.trim_end_matches(['\'', '"', ')']))
}

/// The tests that come out so in every run, and their most frequent message.
fn in_every_run<'a>(
    target: &'a [Report],
    message: impl Fn(&'a TestResult) -> Option<&'a str>,
) -> Option<(Named, String)> {
    let (first, others) = target.split_first()?;
    let in_others = |name: &str| {
        let mut results = others.iter().map(|report| report.tests.get(name));
        results.all(|test| test.is_some_and(|test| message(test).is_some()))
    };
    let tests = first.tests.iter();
    let tests = tests.filter_map(|(name, test)| Some((name.as_str(), message(test)?)));
    let tests: Vec<_> = tests.filter(|(name, _)| in_others(name)).collect();
    let named = Named::from_names(tests.iter().map(|(name, _)| *name))?;
    let most = counted(tests.iter().map(|(_, message)| *message))
        .into_iter()
        .next();
    Some((named, most.map_or_else(String::new, |(message, _)| message)))
}

/// The line of pytest's message that says what went wrong.
fn error_line(message: &str) -> &str {
    let lines = || {
        message
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let marked = lines().find_map(|line| line.strip_prefix("E "));
    shortened(marked.or_else(|| lines().next_back()).unwrap_or("").trim())
}

fn shortened(line: &str) -> &str {
    let end = line.char_indices().nth(MAX_ERROR_CHARS);
    end.map_or(line, |(at, _)| &line[..at])
}
