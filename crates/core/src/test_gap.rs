//! The gap: tests the target passes and the current code does not. The
//! architect gets it as `non-passed/summary.jsonl` and one JSON file per test.

use serde::Serialize;

use crate::report::{Outcome, Report};

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NonPassed {
    pub node_id: String,
    pub outcome: Outcome,
    /// The message of pytest; empty for a missing test.
    pub message: String,
}

/// A file for the architect's `non-passed` folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapFile {
    pub name: String,
    pub content: String,
}

/// Those of these tests that do not pass in `report`. Without a report (the
/// code collapsed) every test is missing.
pub fn non_passed(node_ids: &[String], report: Option<&Report>) -> Vec<NonPassed> {
    let missing = || (Outcome::Missing, String::new());
    node_ids
        .iter()
        .filter_map(|id| {
            let (outcome, message) = report
                .and_then(|r| r.tests.get(id))
                .map_or_else(missing, |test| (test.outcome, test.message.clone()));
            (outcome != Outcome::Passed).then(|| NonPassed {
                node_id: id.clone(),
                outcome,
                message,
            })
        })
        .collect()
}

/// The gap as the files the architect reads. A line of the summary is
/// `{"node_id", "outcome", "detail"}`, where `detail` names the other file.
pub fn files(gap: &[NonPassed]) -> Vec<GapFile> {
    #[derive(Serialize)]
    struct Line<'a> {
        node_id: &'a str,
        outcome: Outcome,
        detail: String,
    }

    let mut summary = String::new();
    let mut files = Vec::with_capacity(gap.len() + 1);
    for (index, test) in gap.iter().enumerate() {
        let name = format!("{:05}.json", index + 1);
        let line = Line {
            node_id: &test.node_id,
            outcome: test.outcome,
            detail: name.clone(),
        };
        summary.push_str(&to_json(&line));
        summary.push('\n');
        files.push(GapFile {
            name,
            content: to_json(test),
        });
    }
    let summary = GapFile {
        name: "summary.jsonl".into(),
        content: summary,
    };
    files.insert(0, summary);
    files
}

fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain strings always serialise")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcomes::TestList;
    use crate::report::TestResult;

    fn report(tests: &[(&str, Outcome)]) -> Report {
        let tests = tests
            .iter()
            .map(|(id, outcome)| {
                (
                    (*id).to_owned(),
                    TestResult {
                        outcome: *outcome,
                        message: format!("about {id}"),
                    },
                )
            })
            .collect();
        Report {
            exit_code: 0,
            duration: 0.0,
            tests,
        }
    }

    #[test]
    fn the_gap_has_tests_that_only_the_target_passes() {
        let target = report(&[
            ("a", Outcome::Passed),
            ("b", Outcome::Passed),
            ("c", Outcome::Passed),
            ("d", Outcome::Failed),
        ]);
        let list = TestList::of_target(&target);
        let now = report(&[
            ("a", Outcome::Passed),
            ("b", Outcome::Failed),
            ("d", Outcome::Failed),
        ]);
        let gap = non_passed(list.node_ids(), Some(&now));
        assert_eq!(
            gap.iter()
                .map(|t| (t.node_id.as_str(), t.outcome))
                .collect::<Vec<_>>(),
            [("b", Outcome::Failed), ("c", Outcome::Missing)]
        );
        assert_eq!(non_passed(list.node_ids(), None).len(), 3);

        let files = files(&gap);
        assert_eq!(files.len(), 3);
        assert_eq!(
            files[0].content.lines().next(),
            Some(r#"{"node_id":"b","outcome":"failed","detail":"00001.json"}"#)
        );
        assert!(files[1].content.contains("about b"));
    }
}
