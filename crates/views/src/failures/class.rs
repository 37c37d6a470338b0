//! Why tests were lost, in few classes.

use serde::{Deserialize, Serialize};
use swe_ci_core::report::Outcome;

use super::{Failures, Frame};
use crate::count;

swe_ci_core::named! {
    /// Why a test was lost: the first rule that holds for its error.
    #[derive(PartialOrd, Ord)]
    pub enum LossClass {
        /// A function, class, attribute or module that it uses is gone.
        RemovedName = "removed_name",
        /// A call no longer fits the signature.
        ChangedSignature = "changed_signature",
        /// The suite or its file cannot be loaded.
        DoesNotLoad = "does_not_load",
        /// It took longer than the limit.
        NoLongerEnds = "no_longer_ends",
        /// An assertion fails.
        WrongValue = "wrong_value",
        /// Another exception.
        OtherError = "other_error",
        /// Its report is not there.
        Unknown = "unknown",
    }
}

/// The parts of errors that tell a class, in this order.
const SIGNS: [(&str, LossClass); 20] = [
    ("cannot import name", LossClass::RemovedName),
    ("has no attribute", LossClass::RemovedName),
    ("is not defined", LossClass::RemovedName),
    ("No module named", LossClass::RemovedName),
    ("unexpected keyword argument", LossClass::ChangedSignature),
    ("required positional argument", LossClass::ChangedSignature),
    (
        "required keyword-only argument",
        LossClass::ChangedSignature,
    ),
    ("positional argument but", LossClass::ChangedSignature),
    ("positional arguments but", LossClass::ChangedSignature),
    ("takes no arguments", LossClass::ChangedSignature),
    ("multiple values for argument", LossClass::ChangedSignature),
    ("SyntaxError", LossClass::DoesNotLoad),
    ("IndentationError", LossClass::DoesNotLoad),
    ("ImportError", LossClass::DoesNotLoad),
    ("could not load", LossClass::DoesNotLoad),
    ("Timeout", LossClass::NoLongerEnds),
    ("took longer than", LossClass::NoLongerEnds),
    ("DID NOT RAISE", LossClass::WrongValue),
    ("DID NOT WARN", LossClass::WrongValue),
    ("AssertionError", LossClass::WrongValue),
];

/// Lost tests of one class with the same deepest line of the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    pub class: LossClass,
    pub frame: Option<Frame>,
    pub tests: u32,
}

impl Loss {
    /// The largest first, and of these as many as this with their lines.
    pub fn of(failures: &[Failures], collapsed: bool, most: usize) -> Vec<Self> {
        let mut losses: Vec<Self> = Vec::new();
        for (place, group) in failures.iter().enumerate() {
            let class = group.class(collapsed);
            let frame = group.frame.clone().filter(|_| place < most);
            let tests = count(group.tests.len());
            let same = |loss: &&mut Self| loss.class == class && loss.frame == frame;
            match losses.iter_mut().find(same) {
                Some(loss) => loss.tests += tests,
                None => losses.push(Self {
                    class,
                    frame,
                    tests,
                }),
            }
        }
        losses.sort_by_key(|loss| std::cmp::Reverse(loss.tests));
        losses
    }
}

impl Failures {
    fn class(&self, collapsed: bool) -> LossClass {
        let sign = SIGNS.iter().find(|(sign, _)| self.error.contains(sign));
        let outcome = self.example.as_ref().map(|ended| ended.outcome);
        match (sign, outcome) {
            (Some((_, class)), _) => *class,
            (None, _) if self.error.starts_with("assert ") => LossClass::WrongValue,
            (None, _) if collapsed => LossClass::DoesNotLoad,
            (None, Some(Outcome::Missing)) => LossClass::DoesNotLoad,
            (None, Some(_)) => LossClass::OtherError,
            (None, None) => LossClass::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspection::Ended;

    fn group(error: &str, outcome: Option<Outcome>, line: u32) -> Failures {
        Failures {
            error: error.into(),
            frame: Frame::deepest(&format!("a.py:{line}: in f")),
            tests: vec!["t".into()],
            example: outcome.map(|outcome| Ended {
                outcome,
                message: String::new(),
                earlier: 0,
            }),
        }
    }

    #[test]
    fn classes_of_errors() {
        let check = |error: &str, expect| {
            let group = group(error, Some(Outcome::Failed), 1);
            assert_eq!(group.class(false), expect, "{error}");
        };
        check(
            "ImportError: cannot import name 'a' from 'b'",
            LossClass::RemovedName,
        );
        check(
            "AttributeError: module 'a' has no attribute 'b'",
            LossClass::RemovedName,
        );
        check(
            "TypeError: f() got an unexpected keyword argument 'strict'",
            LossClass::ChangedSignature,
        );
        check(
            "TypeError: f() missing N required positional argument: 'a'",
            LossClass::ChangedSignature,
        );
        check(
            "TypeError: f() takes N positional arguments but N were given",
            LossClass::ChangedSignature,
        );
        check("SyntaxError: invalid syntax", LossClass::DoesNotLoad);
        check("assert N == N", LossClass::WrongValue);
        check("AssertionError: Lists differ", LossClass::WrongValue);
        check("Failed: Timeout >Ns", LossClass::NoLongerEnds);
        check("KeyError: 'a'", LossClass::OtherError);
        let ended = |outcome, collapsed| group("x", outcome, 1).class(collapsed);
        assert_eq!(ended(Some(Outcome::Missing), false), LossClass::DoesNotLoad);
        assert_eq!(ended(None, true), LossClass::DoesNotLoad);
        assert_eq!(ended(None, false), LossClass::Unknown);
    }

    #[test]
    fn small_groups_lose_their_lines() {
        let failed = |line| group("KeyError", Some(Outcome::Failed), line);
        let losses = Loss::of(&[failed(1), failed(2), failed(3), failed(4)], false, 2);
        let seen = losses.iter();
        let seen = seen.map(|loss| (loss.frame.as_ref().map(|frame| frame.line), loss.tests));
        let seen: Vec<_> = seen.collect();
        assert_eq!(seen, [(None, 2), (Some(1), 1), (Some(2), 1)]);
    }
}
