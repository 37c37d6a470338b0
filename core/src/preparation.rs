//! How a task was prepared: its suite run several times on the target and once
//! on the base, and what is to be known of it before its results are believed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::outcomes::TestList;
use crate::report::{Outcome, Report};

/// Names of tests that are told with a finding; the others are counted.
const MOST_NAMES: usize = 50;

/// What the preparation of a task found out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Preparation {
    /// Seconds the suite took on the target, one for each time it was run.
    pub suite_seconds: Vec<f64>,
    /// Tests pytest found on the target, passing or not.
    pub target_collected: u32,
    /// Tests pytest found on the base, with the target's `tests/` in place.
    pub base_collected: u32,
    pub findings: Vec<TaskFinding>,
    /// Lines that differ between base and target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LinesChanged>,
    /// Licence of the target, read from its tree: an SPDX name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
}

/// Lines added and deleted between base and target.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LinesChanged {
    /// Python files that are no tests.
    pub source: Lines,
    pub tests: Lines,
    /// Everything else: documents, data, configuration.
    pub other: Lines,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Lines {
    pub files: u32,
    pub added: u32,
    pub deleted: u32,
}

impl Lines {
    /// Added and deleted together.
    #[must_use]
    pub fn modified(self) -> u32 {
        self.added.saturating_add(self.deleted)
    }
}

impl LinesChanged {
    /// Added and deleted in files of every kind (the paper, section 3.1).
    #[must_use]
    pub fn modified(self) -> u32 {
        [self.source, self.tests, self.other]
            .into_iter()
            .fold(0, |sum, lines| sum.saturating_add(lines.modified()))
    }
}

/// Something to know of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskFinding {
    /// They passed in some runs on the target and not in others: they are not
    /// part of T.
    Flaky { tests: Named },
    /// Some runs on the target passed tests of these names, and others did not
    /// have them: they are not part of T.
    Unsteady { tests: Named },
    /// pytest finds them on the target and not on the base.
    OnlyAtTarget { tests: Named },
    /// pytest finds them on the base and not on the target.
    OnlyAtBase { tests: Named },
    /// The gap is not the one the metadata file declares.
    GapDiffers { declared: u32, found: u32 },
    /// The target passes no test that the base does not: nothing is to be won.
    NoGap,
}

/// So many tests, and the names of the first of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Named {
    pub count: u32,
    /// In order, at most 50.
    pub first: Vec<String>,
}

impl Named {
    fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let mut names = names.into_iter();
        let first: Vec<String> = names.by_ref().take(MOST_NAMES).map(str::to_owned).collect();
        let count = u32::try_from(first.len() + names.count()).unwrap_or(u32::MAX);
        (count > 0).then_some(Self { count, first })
    }
}

impl TaskFinding {
    /// A few words for it.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match self {
            Self::Flaky { .. } => "flaky tests",
            Self::Unsteady { .. } => "tests of changing names",
            Self::OnlyAtTarget { .. } => "tests that the base does not have",
            Self::OnlyAtBase { .. } => "tests that the target does not have",
            Self::GapDiffers { .. } => "another gap than declared",
            Self::NoGap => "no gap",
        }
    }

    /// What it means, in a sentence.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Flaky { tests } => format!(
                "{} in some runs on the target and not in others; what flickers is not counted.",
                said(tests, "passed")
            ),
            Self::Unsteady { tests } => format!(
                "{} under names that other runs on the target did not have; they are not counted.",
                said(tests, "passed")
            ),
            Self::OnlyAtTarget { tests } => format!(
                "{} found on the target and not on the base: most often, what they are made of is.",
                said(tests, "are")
            ),
            Self::OnlyAtBase { tests } => format!(
                "{} found on the base and not on the target, with the same files of tests.",
                said(tests, "are")
            ),
            Self::GapDiffers { declared, found } => format!(
                "The metadata file declares a gap of {declared}; on this machine it is {found}."
            ),
            Self::NoGap => "The base passes every test that the target passes.".into(),
        }
    }

    /// Tests it is about.
    #[must_use]
    pub fn tests(&self) -> Option<&Named> {
        match self {
            Self::Flaky { tests }
            | Self::Unsteady { tests }
            | Self::OnlyAtTarget { tests }
            | Self::OnlyAtBase { tests } => Some(tests),
            Self::GapDiffers { .. } | Self::NoGap => None,
        }
    }
}

fn said(tests: &Named, verb: &str) -> String {
    match (tests.count, verb) {
        (1, "are") => "1 test is".into(),
        (1, verb) => format!("1 test {verb}"),
        (n, verb) => format!("{n} tests {verb}"),
    }
}

impl Preparation {
    /// Added and deleted, in files of every kind, where it was counted.
    #[must_use]
    pub fn modified_lines(&self) -> Option<u32> {
        self.lines.map(LinesChanged::modified)
    }

    #[must_use]
    pub fn number_of_findings(&self) -> u32 {
        u32::try_from(self.findings.len()).unwrap_or(u32::MAX)
    }

    /// From the reports of the suite on the target, one for each time it was
    /// run and at least one, and on the base: T, and what was found. T is what
    /// passed every time, so that no result hangs on chance.
    #[must_use]
    pub fn of(target: &[Report], base: &Report, declared_gap: Option<u32>) -> (TestList, Self) {
        let tests = TestList::of_targets(target);
        let seen = on_target(target);
        let runs = target.len();
        let flickers = |in_all: bool| {
            let found = seen
                .iter()
                .filter(move |(_, (had, passed))| {
                    *passed > 0 && *passed < runs && (*had == runs) == in_all
                })
                .map(|(name, _)| *name);
            Named::of(found)
        };
        let at_base: BTreeSet<&str> = base.tests.keys().map(String::as_str).collect();
        let only_target = seen.keys().copied().filter(|name| !at_base.contains(name));
        let only_base = at_base.iter().copied().filter(|n| !seen.contains_key(n));
        let gap = gap(&tests, base);
        let findings = [
            flickers(true).map(|tests| TaskFinding::Flaky { tests }),
            flickers(false).map(|tests| TaskFinding::Unsteady { tests }),
            Named::of(only_target).map(|tests| TaskFinding::OnlyAtTarget { tests }),
            Named::of(only_base).map(|tests| TaskFinding::OnlyAtBase { tests }),
            declared_gap
                .filter(|declared| *declared != gap)
                .map(|declared| TaskFinding::GapDiffers {
                    declared,
                    found: gap,
                }),
            (gap == 0).then_some(TaskFinding::NoGap),
        ];
        let collected = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let preparation = Self {
            target_collected: collected(seen.len()),
            base_collected: collected(at_base.len()),
            findings: findings.into_iter().flatten().collect(),
            ..Self::default()
        };
        (tests, preparation)
    }
}

/// Every node id with the number of runs that had it, and that passed it.
fn on_target(reports: &[Report]) -> BTreeMap<&str, (usize, usize)> {
    let mut seen: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (name, test) in reports.iter().flat_map(|report| &report.tests) {
        let (had, passed) = seen.entry(name).or_default();
        *had += 1;
        *passed += usize::from(test.outcome == Outcome::Passed);
    }
    seen
}

fn gap(tests: &TestList, base: &Report) -> u32 {
    let passing: BTreeSet<&str> = base.passing().collect();
    let ids = tests.node_ids().iter();
    let won = ids.filter(|id| !passing.contains(id.as_str())).count();
    u32::try_from(won).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::TestResult;

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
    fn what_passes_every_time_counts() {
        let check = |target: &[&str], base: &str, declared, expect_t: &str, expect: &[&str]| {
            let target: Vec<Report> = target.iter().map(|text| report(text)).collect();
            let (tests, found) = Preparation::of(&target, &report(base), declared);
            assert_eq!(tests.node_ids().join(" "), expect_t);
            let names = |finding: &TaskFinding| match finding.tests() {
                Some(tests) => format!("{}: {}", finding.title(), tests.first.join(" ")),
                None => finding.title().to_owned(),
            };
            let found: Vec<String> = found.findings.iter().map(names).collect();
            assert_eq!(found, expect);
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
    fn names_are_told_up_to_a_limit() {
        let many: Vec<String> = (100..200).map(|n| format!("t{n}:p")).collect();
        let (tests, found) = Preparation::of(&[report(&many.join(" "))], &report(""), None);
        assert_eq!((tests.len(), found.target_collected), (100, 100));
        let named = found.findings[0].tests().unwrap();
        assert_eq!((named.count, named.first.len()), (100, MOST_NAMES));
        assert_eq!(named.first[0], "t100");
        let text = found.findings[0].text();
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
