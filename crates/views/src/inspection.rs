//! One iteration in detail: its record, its changes of the code, and the
//! output of its steps.

use serde::{Deserialize, Serialize};
use swe_ci_core::audit::Accusation;
use swe_ci_core::diff::Diff;
use swe_ci_core::report::{Outcome, Report};
use swe_ci_core::step::Role;

use crate::count;
use crate::view::IterationDetail;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    pub evolution_id: String,
    pub iteration: IterationDetail,
    pub code: CodeChange,
    /// The tests it gained and lost, with pytest's messages; only the first
    /// if there are many. Empty without a stored report.
    pub changed: Vec<ChangedTest>,
    pub files: KeptFiles,
    /// Tests that its code passes together with their contradictions.
    pub accusations: Vec<Accusation>,
    /// Logs of the steps that printed something, in order.
    pub logs: Vec<StepLog>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFiles {
    pub code: bool,
    pub report: bool,
    pub document: bool,
}

/// A test that passed only before an iteration, or only after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedTest {
    pub node_id: String,
    pub before: Ended,
    pub after: Ended,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    pub outcome: Outcome,
    /// The last lines of pytest's failure message; empty for a pass.
    pub message: String,
    /// Lines before them.
    pub earlier: u32,
}

const MAX_MESSAGE_LINES: usize = 40;
const MAX_MESSAGE_BYTES: usize = 128 << 10;

impl ChangedTest {
    /// The results of these tests in the reports before and after an
    /// iteration; a test that a report does not have is missing there.
    pub fn of(node_ids: &[&str], before: &Report, after: &Report) -> Vec<Self> {
        let mut bytes_left = MAX_MESSAGE_BYTES;
        let mut changed = Vec::with_capacity(node_ids.len());
        for node_id in node_ids {
            let test = Self {
                node_id: (*node_id).to_owned(),
                before: Ended::in_report(node_id, before),
                after: Ended::in_report(node_id, after),
            };
            let bytes = test.before.message.len() + test.after.message.len();
            match bytes_left.checked_sub(bytes) {
                Some(left) => bytes_left = left,
                None => break,
            }
            changed.push(test);
        }
        changed
    }
}

impl Ended {
    /// In a report; missing if that does not have it.
    pub fn in_report(node_id: &str, report: &Report) -> Self {
        let Some(test) = report.tests.get(node_id) else {
            return Self {
                outcome: Outcome::Missing,
                message: String::new(),
                earlier: 0,
            };
        };
        let (message, earlier) = last_lines(&test.message, MAX_MESSAGE_LINES, usize::MAX);
        Self {
            outcome: test.outcome,
            message: message.to_owned(),
            earlier,
        }
    }
}

/// The last whole lines of a text, and the number of lines before them.
fn last_lines(text: &str, lines: usize, bytes: usize) -> (&str, u32) {
    let mut start = text.len();
    for line in text.split_inclusive('\n').rev().take(lines) {
        if text.len() - start + line.len() > bytes {
            break;
        }
        start -= line.len();
    }
    let earlier = text[..start].lines().count();
    (&text[start..], count(earlier))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodeChange {
    /// Since the last scored code before it.
    Known(Diff),
    /// It has no code: its results were imported.
    NotRecorded,
    /// Its recorded code is unreadable, for this reason.
    Unreadable(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepLog {
    pub role: Role,
    pub attempt: u32,
    pub tail: String,
    /// Lines before them.
    pub earlier: u32,
}

impl StepLog {
    /// At most `lines` lines and `bytes` bytes from the end of a log.
    pub fn of(role: Role, attempt: u32, log: &str, lines: usize, bytes: usize) -> Self {
        let (tail, earlier) = last_lines(log, lines, bytes);
        Self {
            role,
            attempt,
            tail: tail.to_owned(),
            earlier,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_changed_tests() {
        let report = |tests: &str| {
            let json = format!(
                r#"{{"exitcode": 1, "duration": 1, "summary": {{"passed": 1}}, "tests": [{tests},
                    {{"nodeid": "always", "outcome": "passed"}}]}}"#
            );
            Report::parse(json.as_bytes()).unwrap()
        };
        let long: Vec<String> = (1..=50).map(|n| format!("E {n}")).collect();
        let long = serde_json::to_string(&long.join("\n")).unwrap();
        let before = report(&format!(
            r#"{{"nodeid": "a", "outcome": "failed", "call": {{"longrepr": {long}}}}}"#
        ));
        let after = report(r#"{"nodeid": "b", "outcome": "error", "setup": {"longrepr": "no"}}"#);
        let changed = ChangedTest::of(&["a", "b"], &before, &after);
        let [a, b] = changed.as_slice() else {
            panic!("{changed:?}")
        };
        assert_eq!((a.before.outcome, a.before.earlier), (Outcome::Failed, 10));
        assert!(a.before.message.starts_with("E 11\n") && a.before.message.ends_with("E 50"));
        assert_eq!(a.after.outcome, Outcome::Missing);
        assert_eq!(
            (b.after.outcome, b.after.message.as_str()),
            (Outcome::Error, "no")
        );
    }

    #[test]
    fn many_long_messages_are_limited() {
        let ids: Vec<String> = (0..100).map(|n| format!("t{n}")).collect();
        let line = "x".repeat(3_900);
        let tests = ids.iter().map(|id| {
            format!(
                r#"{{"nodeid": "{id}", "outcome": "failed", "call": {{"longrepr": "{line}"}}}}"#
            )
        });
        let tests = tests.collect::<Vec<_>>().join(",");
        let json = format!(r#"{{"exitcode": 1, "summary": {{}}, "tests": [{tests}]}}"#);
        let report = Report::parse(json.as_bytes()).unwrap();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let changed = ChangedTest::of(&ids, &report, &report);
        assert_eq!(changed.len(), MAX_MESSAGE_BYTES / (2 * line.len()));
    }

    #[test]
    fn the_end_of_a_log() {
        let check = |log: &str, lines, bytes, tail: &str, earlier| {
            let step = StepLog::of(Role::Test, 1, log, lines, bytes);
            assert_eq!((step.tail.as_str(), step.earlier), (tail, earlier));
        };
        check("", 2, 100, "", 0);
        check("a\nb\nc\n", 9, 100, "a\nb\nc\n", 0);
        check("a\nb\nc\n", 2, 100, "b\nc\n", 1);
        check("a\nb\nc", 2, 100, "b\nc", 1);
        // Only whole lines that fit.
        check("aaaa\nbb\n", 9, 4, "bb\n", 1);
        check("ä\nbbbbbbbbb\n", 9, 4, "", 2);
    }
}
