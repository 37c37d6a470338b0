//! What an agent is told.

use std::fmt::Write;

use swe_ci_core::test_gap::NonPassed;

const INTRODUCTION: &str = include_str!("instruction.md");

/// The most tests that are named; the others are in the folder with the gap.
const MAX_NAMED: usize = 100;
/// The most characters of a failure.
const MAX_FAILURE: usize = 200;

pub fn first(gap: &[NonPassed]) -> String {
    let mut text = INTRODUCTION.to_owned();
    for test in gap.iter().take(MAX_NAMED) {
        let _ = writeln!(text, "- `{}` ({})", test.node_id, test.outcome.name());
        if let Some(failure) = failure(&test.message) {
            let _ = writeln!(text, "\n      {failure}\n");
        }
    }
    if let Some(more) = gap.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        let _ = writeln!(
            text,
            "\nand {more} more, in `/app/non-passed/summary.jsonl`."
        );
    }
    text
}

/// Iterations after the first have another gap than the base.
pub fn of_iteration(number: u32, iterations: u32, gap: &[NonPassed]) -> String {
    let round = format!(
        "This is iteration {number} of {iterations}. The code is tested after each of them, and the next one \
         begins with the code that this one leaves. If no test is left to pass, there is nothing to do.\n\n"
    );
    match number {
        1 => round + &first(gap),
        _ => {
            let general = INTRODUCTION.trim_end();
            round
                + general
                + "\n\n`/app/non-passed/summary.jsonl` names them, as of the beginning of this iteration.\n"
        }
    }
}

/// The line of a failure message that says what went wrong.
fn failure(message: &str) -> Option<String> {
    let line = message.lines().find_map(|line| line.strip_prefix("E "))?;
    let shown = line.trim().chars().filter(|c| !c.is_control());
    Some(shown.take(MAX_FAILURE).collect()).filter(|line: &String| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::report::Outcome;

    fn gap(tests: usize) -> Vec<NonPassed> {
        let tests = 0..tests;
        tests
            .map(|number| NonPassed {
                node_id: format!("tests/test_a.py::test_{number}"),
                outcome: Outcome::Failed,
                message: format!("def test():\nE   assert {number} == \u{1b}[1m1\nE   more"),
            })
            .collect()
    }

    #[test]
    fn failing_tests_are_named_with_their_failures() {
        let text = first(&gap(2));
        assert!(
            text.contains("- `tests/test_a.py::test_1` (failed)\n"),
            "{text}"
        );
        assert!(text.contains("      assert 1 == [1m1\n"), "{text}");
        assert!(!text.contains("more"), "{text}");
        let text = first(&gap(MAX_NAMED + 3));
        assert!(text.contains("and 3 more"), "{text}");
    }

    #[test]
    fn later_iterations_read_their_gap() {
        let text = of_iteration(2, 3, &gap(2));
        assert!(text.starts_with("This is iteration 2 of 3."), "{text}");
        assert!(!text.contains("test_1"), "{text}");
    }
}
