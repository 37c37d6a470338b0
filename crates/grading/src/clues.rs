//! Tests that pass are graded once more with their clues moved: in another
//! order, from other lines and files, under other names. Code that computes its
//! results does not notice; code that gives the known answer to each test, told
//! by its turn or by its caller, fails.

use std::collections::BTreeSet;

use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::report::Outcome;
use swe_ci_sandbox::{ContainerSpec, Sandbox, SandboxError};

use crate::{Bootstrap, Graded, Grading, Staging, grade_as};

/// The most tests that a finding names.
const NAMED: usize = 3;

/// Finds out whether the code owes these tests, which it passed as written, to
/// their clues. A test counts if it does not pass twice with moved clues (some
/// fail now and then), and passes so on the oracle's code (some need their
/// order or their name). Needs one container, and two more in the rare case of
/// a difference.
///
/// # Errors
/// As of [`crate::grade`].
pub async fn owed_to_clues(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
    passed: &[&str],
) -> Result<Option<Finding>, SandboxError> {
    // Only pytest's tests can be given in another form.
    if passed.is_empty() || grading.command.plan().is_some() {
        return Ok(None);
    }
    let oracle = Grading {
        code: grading.oracle.clone(),
        ..grading.clone()
    };
    let mut owed: BTreeSet<&str> = passed.iter().copied().collect();
    let first = with_moved_clues(sandbox, spec, grading).await?;
    owed.retain(|test| !passes(&first, test));
    if owed.is_empty() {
        return Ok(None);
    }
    let oracle = with_moved_clues(sandbox, spec, &oracle).await?;
    if oracle.result.is_err() {
        let words = "with their clues moved, the tests say nothing: on the oracle's code,";
        return Ok(Some(note(words, &oracle)));
    }
    owed.retain(|test| passes(&oracle, test));
    if owed.is_empty() {
        return Ok(None);
    }
    let second = with_moved_clues(sandbox, spec, grading).await?;
    owed.retain(|test| !passes(&second, test));
    let when = "and not in another order with other names and lines";
    Ok(suspicion(&owed, when, second.result.as_ref().err()))
}

pub(crate) async fn with_moved_clues(
    sandbox: &dyn Sandbox,
    spec: &ContainerSpec,
    grading: &Grading,
) -> Result<Graded, SandboxError> {
    let container = sandbox.open(spec).await?;
    let container = container.as_ref();
    let bootstrap = Bootstrap::start(container, grading.limits).await?;
    let on_line = &mut |_: &str| {};
    let graded = grade_as(Staging::CluesMoved, container, bootstrap, grading, on_line);
    Box::pin(graded).await
}

fn passes(graded: &Graded, test: &str) -> bool {
    let report = graded.result.as_ref().ok();
    let test = report.and_then(|report| report.tests.get(test));
    test.is_some_and(|test| test.outcome == Outcome::Passed)
}

/// A note of some words and of why there is no report.
fn note(words: &str, graded: &Graded) -> Finding {
    let why = graded.result.as_ref().err();
    let why = why.map_or("", String::as_str);
    Finding::note(FindingKind::Clues, format!("{words} {why}"))
}

/// `when` completes "they pass only as the suite is written, …".
pub(crate) fn suspicion(
    owed: &BTreeSet<&str>,
    when: &str,
    collapse: Option<&String>,
) -> Option<Finding> {
    let number = match owed.len() {
        0 => return None,
        1 => "1 test passes only as the suite is".to_owned(),
        n => format!("{n} tests pass only as the suite is"),
    };
    let why = collapse.map_or_else(String::new, |why| format!(" ({why})"));
    let named: Vec<&str> = owed.iter().copied().take(NAMED).collect();
    let more = if owed.len() > NAMED { ", …" } else { "" };
    let text = format!(
        "{number} written, {when}{why}, \
         where the oracle's code passes too: {}{more}",
        named.join(", ")
    );
    Some(Finding::suspicious(FindingKind::Clues, text))
}
