//! The preparation of a task: its suite runs equally often on target and base,
//! and the findings tell how far to trust its results.

mod audit;
mod findings;
mod repeats;
mod trials;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use swe_ci_core::outcomes::TestList;
use swe_ci_core::report::Report;
use swe_ci_core::wall::Wall;

use crate::count;

pub use audit::TaskAudit;
pub use findings::TaskFinding;
pub use trials::{Condition, Trial};

use repeats::{count_runs, not_passing, skipped};

/// Maximum names of tests in a finding; it only counts the others.
const MAX_NAMES: usize = 50;
/// Digits of a commit in a finding.
const COMMIT_DIGITS: usize = 7;

/// The result of preparing a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub struct Preparation {
    /// Seconds the suite took on the target, one value per run.
    pub suite_seconds: Vec<f64>,
    /// Tests pytest found on the target, passing or not.
    pub target_collected: u32,
    /// Tests pytest found on the base, with the target's `tests/` in place.
    pub base_collected: u32,
    pub findings: Vec<TaskFinding>,
    /// Lines that differ between base and target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LinesChanged>,
    /// Licence of the target, found in its tree: an SPDX name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// The real history, as the human baseline replays it; empty if it was not
    /// tested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<HistoryPoint>,
    /// The target's suite under other conditions; empty if it was not tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// Tests of the gap that pass although all source files are empty; unknown if
    /// it was not tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_without_code: Option<u32>,
}

/// The code after a chunk of the real history, and its tests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HistoryPoint {
    pub sha: String,
    /// Commits of the chunk.
    pub commits: u32,
    /// Tests of T that pass.
    pub passed: u32,
    pub seconds: f64,
    /// Why the suite gave no result that can be believed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Lines added and deleted between base and target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LinesChanged {
    /// Python files outside the tests.
    pub source: Lines,
    pub tests: Lines,
    /// Everything else: documents, data, configuration.
    pub other: Lines,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Lines {
    pub files: u32,
    pub added: u32,
    pub deleted: u32,
}

impl Lines {
    pub fn modified(self) -> u32 {
        self.added.saturating_add(self.deleted)
    }
}

impl LinesChanged {
    /// Added and deleted in files of every kind (the paper, section 3.1).
    pub fn modified(self) -> u32 {
        [self.source, self.tests, self.other]
            .into_iter()
            .fold(0, |sum, lines| sum.saturating_add(lines.modified()))
    }
}

/// A number of tests, with the names of the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Named {
    pub count: u32,
    /// At most 50, in order.
    pub first: Vec<String>,
}

impl Named {
    fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut names = names.into_iter();
        let first: Vec<String> = names.by_ref().take(MAX_NAMES).map(str::to_owned).collect();
        let count = count(first.len() + names.count());
        (count > 0).then_some(Self { count, first })
    }
}

impl Preparation {
    /// Lines added and deleted in files of every kind, if they were counted.
    pub fn modified_lines(&self) -> Option<u32> {
        self.lines.map(LinesChanged::modified)
    }

    /// Takes in the tests of the real history.
    pub fn add_history(&mut self, history: Vec<HistoryPoint>) {
        let failing = history.iter().filter(|point| point.problem.is_some());
        let commits: Vec<String> = failing
            .map(|point| point.sha.chars().take(COMMIT_DIGITS).collect())
            .collect();
        let problem = history.iter().find_map(|point| point.problem.clone());
        if let Some(problem) = problem {
            let finding = TaskFinding::HistoryFails { commits, problem };
            self.findings.push(finding);
        }
        self.history = history;
    }

    /// Takes in the tests under other conditions.
    pub fn add_trials(&mut self, trials: Vec<Trial>) {
        let found = trials.iter().filter_map(|trial| {
            let condition = trial.condition;
            let tests = trial.failing.clone()?;
            Some(TaskFinding::DependOn { condition, tests })
        });
        self.findings.extend(found);
        self.trials = trials;
    }

    /// Takes in the tests that pass without code, `of_gap` of which the base does
    /// not pass.
    pub fn add_passing_without_code(&mut self, tests: &[String], of_gap: u32) {
        self.gap_without_code = Some(of_gap);
        let tests = Named::from_names(tests.iter().map(String::as_str));
        let finding = tests.map(|tests| TaskFinding::PassWithoutCode { tests });
        self.findings.extend(finding);
    }

    /// How many iterations the human baseline needs until every test of T passes,
    /// and how many it has, if its history was tested.
    pub fn human_iterations(&self, target_passed: u32) -> Option<(usize, usize)> {
        let solved = |point: &HistoryPoint| point.passed >= target_passed;
        let at = self.history.iter().position(solved)?;
        Some((at + 1, self.history.len()))
    }

    /// The options that the settings ask for and nothing in the image knows.
    pub fn options_dropped(&self) -> Option<&[String]> {
        self.findings.iter().find_map(|finding| match finding {
            TaskFinding::OptionsDropped { options } => Some(options.as_slice()),
            _ => None,
        })
    }

    /// The walls that the task is graded without.
    pub fn left_away(&self) -> BTreeSet<Wall> {
        let walls = self.findings.iter().filter_map(|finding| match finding {
            TaskFinding::WallLeftAway { wall, .. } if *wall != Wall::Earlier => Some(*wall),
            _ => None,
        });
        walls.collect()
    }

    pub fn number_of_findings(&self) -> u32 {
        count(self.findings.len())
    }

    /// T and the findings, from the reports of the suite on the target and on the
    /// base (one per run, at least one each). T has the tests that passed in every
    /// run on the target and came out alike in every run on the base, so that no
    /// result depends on chance.
    pub fn of(target: &[Report], bases: &[Report], declared_gap: Option<u32>) -> (TestList, Self) {
        let Some(base) = bases.first() else {
            return (TestList::none(), Self::default());
        };
        let (at_target, on_base) = (count_runs(target), count_runs(bases));
        let runs = target.len();
        let inconsistent = |in_all: bool| {
            let names = at_target.iter().filter(|(_, (had, passed))| {
                (1..runs).contains(passed) && (*had == runs) == in_all
            });
            Named::from_names(names.map(|(name, _)| *name))
        };
        let (tests, flaky_on_base) = TestList::passing_in_all(target).without(|id| {
            let passed = on_base.get(id).map_or(0, |(_, passed)| *passed);
            (1..bases.len()).contains(&passed)
        });
        let at_base: BTreeSet<&str> = base.tests.keys().map(String::as_str).collect();
        // A name that changes with each run is no test that only one end has.
        let changing = at_target.iter().filter(|(_, (had, _))| *had < runs);
        let changing: BTreeSet<&str> = changing.map(|(name, _)| without_values(name)).collect();
        let steady = |name: &&&str| !changing.contains(without_values(name));
        let only_target = at_target.keys().filter(|name| !at_base.contains(*name));
        let only_target = only_target.filter(steady);
        let only_base = at_base.iter().filter(|name| !at_target.contains_key(*name));
        let only_base = only_base.filter(steady);
        let found = gap(&tests, base);
        let findings = [
            inconsistent(true).map(|tests| TaskFinding::Flaky { tests }),
            Named::from_names(flaky_on_base.iter().map(String::as_str))
                .map(|tests| TaskFinding::FlakyOnBase { tests }),
            inconsistent(false).map(|tests| TaskFinding::Unsteady { tests }),
            Named::from_names(only_target.copied())
                .map(|tests| TaskFinding::OnlyAtTarget { tests }),
            Named::from_names(only_base.copied()).map(|tests| TaskFinding::OnlyAtBase { tests }),
            not_passing(target),
            skipped(target),
            declared_gap
                .filter(|declared| *declared != found)
                .map(|declared| TaskFinding::GapDiffers { declared, found }),
            (found == 0).then_some(TaskFinding::NoGap),
        ];
        let preparation = Self {
            target_collected: count(at_target.len()),
            base_collected: count(at_base.len()),
            findings: findings.into_iter().flatten().collect(),
            ..Self::default()
        };
        (tests, preparation)
    }
}

/// A test's name without its parameters.
fn without_values(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

fn gap(tests: &TestList, base: &Report) -> u32 {
    let passing: BTreeSet<&str> = base.passing().collect();
    let ids = tests.node_ids().iter();
    count(ids.filter(|id| !passing.contains(id.as_str())).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::report::{Outcome, TestResult};

    #[test]
    fn skips_that_name_what_is_missing() {
        let check = |message: &str, expect: Option<&str>| {
            let mut report = report("a:f");
            let test = report.tests.get_mut("a").unwrap();
            test.outcome = Outcome::Skipped;
            message.clone_into(&mut test.message);
            let found = skipped(&[report.clone(), report]);
            let reason = found.map(|finding| match finding {
                TaskFinding::Skipped { tests, reason } if tests.count == 1 => reason,
                other => panic!("{other:?}"),
            });
            assert_eq!(reason.as_deref(), expect, "{message}");
        };
        check(
            "('/app/code/tests/a.py', 7, 'Skipped: run scripts/generate.sh first')",
            Some("run scripts/generate.sh first"),
        );
        check(
            "('a.py', 7, \"Skipped: could not import 'rich': No module named 'rich'\")",
            Some("could not import 'rich': No module named 'rich"),
        );
        // The name of the file is no reason.
        check(
            "('tests/test_install.py', 7, 'Skipped: only on Windows')",
            None,
        );
        check("", None);
    }

    /// `a:p b:f`: names with `p` for passed and `f` for anything else.
    fn report(text: &str) -> Report {
        let tests = text.split_whitespace().map(|word| {
            let (name, outcome) = word.split_once(':').unwrap();
            let outcome = match outcome {
                "p" => Outcome::Passed,
                _ => Outcome::Failed,
            };
            let message = String::new();
            (name.to_owned(), TestResult { outcome, message })
        });
        Report {
            exit_code: 0,
            duration: 1.0,
            tests: tests.collect(),
        }
    }

    #[test]
    fn tests_that_pass_every_time_count() {
        let check = |target: &[&str], base: &str, declared, expect_t: &str, expect: &[&str]| {
            let target: Vec<Report> = target.iter().map(|text| report(text)).collect();
            let bases: Vec<Report> = base.split(" | ").map(report).collect();
            let (tests, preparation) = Preparation::of(&target, &bases, declared);
            assert_eq!(tests.node_ids().join(" "), expect_t);
            let names = |finding: &TaskFinding| match finding.tests() {
                Some(tests) => format!("{}: {}", finding.title(), tests.first.join(" ")),
                None => finding.title().to_owned(),
            };
            let findings: Vec<String> = preparation.findings.iter().map(names).collect();
            assert_eq!(findings, expect);
        };
        check(&["a:p b:p"], "a:p b:f", None, "a b", &[]);
        check(&["a:p b:p", "a:p b:p"], "a:p b:f", Some(1), "a b", &[]);
        check(
            &["a:p b:p c:f", "a:p b:f c:f", "a:p b:p c:f"],
            "a:f b:p c:p",
            None,
            "a",
            &["flaky tests: b", "tests that the target fails: c"],
        );
        // Those that fail on the target, or in every run on the base, are as they were.
        check(
            &["a:p b:p c:p d:f", "a:p b:p c:p d:f"],
            "a:p b:p c:f d:p | a:f b:p c:f d:f",
            Some(1),
            "b c",
            &[
                "tests that flip on the base: a",
                "tests that the target fails: d",
            ],
        );
        check(
            &["a:p b:p"; 2],
            "a:p b:f | b:f",
            None,
            "b",
            &["tests that flip on the base: a"],
        );
        check(
            &["a:p x[1]:p y:f z:f", "a:p x[2]:p z:f"],
            "a:f x[3]:p v[4]:p",
            None,
            "a",
            &[
                "tests of changing names: x[1] x[2]",
                "tests that the base does not have: z",
                "tests that the target does not have: v[4]",
                "tests that the target fails: z",
            ],
        );
        check(
            &["a:p"],
            "a:f",
            Some(7),
            "a",
            &["another gap than declared"],
        );
        check(&["a:p"], "a:p", None, "a", &["no gap"]);
    }

    #[test]
    fn names_are_limited() {
        let many: Vec<String> = (100..200).map(|n| format!("t{n}:p")).collect();
        let (tests, preparation) = Preparation::of(&[report(&many.join(" "))], &[report("")], None);
        assert_eq!((tests.len(), preparation.target_collected), (100, 100));
        let named = preparation.findings[0].tests().unwrap();
        assert_eq!((named.count, named.first.len()), (100, MAX_NAMES));
        assert_eq!(named.first[0], "t100");
        let text = preparation.findings[0].text();
        assert!(
            text.starts_with("100 tests are found on the target"),
            "{text}"
        );
    }

    #[test]
    fn history_that_gives_no_result_is_a_finding() {
        let point = |sha: &str, problem: Option<&str>| HistoryPoint {
            sha: sha.into(),
            problem: problem.map(str::to_owned),
            ..HistoryPoint::default()
        };
        let mut preparation = Preparation::default();
        preparation.add_history(vec![point("0123456789", None)]);
        assert_eq!(
            (preparation.findings.len(), preparation.history.len()),
            (0, 1)
        );
        let slow = Some("the tests took longer than 60 s");
        preparation.add_history(vec![point("0123456789", slow), point("abcdef0123", slow)]);
        let text = preparation.findings[0].text();
        assert!(
            text.contains("2 commits between base and target (0123456, abcdef0)"),
            "{text}"
        );
        assert!(text.ends_with("longer than 60 s"), "{text}");
    }

    #[test]
    fn lines_are_added_up() {
        let lines = |added, deleted| Lines {
            files: 1,
            added,
            deleted,
        };
        let changed = LinesChanged {
            source: lines(500, 20),
            tests: lines(30, 0),
            other: lines(1, 2),
        };
        assert_eq!(changed.source.modified(), 520);
        assert_eq!(changed.modified(), 553);
    }
}
