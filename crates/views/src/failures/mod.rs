//! Failed tests by their causes: of a hundred failures, few are different.

mod cause;
mod class;
mod error;
mod frame;

use std::collections::HashMap;

use swe_ci_core::finding::tampering;
use swe_ci_core::step::Role;

pub use self::cause::Cause;
pub use self::class::{Loss, LossClass};
pub use self::error::telling_lines;
pub use self::frame::Frame;

use self::error::{error_of, first_error, first_failure};
use crate::inspection::{ChangedTest, Ended, Inspection};

/// Tests that ended with the same error at the same line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failures {
    /// The error, with its numbers and addresses left out.
    pub error: String,
    /// The deepest line of the code; unknown where the error is raised by a test.
    pub frame: Option<Frame>,
    /// Node ids.
    pub tests: Vec<String>,
    /// How the first of them ended; unknown when the report is.
    pub example: Option<Ended>,
}

impl Inspection {
    /// The lost tests, the most frequent first.
    pub fn failures(&self) -> Vec<Failures> {
        let detail = &self.iteration;
        let view = &detail.view;
        let log = self.logs.iter().rfind(|log| log.role == Role::Test);
        let log = log.filter(|_| tampering(&view.findings).is_none());
        let log = log
            .and_then(|log| first_failure(&log.tail))
            .unwrap_or_default();
        let collapse = view.collapse.as_deref().map(|why| match first_error(log) {
            Some(error) => (error, Frame::deepest(log)),
            None => (why.to_owned(), None),
        });
        by_error(&detail.lost_tests, &self.changed, collapse)
    }
}

/// The lost tests by their errors, the most frequent first. `changed` has the
/// results of those that are known; `collapse` says why there is none.
pub fn by_error(
    lost: &[String],
    changed: &[ChangedTest],
    collapse: Option<(String, Option<Frame>)>,
) -> Vec<Failures> {
    let unknown = collapse.unwrap_or_else(|| ("result unknown".to_owned(), None));
    let known: HashMap<&str, &Ended> = changed
        .iter()
        .map(|test| (test.node_id.as_str(), &test.after))
        .collect();
    let mut groups: Vec<Failures> = Vec::new();
    let mut places: HashMap<(String, Option<Frame>), usize> = HashMap::new();
    for test in lost {
        let ended = known.get(test.as_str()).copied();
        let key = ended.map_or_else(
            || unknown.clone(),
            |ended| (error_of(ended), Frame::deepest(&ended.message)),
        );
        let place = *places.entry(key.clone()).or_insert_with(|| {
            let (error, frame) = key;
            groups.push(Failures {
                error,
                frame,
                tests: Vec::new(),
                example: ended.cloned(),
            });
            groups.len() - 1
        });
        groups[place].tests.push(test.clone());
    }
    // Stable: equally frequent ones keep the order of the suite.
    groups.sort_by_key(|group| std::cmp::Reverse(group.tests.len()));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::report::Outcome;

    fn failed(node_id: &str, message: &str) -> ChangedTest {
        let ended = |outcome, message: &str| Ended {
            outcome,
            message: message.into(),
            earlier: 0,
        };
        ChangedTest {
            node_id: node_id.into(),
            before: ended(Outcome::Passed, ""),
            after: ended(Outcome::Failed, message),
        }
    }

    #[test]
    fn equal_errors_come_together_and_the_most_frequent_first() {
        let changed = [
            failed(
                "a",
                "def test():\n>   f()\nE   KeyError: 'x'\nmod.py:3: KeyError",
            ),
            failed("b", "E   assert 3 == 4\nE    +  where 3 = f()"),
            failed("c", "E   assert 17 == 4"),
            failed("d", ""),
        ];
        let lost: Vec<String> = ["a", "b", "c", "d", "gone"].map(str::to_owned).into();
        let groups = by_error(&lost, &changed, None);
        let found: Vec<(&str, Vec<&str>)> = groups
            .iter()
            .map(|g| (&*g.error, g.tests.iter().map(String::as_str).collect()))
            .collect();
        let expect = [
            ("assert N == N", vec!["b", "c"]),
            ("KeyError: 'x'", vec!["a"]),
            ("failed", vec!["d"]),
            ("result unknown", vec!["gone"]),
        ];
        assert_eq!(found, expect);
        assert_eq!(groups[0].example.as_ref(), Some(&changed[1].after));
        assert_eq!(groups[3].example, None);
        assert!(by_error(&[], &changed, None).is_empty());
        let why = ("pytest could not load tests/conftest.py".to_owned(), None);
        let collapsed = by_error(&lost, &[], Some(why.clone()));
        assert_eq!(collapsed[0].tests.len(), lost.len());
        assert_eq!(collapsed[0].error, why.0);
    }

    #[test]
    fn the_same_error_at_two_lines_is_two_groups() {
        let changed = [
            failed("a", "mod.py:3: in f\n    g()\nE   KeyError: 'x'"),
            failed("b", "mod.py:9: in g\n    h()\nE   KeyError: 'x'"),
            failed("c", "mod.py:9: in g\n    h()\nE   KeyError: 'x'"),
        ];
        let lost: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        let groups = by_error(&lost, &changed, None);
        let places = groups
            .iter()
            .map(|g| (g.frame.as_ref().unwrap().line, g.tests.len()));
        assert_eq!(places.collect::<Vec<_>>(), [(9, 2), (3, 1)]);
    }
}
