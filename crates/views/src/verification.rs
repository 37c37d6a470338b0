//! Verification of a result: the tests of its iterations run again on the
//! stored code, and their outcomes are compared with the recorded ones.

use std::fmt;

use serde::{Deserialize, Serialize};
use swe_ci_core::finding::{Finding, Grade};
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Outcome;
use swe_ci_core::run::Kind;
use swe_ci_core::task::TaskId;

use crate::count;

/// Maximum tests listed in a difference; it only counts the others.
const MAX_TESTS: usize = 50;

/// The state of a test that does not count in one of two suites.
const NOT_IN_SUITE: &str = "not in the suite";

/// The verification of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Verification {
    /// RFC 3339.
    pub at: String,
    /// Name of the account that requested it; `operator` for the command line.
    pub by: String,
    pub platform_version: String,
    /// Iterations whose tests ran again.
    pub checked: u32,
    /// All iterations of the run.
    pub iterations: u32,
    /// The iterations with a different result.
    pub differences: Vec<Difference>,
    /// Findings of kinds that are not recorded with their iterations, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<NewFinding>,
}

impl Verification {
    /// Whether it confirms the result: it checked something, everything matched,
    /// and nothing new is worse than a note.
    pub fn holds(&self) -> bool {
        let only_notes = self
            .findings
            .iter()
            .all(|new| new.finding.grade == Grade::Note);
        self.checked > 0 && self.differences.is_empty() && only_notes
    }
}

/// "4 of 47 iterations tested again, 3 as recorded".
impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            checked,
            iterations,
            differences,
            findings,
            ..
        } = self;
        let same = checked.saturating_sub(count(differences.len()));
        write!(
            f,
            "{checked} of {iterations} iterations tested again, {same} as recorded"
        )?;
        match findings.len() {
            0 => Ok(()),
            1 => f.write_str(", with 1 finding that is not recorded"),
            n => write!(f, ", with {n} findings that are not recorded"),
        }
    }
}

swe_ci_core::named! {
    /// The trustworthiness of a result, if it needs a mark.
    pub enum Mark {
        /// An administrator confirms it: its tests ran again and matched the
        /// record.
        Verified = "verified",
        /// Imported, and its tests have not run here.
        SelfReported = "self-reported",
    }
}

impl Mark {
    /// The mark of a run of this kind; `verified` is an administrator's
    /// confirmation.
    pub fn of(kind: Kind, verified: bool) -> Option<Self> {
        match (verified, kind) {
            (true, _) => Some(Self::Verified),
            (false, Kind::Imported) => Some(Self::SelfReported),
            (false, Kind::Measured | Kind::Human) => None,
        }
    }
}

/// An administrator's confirmation of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Verified {
    /// RFC 3339.
    pub at: String,
    /// Name of the account; `operator` for the command line.
    pub by: String,
}

/// An iteration whose code was graded again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct GradedIteration {
    pub evolution_id: String,
    pub task_id: TaskId,
    /// From 1.
    pub sample: u32,
    pub iteration: u32,
}

/// "acme__lib-1 sample 1 iteration 3".
impl fmt::Display for GradedIteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            task_id,
            sample,
            iteration,
            ..
        } = self;
        write!(f, "{task_id} sample {sample} iteration {iteration}")
    }
}

/// An iteration whose tests gave a different result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Difference {
    #[serde(flatten)]
    pub at: GradedIteration,
    #[serde(flatten)]
    pub what: Otherwise,
}

/// A finding about an iteration when its tests ran again: a suspicion, a session that
/// took too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct NewFinding {
    #[serde(flatten)]
    pub at: GradedIteration,
    pub finding: Finding,
}

/// Plain words that follow "iteration 3:".
impl fmt::Display for NewFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.finding.grade.name(), self.finding.text)
    }
}

/// The difference between two runs of the same tests on the same code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "otherwise", rename_all = "snake_case")]
pub enum Otherwise {
    /// Recorded as scored; this time the code did not run, for this reason.
    Collapsed { reason: String },
    /// Recorded as collapsed; this time the tests ran to their end.
    Ran,
    /// Tests of T that passed only in one of the two runs: the first fifty,
    /// and the number of the others.
    Tests { tests: Vec<Changed>, more: u32 },
    /// The outcomes are as recorded, and some tests pass only as the suite is
    /// written: the finding says which.
    Clues { finding: String },
}

/// Plain words that follow "iteration 3:".
impl fmt::Display for Otherwise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collapsed { reason } => write!(f, "the code no longer ran, {reason}"),
            Self::Ran => f.write_str("the code ran, unlike before"),
            Self::Clues { finding } => f.write_str(finding),
            Self::Tests { tests, more } => {
                let listed = count(tests.len());
                match listed.saturating_add(*more) {
                    1 => f.write_str("1 test differs")?,
                    n => write!(f, "{n} tests differ")?,
                }
                match tests.first() {
                    Some(Changed {
                        node_id,
                        recorded,
                        found,
                    }) => write!(f, ", such as {node_id} ({recorded}, now {found})"),
                    None => Ok(()),
                }
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Changed {
    pub node_id: String,
    /// `passed`, `failed`, `missing`, …
    pub recorded: String,
    pub found: String,
}

/// Compares a test run with the recorded one; `None` when they agree. As in
/// every score, only passing or not passing counts. `recorded` is none when
/// the code had collapsed; an error in `found` is the reason why it collapses
/// now.
pub fn compare(
    tests: &TestList,
    recorded: Option<&Outcomes>,
    found: Result<&Outcomes, &str>,
) -> Option<Otherwise> {
    let (recorded, found) = match (recorded, found) {
        (None, Err(_)) => return None,
        (None, Ok(_)) => return Some(Otherwise::Ran),
        (Some(_), Err(reason)) => {
            return Some(Otherwise::Collapsed {
                reason: reason.to_owned(),
            });
        }
        (Some(recorded), Ok(found)) => (recorded, found),
    };
    let both = recorded.iter().zip(found.iter());
    let both = both.map(|(then, now)| [Some(then), Some(now)]);
    let (tests, more) = changed(tests.node_ids().iter().map(String::as_str).zip(both));
    (!tests.is_empty()).then_some(Otherwise::Tests { tests, more })
}

/// The tests that pass in only one of two gradings, and how many more there are; none
/// for a test that is not in the suite of one.
pub(crate) fn changed<'a>(
    tests: impl Iterator<Item = (&'a str, [Option<Outcome>; 2])>,
) -> (Vec<Changed>, u32) {
    let passed = |outcome: Option<Outcome>| outcome == Some(Outcome::Passed);
    let state = |outcome: Option<Outcome>| outcome.map_or(NOT_IN_SUITE, Outcome::name).to_owned();
    let differing = tests.filter(|(_, [then, now])| passed(*then) != passed(*now));
    let all = differing.map(|(node_id, [then, now])| Changed {
        node_id: node_id.to_owned(),
        recorded: state(then),
        found: state(now),
    });
    let mut all: Vec<Changed> = all.collect();
    let more = count(all.len().saturating_sub(MAX_TESTS));
    all.truncate(MAX_TESTS);
    (all, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::finding::FindingKind;
    use swe_ci_core::report::Report;

    fn list(n: usize) -> TestList {
        let test = |i: usize| format!(r#"{{"nodeid": "t{i:03}", "outcome": "passed"}}"#);
        let tests: Vec<String> = (0..n).map(test).collect();
        let report = format!(
            r#"{{"exitcode": 0, "summary": {{"passed": {n}}}, "tests": [{}]}}"#,
            tests.join(",")
        );
        TestList::of_target(&Report::parse(report.as_bytes()).unwrap())
    }

    #[test]
    fn differences() {
        let tests = list(3);
        let check = |then: Option<&str>, now: Result<&str, &str>, expect: &str| {
            let then = then.map(|letters| Outcomes::from_letters(letters.into()));
            let letters = now.map(|letters| Outcomes::from_letters(letters.into()));
            let now = letters.as_ref().map_err(|why| *why);
            let actual = match compare(&tests, then.as_ref(), now) {
                None => String::new(),
                Some(Otherwise::Ran) => "ran".into(),
                Some(Otherwise::Collapsed { reason }) => reason,
                Some(Otherwise::Clues { finding }) => finding,
                Some(Otherwise::Tests { tests, .. }) => {
                    let one = |t: &Changed| format!("{} {}→{}", t.node_id, t.recorded, t.found);
                    tests.iter().map(one).collect::<Vec<_>>().join(", ")
                }
            };
            assert_eq!(actual, expect, "{then:?} {now:?}");
        };
        check(Some("ppf"), Ok("ppf"), "");
        // The kind of failure does not matter.
        check(Some("pfe"), Ok("p-s"), "");
        check(
            Some("ppf"),
            Ok("fpp"),
            "t000 passed→failed, t002 failed→passed",
        );
        check(None, Err("exit code 2"), "");
        check(None, Ok("ppp"), "ran");
        check(Some("ppp"), Err("exit code 2"), "exit code 2");
    }

    #[test]
    fn many_tests_are_counted() {
        let tests = list(60);
        let (all, none) = ("p".repeat(60), "f".repeat(60));
        let (then, now) = (Outcomes::from_letters(all), Outcomes::from_letters(none));
        let Some(Otherwise::Tests { tests, more }) = compare(&tests, Some(&then), Ok(&now)) else {
            panic!("all of them differ")
        };
        assert_eq!((tests.len(), more), (50, 10));
    }

    #[test]
    fn marks() {
        let check = |kind, verified, expect: Option<&str>| {
            assert_eq!(Mark::of(kind, verified).map(Mark::name), expect);
        };
        check(Kind::Measured, false, None);
        check(Kind::Human, false, None);
        check(Kind::Imported, false, Some("self-reported"));
        for kind in Kind::ALL {
            check(kind, true, Some("verified"));
        }
        let json = serde_json::to_string(&Mark::SelfReported).unwrap();
        assert_eq!(json, "\"self-reported\"");
    }

    #[test]
    fn nothing_checked_is_not_verified() {
        let mut verification = Verification {
            at: String::new(),
            by: String::new(),
            platform_version: String::new(),
            checked: 0,
            iterations: 4,
            differences: Vec::new(),
            findings: Vec::new(),
        };
        assert!(!verification.holds());
        verification.checked = 1;
        assert!(verification.holds());
        let mut seen = |finding| {
            let at = GradedIteration {
                evolution_id: "e".into(),
                task_id: TaskId::new("t").unwrap(),
                sample: 1,
                iteration: 2,
            };
            verification.findings.push(NewFinding { at, finding });
            verification.holds()
        };
        let kind = FindingKind::Report;
        assert!(seen(Finding::note(kind, "it took long")));
        assert!(!seen(Finding::suspicious(kind, "exit code 0")));
    }
}
