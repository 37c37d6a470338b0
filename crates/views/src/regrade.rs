//! A run graded again: the stored code of its iterations went through the
//! grading of another day, and some verdicts moved.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::csv;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::Outcome;
use swe_ci_core::task::TestCommand;

use crate::count;
use crate::verification::{Changed, GradedIteration, changed};

/// A run's results beside those of the run whose code it graded again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Regrade {
    /// The run with the code.
    pub regraded_from: String,
    /// Iterations that both runs graded.
    pub compared: u32,
    /// Iterations of the original that this run has not graded: it is not over,
    /// or an earlier iteration already passes every test.
    pub not_graded: u32,
    /// Evolutions of the original without a scored ending, which this run leaves
    /// out.
    pub left_out: u32,
    /// By task, sample and iteration.
    pub moved: Vec<Moved>,
}

/// A verdict that moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Moved {
    /// In the run that graded again.
    #[serde(flatten)]
    pub at: GradedIteration,
    pub before: Standing,
    pub now: Standing,
    /// The tests that passed in only one of the two: the first fifty.
    pub tests: Vec<Changed>,
    /// The number of the others.
    pub more: u32,
    /// What is known to have changed, most telling first.
    pub why: Vec<Why>,
}

/// The verdict of one grading, with the size of its suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = GradingStanding)]
pub struct Standing {
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Tests of T.
    pub target: u32,
    /// Why the code collapsed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collapse: Option<String>,
}

impl Standing {
    fn is_solved(&self) -> bool {
        matches!(self.verdict, Verdict::Scored { in_target, .. } if in_target == self.target)
    }

    fn is_collapsed(&self) -> bool {
        matches!(self.verdict, Verdict::Collapsed { .. })
    }
}

/// "3 of 4 target tests", "collapsed".
impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.verdict {
            Verdict::Collapsed { .. } => f.write_str("collapsed"),
            Verdict::Scored { in_target, .. } => {
                write!(f, "{in_target} of {} target tests", self.target)
            }
        }
    }
}

swe_ci_core::named! {
    /// A reason why a verdict moved.
    pub enum Why {
        /// Tests joined or left the task's suite.
        Suite = "suite",
        /// The command that starts the tests changed.
        Command = "command",
        /// The task's image changed.
        Image = "image",
        /// Another edition of swe-ci graded.
        Platform = "platform",
        /// The same test came out otherwise, and none of the above changed.
        Outcome = "outcome",
    }
}

impl Why {
    /// In words: "the suite changed".
    pub fn words(self) -> &'static str {
        match self {
            Self::Suite => "the suite changed",
            Self::Command => "the test command changed",
            Self::Image => "the image changed",
            Self::Platform => "another edition of swe-ci graded",
            Self::Outcome => "the outcome differs, and nothing known changed",
        }
    }
}

/// One grading of an iteration's code, and what it was graded with.
#[derive(Debug, Clone, Copy)]
pub struct Grading<'a> {
    pub tests: &'a TestList,
    pub command: Option<&'a TestCommand>,
    /// Content digest.
    pub image: Option<&'a str>,
    /// Version of swe-ci.
    pub platform: &'a str,
    pub verdict: Verdict,
    pub outcomes: &'a Outcomes,
    pub collapse: Option<&'a str>,
}

impl Grading<'_> {
    fn standing(&self) -> Standing {
        Standing {
            verdict: self.verdict,
            target: self.tests.len(),
            collapse: self.collapse.map(str::to_owned),
        }
    }
}

/// Compares two gradings; `None` when the verdict stands. It moves when the code
/// collapses in only one of them, when a test passes in only one of them, or when
/// only one of them has every test pass. As in every score, only passing or not
/// passing counts.
pub fn compare(at: GradedIteration, before: &Grading<'_>, now: &Grading<'_>) -> Option<Moved> {
    let (old, new) = (before.standing(), now.standing());
    let mut tests: BTreeMap<&str, [Option<Outcome>; 2]> = BTreeMap::new();
    for (side, grading) in [before, now].into_iter().enumerate() {
        for (id, outcome) in grading.tests.node_ids().iter().zip(grading.outcomes.iter()) {
            tests.entry(id).or_default()[side] = Some(outcome);
        }
    }
    let passed = |outcome: Option<Outcome>| outcome == Some(Outcome::Passed);
    let moved = tests.iter().filter(|(_, [a, b])| passed(*a) != passed(*b));
    let moved: Vec<_> = moved.collect();
    let collapses = old.is_collapsed() != new.is_collapsed();
    let solves = old.is_solved() != new.is_solved();
    if moved.is_empty() && !collapses && !solves {
        return None;
    }
    let of_one = |[a, b]: &[Option<Outcome>; 2]| a.is_none() || b.is_none();
    let suite = moved.iter().any(|(_, both)| of_one(both))
        || (moved.is_empty() && solves && before.tests != now.tests);
    let outcome = collapses || moved.iter().any(|(_, both)| !of_one(both));
    let mut why = Vec::new();
    if suite {
        why.push(Why::Suite);
    }
    if outcome {
        let known = [
            (Why::Command, before.command != now.command),
            (Why::Image, before.image != now.image),
            (Why::Platform, before.platform != now.platform),
        ];
        let mut known: Vec<Why> = known
            .iter()
            .filter(|(_, is)| *is)
            .map(|(why, _)| *why)
            .collect();
        if known.is_empty() {
            known.push(Why::Outcome);
        }
        why.extend(known);
    }
    let (tests, more) = changed(tests.into_iter());
    Some(Moved {
        at,
        tests,
        before: old,
        now: new,
        more,
        why,
    })
}

impl Regrade {
    /// A line for each moved verdict; its tests are separated by line ends.
    pub fn to_csv(&self) -> String {
        let head = [
            "task_id",
            "sample",
            "iteration",
            "verdict_before",
            "in_target_before",
            "target_before",
            "verdict_now",
            "in_target_now",
            "target_now",
            "tests_moved",
            "why",
            "tests",
        ];
        let rows = self.moved.iter().map(|moved| {
            let standing = |standing: &Standing| {
                let name = match standing.is_collapsed() {
                    true => "collapsed",
                    false => "scored",
                };
                [
                    name.to_owned(),
                    standing.verdict.in_target().to_string(),
                    standing.target.to_string(),
                ]
            };
            let why: Vec<&str> = moved.why.iter().map(|why| why.name()).collect();
            let tests: Vec<&str> = moved.tests.iter().map(|t| t.node_id.as_str()).collect();
            let all = count(tests.len()).saturating_add(moved.more);
            let place = [
                csv::text(moved.at.task_id.as_str()),
                moved.at.sample.to_string(),
                moved.at.iteration.to_string(),
            ];
            let rest = [all.to_string(), why.join(" "), csv::text(&tests.join("\n"))];
            place
                .into_iter()
                .chain(standing(&moved.before))
                .chain(standing(&moved.now))
                .chain(rest)
                .collect::<Vec<_>>()
        });
        csv::table(head, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::report::Report;
    use swe_ci_core::task::TaskId;

    fn suite(names: &[&str]) -> TestList {
        let tests = names
            .iter()
            .map(|id| serde_json::json!({"nodeid": id, "outcome": "passed"}));
        let report = serde_json::json!({
            "exitcode": 0, "summary": {"passed": names.len()}, "tests": tests.collect::<Vec<_>>(),
        });
        TestList::of_target(&Report::parse(report.to_string().as_bytes()).unwrap())
    }

    /// The tests of a suite and their letters; `None` for collapsed code.
    type Side<'a> = (&'a [&'a str], Option<&'a str>);

    fn compared(
        before: Side<'_>,
        now: Side<'_>,
        change: impl Fn(&mut Grading<'_>),
    ) -> Option<Moved> {
        let sides = [before, now].map(|(names, letters)| {
            let tests = suite(names);
            let outcomes = letters.map(|letters| Outcomes::from_letters(letters.into()));
            let verdict = match &outcomes {
                Some(outcomes) => Verdict::Scored {
                    in_target: outcomes.passed(),
                    passed: outcomes.passed(),
                    lost: 0,
                },
                None => Verdict::Collapsed { lost: 0 },
            };
            let outcomes = outcomes.unwrap_or_else(|| Outcomes::none(&tests));
            (tests, outcomes, verdict)
        });
        let [before, mut now] = sides.each_ref().map(|(tests, outcomes, verdict)| Grading {
            tests,
            command: Some(&TestCommand::Bare),
            image: Some("i"),
            platform: "1",
            verdict: *verdict,
            outcomes,
            collapse: None,
        });
        change(&mut now);
        let at = GradedIteration {
            evolution_id: "e".into(),
            task_id: TaskId::new("t").unwrap(),
            sample: 1,
            iteration: 2,
        };
        compare(at, &before, &now)
    }

    #[test]
    fn verdicts_that_move_and_why() {
        let check = |before: Side<'_>, now: Side<'_>, moved: Option<(&[&str], &[Why])>| {
            let found = compared(before, now, |_| ());
            let found = found.map(|m| {
                let tests = m.tests.into_iter();
                let tests = tests.map(|t| format!("{} {} > {}", t.node_id, t.recorded, t.found));
                (tests.collect::<Vec<_>>(), m.why)
            });
            let moved = moved.map(|(tests, why)| {
                (
                    tests.iter().map(|t| (*t).to_owned()).collect(),
                    why.to_vec(),
                )
            });
            assert_eq!(found, moved, "{before:?} {now:?}");
        };
        let (a, ab) = (["a"].as_slice(), ["a", "b"].as_slice());
        check((ab, Some("pf")), (ab, Some("pf")), None);
        // Not passing is all the same.
        check((ab, Some("pf")), (ab, Some("pe")), None);
        check((ab, None), (ab, None), None);
        let b = ["b failed > passed"].as_slice();
        check(
            (ab, Some("pf")),
            (ab, Some("pp")),
            Some((b, &[Why::Outcome])),
        );
        // A test that left the suite moves what it decided.
        let left = ["b passed > not in the suite"].as_slice();
        check(
            (ab, Some("fp")),
            (a, Some("f")),
            Some((left, &[Why::Suite])),
        );
        check((ab, Some("pf")), (a, Some("p")), Some((&[], &[Why::Suite])));
        check((ab, Some("ff")), (a, Some("f")), None);
        let joined = ["b not in the suite > passed"].as_slice();
        check(
            (a, Some("f")),
            (ab, Some("fp")),
            Some((joined, &[Why::Suite])),
        );
        // Collapsed code passes nothing.
        check((ab, None), (ab, Some("ff")), Some((&[], &[Why::Outcome])));
        let gone = ["a passed > missing"].as_slice();
        check((ab, Some("pf")), (ab, None), Some((gone, &[Why::Outcome])));
    }

    #[test]
    fn a_known_change_explains_an_outcome() {
        let ab = ["a", "b"].as_slice();
        let check = |change: fn(&mut Grading<'_>), why: &[Why]| {
            let found = compared((ab, Some("pf")), (ab, Some("pp")), change).unwrap();
            assert_eq!(found.why, why);
        };
        check(|_| (), &[Why::Outcome]);
        check(
            |now| now.command = Some(&TestCommand::PLATFORM),
            &[Why::Command],
        );
        check(|now| now.image = None, &[Why::Image]);
        check(
            |now| {
                now.platform = "2";
                now.command = None;
            },
            &[Why::Command, Why::Platform],
        );
        // Without a difference a change of these is none.
        let same = compared((ab, Some("pf")), (ab, Some("pf")), |now| now.platform = "2");
        assert_eq!(same, None);
    }

    #[test]
    fn a_line_for_each_moved_verdict() {
        let ab = ["a", "b"].as_slice();
        let found = compared((ab, Some("pf")), (ab, Some("pp")), |_| ()).unwrap();
        let regrade = Regrade {
            regraded_from: "r".into(),
            compared: 3,
            not_graded: 0,
            left_out: 0,
            moved: vec![found],
        };
        assert_eq!(
            regrade.to_csv(),
            "task_id,sample,iteration,verdict_before,in_target_before,target_before,verdict_now,\
             in_target_now,target_now,tests_moved,why,tests\r\n\
             t,1,2,scored,1,2,scored,2,2,1,outcome,b\r\n"
        );
    }
}
