//! Failed tests by their errors: of a hundred failures, few are different.

use std::collections::HashMap;

use crate::format::clip;
use crate::inspection::{ChangedTest, Ended};

/// Errors are compared by this many characters.
const LONGEST: usize = 160;

/// Tests that ended with the same error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failures {
    /// The error, with its numbers and addresses left out.
    pub error: String,
    /// Node ids.
    pub tests: Vec<String>,
    /// How the first of them ended; unknown when the report is.
    pub example: Option<Ended>,
}

/// The lost tests by their errors, the most frequent first. `changed` has the
/// results of those that are known; `collapse` says why there is none.
pub fn by_error(lost: &[String], changed: &[ChangedTest], collapse: Option<&str>) -> Vec<Failures> {
    let unknown = || collapse.unwrap_or("result unknown").to_owned();
    let known: HashMap<&str, &Ended> = changed
        .iter()
        .map(|test| (test.node_id.as_str(), &test.after))
        .collect();
    let mut groups: Vec<Failures> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for test in lost {
        let ended = known.get(test.as_str()).copied();
        let error = ended.map_or_else(unknown, error_of);
        let place = *places.entry(error.clone()).or_insert_with(|| {
            groups.push(Failures {
                error,
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

/// pytest marks the lines of an error with `E`; without any, the last line tells
/// most, and without a message the outcome.
fn error_of(ended: &Ended) -> String {
    let mut lines = ended.message.lines().map(str::trim);
    let marked = lines.clone().find_map(|line| line.strip_prefix("E "));
    let line = marked.or_else(|| lines.rfind(|line| !line.is_empty()));
    match line {
        Some(line) => clip(&without_numbers(line.trim()), LONGEST),
        None => ended.outcome.name().to_owned(),
    }
}

/// "at 0x7f3a, line 12" → "at N, line N".
fn without_numbers(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        plain.push_str(&rest[..start]);
        plain.push('N');
        rest = &rest[start..];
        let address = rest.strip_prefix("0x");
        let (number, is_part): (&str, fn(char) -> bool) = match address {
            Some(number) => (number, |c| c.is_ascii_hexdigit()),
            None => (rest, |c| c.is_ascii_digit()),
        };
        rest = number.trim_start_matches(is_part);
    }
    plain + rest
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
        let collapsed = by_error(&lost, &[], Some("pytest could not load tests/conftest.py"));
        assert_eq!(collapsed[0].tests.len(), lost.len());
        assert_eq!(
            collapsed[0].error,
            "pytest could not load tests/conftest.py"
        );
    }

    #[test]
    fn numbers_do_not_tell_errors_apart() {
        let check = |text: &str, expect: &str| assert_eq!(without_numbers(text), expect);
        check("<C object at 0x7f3aB0> line 12.", "<C object at N> line N.");
        check("ä1ü", "äNü");
        check("", "");
        check("0x", "N");
    }
}
