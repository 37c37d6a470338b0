//! The outcomes of a task's known tests on one version of the code, in a
//! compact form: one letter per test, in the order of the task's test list.

use serde::{Deserialize, Serialize};

use crate::report::{Outcome, Report};

/// The tests T that count for a task: those the target code passes, sorted by
/// node id. Its positions index every [`Outcomes`] of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestList(Vec<String>);

impl TestList {
    /// T of a task from the report of its target code.
    pub fn of_target(target: &Report) -> Self {
        Self(target.passing().map(str::to_owned).collect())
    }

    /// T of a task whose target ran several times: the tests that passed
    /// every time.
    pub fn passing_in_all(targets: &[Report]) -> Self {
        let Some((first, others)) = targets.split_first() else {
            return Self::none();
        };
        let passes = |report: &Report, id: &str| {
            let test = report.tests.get(id);
            test.is_some_and(|test| test.outcome == Outcome::Passed)
        };
        let always = |id: &&str| others.iter().all(|report| passes(report, id));
        Self(first.passing().filter(always).map(str::to_owned).collect())
    }

    /// Leaves tests out, and returns them too.
    #[must_use]
    pub fn without(self, is_out: impl Fn(&str) -> bool) -> (Self, Vec<String>) {
        let (out, stay) = self.0.into_iter().partition(|id| is_out(id));
        (Self(stay), out)
    }

    /// The empty list of a task that has not been tested.
    pub fn none() -> Self {
        Self(Vec::new())
    }

    pub fn node_ids(&self) -> &[String] {
        &self.0
    }

    pub fn into_node_ids(self) -> Vec<String> {
        self.0
    }

    pub fn len(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tests that pass on `after` and not on `before`.
    pub fn gained(&self, before: &Outcomes, after: &Outcomes) -> Vec<&str> {
        let both = before.0.bytes().zip(after.0.bytes());
        let gained = self.0.iter().zip(both);
        let gained = gained.filter(|(_, (before, after))| *before != b'p' && *after == b'p');
        gained.map(|(id, _)| id.as_str()).collect()
    }
}

/// One letter per test of a [`TestList`]: `p`assed, `f`ailed, `e`rror,
/// `s`kipped, `x`failed, `X`passed, `-` missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Outcomes(String);

impl Outcomes {
    pub fn of(list: &TestList, report: &Report) -> Self {
        let letter = |id: &String| {
            let test = report.tests.get(id);
            test.map_or(Outcome::Missing, |test| test.outcome).letter()
        };
        Self(list.0.iter().map(letter).collect())
    }

    /// All tests missing: the outcomes of a collapsed iteration.
    pub fn none(list: &TestList) -> Self {
        Self("-".repeat(list.0.len()))
    }

    /// All tests pass: the target, by definition of T.
    pub fn all_pass(list: &TestList) -> Self {
        Self("p".repeat(list.0.len()))
    }

    pub fn from_letters(letters: String) -> Self {
        Self(letters)
    }

    pub fn letters(&self) -> &str {
        &self.0
    }

    /// The letters, with a number in place of equal ones that follow: `p312f2-`.
    /// Neighbours in a suite mostly end alike, so this is some tenth of them.
    pub fn packed(&self) -> String {
        use std::fmt::Write as _;
        let mut packed = String::new();
        for alike in self.0.as_bytes().chunk_by(|a, b| a == b) {
            packed.push(char::from(alike[0]));
            if alike.len() > 1 {
                // Writing into a text cannot fail.
                let _ = write!(packed, "{}", alike.len());
            }
        }
        packed
    }

    /// What [`Self::packed`] wrote; letters alone stand for themselves.
    pub fn unpacked(packed: &str) -> Self {
        let mut letters = String::new();
        let mut rest = packed.chars();
        while let Some(letter) = rest.next() {
            let after = rest.as_str();
            rest = after
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .chars();
            let number = &after[..after.len() - rest.as_str().len()];
            letters.extend(std::iter::repeat_n(letter, number.parse().unwrap_or(1)));
        }
        Self(letters)
    }

    pub fn iter(&self) -> impl Iterator<Item = Outcome> + '_ {
        self.0.chars().map(Outcome::from_letter)
    }

    /// The outcome of the test at this position; missing beyond the end.
    pub fn at(&self, test: usize) -> Outcome {
        let letter = self.0.as_bytes().get(test).copied();
        Outcome::from_letter(letter.map_or('-', char::from))
    }

    /// n(c): how many tests of T pass (eq. 1).
    pub fn passed(&self) -> u32 {
        count(self.0.bytes().filter(|b| *b == b'p'))
    }

    /// Tests that pass on `before` and not here: the regressions.
    pub fn lost_since(&self, before: &Self) -> u32 {
        let both = before.0.bytes().zip(self.0.bytes());
        count(both.filter(|(before, now)| *before == b'p' && *now != b'p'))
    }

    pub fn gained_since(&self, before: &Self) -> u32 {
        self.passed() + self.lost_since(before) - before.passed()
    }
}

/// The letters of [`Outcome::ALL`].
const LETTERS: &str = "pfesxX-";

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

impl Outcome {
    fn letter(self) -> char {
        char::from(LETTERS.as_bytes()[self as usize])
    }

    fn from_letter(letter: char) -> Self {
        LETTERS
            .find(letter)
            .map_or(Self::Missing, |at| Self::ALL[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_gains_and_losses() {
        let check = |before: &str, after: &str, passed, lost, gained| {
            let before = Outcomes::from_letters(before.into());
            let after = Outcomes::from_letters(after.into());
            assert_eq!(
                (
                    after.passed(),
                    after.lost_since(&before),
                    after.gained_since(&before)
                ),
                (passed, lost, gained)
            );
        };
        check("ppff", "ppff", 2, 0, 0);
        check("ppff", "fpps", 2, 1, 1);
        check("ppff", "----", 0, 2, 0);
        check("----", "pppp", 4, 0, 4);
        // Three old tests break while four new ones pass (worked example 5).
        check("pppffff", "fffpppp", 4, 3, 4);
    }

    #[test]
    fn gained_tests_are_named() {
        let list = TestList(["a", "b", "c", "d"].map(str::to_owned).into());
        let outcomes = |letters: &str| Outcomes::from_letters(letters.into());
        let gained = list.gained(&outcomes("pf-p"), &outcomes("pppf"));
        assert_eq!(gained, ["b", "c"]);
    }

    #[test]
    fn packed_and_unpacked() {
        let check = |letters: &str, packed: &str| {
            let outcomes = Outcomes::from_letters(letters.into());
            assert_eq!(outcomes.packed(), packed);
            assert_eq!(Outcomes::unpacked(packed), outcomes);
            assert_eq!(Outcomes::unpacked(letters), outcomes, "letters alone");
        };
        check("", "");
        check("p", "p");
        check("ppfesxXX-", "p2fesxX2-");
        check(&"p".repeat(1_000), "p1000");
        check(&"-".repeat(12), "-12");
    }
}
