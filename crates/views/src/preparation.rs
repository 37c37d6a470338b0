//! The preparation of a task: its suite runs several times on the target and
//! once on the base, and the findings tell how far to trust its results.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use swe_ci_core::outcomes::TestList;
use swe_ci_core::report::{Outcome, Report};

use crate::count;

/// Maximum names of tests in a finding; it only counts the others.
const MAX_NAMES: usize = 50;

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

/// A peculiarity of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskFinding {
    /// Tests that passed in some runs on the target and not in others: they
    /// are not part of T.
    Flaky { tests: Named },
    /// Tests that passed in some runs on the target and did not exist in
    /// others: they are not part of T.
    Unsteady { tests: Named },
    /// Tests that pytest finds on the target and not on the base.
    OnlyAtTarget { tests: Named },
    /// Tests that pytest finds on the base and not on the target.
    OnlyAtBase { tests: Named },
    /// The gap differs from the one that the metadata file declares.
    GapDiffers { declared: u32, found: u32 },
    /// pytest is started without these options of the settings, because nothing
    /// that is installed knows them.
    OptionsDropped { options: Vec<String> },
    /// The target passes no test that the base does not: there is nothing to
    /// gain.
    NoGap,
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

impl TaskFinding {
    pub fn title(&self) -> &'static str {
        match self {
            Self::Flaky { .. } => "flaky tests",
            Self::Unsteady { .. } => "tests of changing names",
            Self::OnlyAtTarget { .. } => "tests that the base does not have",
            Self::OnlyAtBase { .. } => "tests that the target does not have",
            Self::GapDiffers { .. } => "another gap than declared",
            Self::OptionsDropped { .. } => "options left out",
            Self::NoGap => "no gap",
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Flaky { tests } => format!(
                "{} in some runs on the target and not in others; flaky tests do not count.",
                subject(tests, "passed")
            ),
            Self::Unsteady { tests } => format!(
                "{} under names that other runs on the target did not have; they do not count.",
                subject(tests, "passed")
            ),
            Self::OnlyAtTarget { tests } => format!(
                "{} found on the target and not on the base: usually the base lacks the data they are generated from.",
                subject(tests, "are")
            ),
            Self::OnlyAtBase { tests } => format!(
                "{} found on the base and not on the target, with the same test files.",
                subject(tests, "are")
            ),
            Self::GapDiffers { declared, found } => format!(
                "The metadata file declares a gap of {declared}; on this machine it is {found}."
            ),
            Self::OptionsDropped { options } => format!(
                "The settings ask for {}, which nothing in the image knows; pytest is started without.",
                options.join(" ")
            ),
            Self::NoGap => "The base passes every test that the target passes.".into(),
        }
    }

    pub fn tests(&self) -> Option<&Named> {
        match self {
            Self::Flaky { tests }
            | Self::Unsteady { tests }
            | Self::OnlyAtTarget { tests }
            | Self::OnlyAtBase { tests } => Some(tests),
            Self::GapDiffers { .. } | Self::OptionsDropped { .. } | Self::NoGap => None,
        }
    }
}

/// The start of a sentence, such as `1 test is` or `3 tests passed`.
fn subject(tests: &Named, verb: &str) -> String {
    match (tests.count, verb) {
        (1, "are") => "1 test is".into(),
        (1, verb) => format!("1 test {verb}"),
        (n, verb) => format!("{n} tests {verb}"),
    }
}

impl Preparation {
    /// Lines added and deleted in files of every kind, if they were counted.
    pub fn modified_lines(&self) -> Option<u32> {
        self.lines.map(LinesChanged::modified)
    }

    pub fn number_of_findings(&self) -> u32 {
        count(self.findings.len())
    }

    /// T and the findings, from the reports of the suite on the target (one
    /// per run, at least one) and on the base. T has the tests that passed in
    /// every run, so that no result depends on chance.
    pub fn of(target: &[Report], base: &Report, declared_gap: Option<u32>) -> (TestList, Self) {
        let tests = TestList::passing_in_all(target);
        let at_target = count_runs(target);
        let runs = target.len();
        let inconsistent = |in_all: bool| {
            let names = at_target.iter().filter(|(_, (had, passed))| {
                (1..runs).contains(passed) && (*had == runs) == in_all
            });
            Named::from_names(names.map(|(name, _)| *name))
        };
        let at_base: BTreeSet<&str> = base.tests.keys().map(String::as_str).collect();
        let only_target = at_target.keys().filter(|name| !at_base.contains(*name));
        let only_base = at_base.iter().filter(|name| !at_target.contains_key(*name));
        let found = gap(&tests, base);
        let findings = [
            inconsistent(true).map(|tests| TaskFinding::Flaky { tests }),
            inconsistent(false).map(|tests| TaskFinding::Unsteady { tests }),
            Named::from_names(only_target.copied())
                .map(|tests| TaskFinding::OnlyAtTarget { tests }),
            Named::from_names(only_base.copied()).map(|tests| TaskFinding::OnlyAtBase { tests }),
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

/// Every node id with the number of runs that had it, and that passed it.
fn count_runs(reports: &[Report]) -> BTreeMap<&str, (usize, usize)> {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (name, test) in reports.iter().flat_map(|report| &report.tests) {
        let (had, passed) = counts.entry(name).or_default();
        *had += 1;
        *passed += usize::from(test.outcome == Outcome::Passed);
    }
    counts
}

fn gap(tests: &TestList, base: &Report) -> u32 {
    let passing: BTreeSet<&str> = base.passing().collect();
    let ids = tests.node_ids().iter();
    count(ids.filter(|id| !passing.contains(id.as_str())).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::report::TestResult;

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
            let (tests, preparation) = Preparation::of(&target, &report(base), declared);
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
            &["flaky tests: b"],
        );
        check(
            &["a:p x1:p y:f", "a:p x2:p"],
            "a:f x3:p",
            None,
            "a",
            &[
                "tests of changing names: x1 x2",
                "tests that the base does not have: x1 x2 y",
                "tests that the target does not have: x3",
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
        let (tests, preparation) = Preparation::of(&[report(&many.join(" "))], &report(""), None);
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
