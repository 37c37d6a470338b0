//! What is peculiar about a task, in words.

use serde::{Deserialize, Serialize};
use swe_ci_core::wall::Wall;

use super::{Condition, Named};

/// A peculiarity of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskFinding {
    /// Tests that passed in some runs on the target and not in others: they
    /// are not part of T.
    Flaky { tests: Named },
    /// Tests that passed in every run on the target and in some on the base: they
    /// are not part of T.
    FlakyOnBase { tests: Named },
    /// Tests that passed in some runs on the target and did not exist in
    /// others: they are not part of T.
    Unsteady { tests: Named },
    /// Tests that pytest finds on the target and not on the base.
    OnlyAtTarget { tests: Named },
    /// Tests that pytest finds on the base and not on the target.
    OnlyAtBase { tests: Named },
    /// Tests that fail on the target in every run: they are not part of T.
    /// `error` is their most frequent one.
    NotPassing { tests: Named, error: String },
    /// Tests that are skipped on the target in every run, because something is
    /// missing. `reason` is their most frequent one.
    Skipped { tests: Named, reason: String },
    /// The gap differs from the one that the metadata file declares.
    GapDiffers { declared: u32, found: u32 },
    /// pytest is started without these options of the settings, because nothing
    /// that is installed knows them.
    OptionsDropped { options: Vec<String> },
    /// The task is graded without a wall, which its own tests do not bear.
    WallLeftAway { wall: Wall, why: String },
    /// The target passes no test that the base does not: there is nothing to
    /// gain.
    NoGap,
    /// Tests that pass although all source files are empty.
    PassWithoutCode { tests: Named },
    /// Tests of T that do not pass under another condition.
    DependOn { condition: Condition, tests: Named },
    /// A task of another split has most of these tests.
    SimilarTask { task: String, percent: u32 },
    /// Code of the real history whose suite gives no result: the human baseline
    /// collapses there. `problem` is the first one's.
    HistoryFails {
        commits: Vec<String>,
        problem: String,
    },
}

impl TaskFinding {
    pub fn title(&self) -> &'static str {
        match self {
            Self::Flaky { .. } => "flaky tests",
            Self::FlakyOnBase { .. } => "tests that flip on the base",
            Self::Unsteady { .. } => "tests of changing names",
            Self::OnlyAtTarget { .. } => "tests that the base does not have",
            Self::OnlyAtBase { .. } => "tests that the target does not have",
            Self::NotPassing { .. } => "tests that the target fails",
            Self::Skipped { .. } => "tests that miss something",
            Self::GapDiffers { .. } => "another gap than declared",
            Self::OptionsDropped { .. } => "options left out",
            Self::WallLeftAway { .. } => "a wall left away",
            Self::NoGap => "no gap",
            Self::HistoryFails { .. } => "history that cannot be tested",
            Self::PassWithoutCode { .. } => "tests that pass without code",
            Self::DependOn { condition, .. } => match condition {
                Condition::Order => "tests that depend on their order",
                Condition::Home => "tests that need a home folder",
                Condition::Clock => "tests that depend on the date",
            },
            Self::SimilarTask { .. } => "a similar task in another split",
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Flaky { tests } => format!(
                "{} in some runs on the target and not in others; flaky tests do not count.",
                subject(tests, "passed")
            ),
            Self::FlakyOnBase { tests } => format!(
                "{} in some runs on the base and not in others; they do not count.",
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
            Self::NotPassing { tests, error } => format!(
                "{} in every run on the target; they do not count. Their most frequent error: {error}",
                subject(tests, "failed")
            ),
            Self::Skipped { tests, reason } => format!(
                "{} skipped on the target, because something is missing; they do not count. The most frequent reason: {reason}",
                subject(tests, if tests.count == 1 { "was" } else { "were" })
            ),
            Self::GapDiffers { declared, found } => format!(
                "The metadata file declares a gap of {declared}; on this machine it is {found}."
            ),
            Self::OptionsDropped { options } => format!(
                "The settings ask for {}, which nothing in the image knows; pytest is started without.",
                options.join(" ")
            ),
            Self::WallLeftAway { wall, why } => {
                format!(
                    "Its tests are graded without {}, because {why}.",
                    wall.words()
                )
            }
            Self::NoGap => "The base passes every test that the target passes.".into(),
            Self::PassWithoutCode { tests } => format!(
                "{} although every source file is empty.",
                subject(tests, "passed")
            ),
            Self::DependOn { condition, tests } => match condition {
                Condition::Order => format!(
                    "{} at least once in a random order; in their own order they pass every time.",
                    subject(tests, "failed")
                ),
                Condition::Home => format!(
                    "{} in a container without a home folder.",
                    subject(tests, "failed")
                ),
                Condition::Clock => format!(
                    "{} with the clock 400 days ahead: some day that happens to every model.",
                    subject(tests, "failed")
                ),
            },
            Self::SimilarTask { task, percent } => {
                format!("{percent} % of the tests of this task and of {task} are the same.")
            }
            Self::HistoryFails { commits, problem } => format!(
                "The suite gives no result on the code of {} between base and target ({}): {problem}",
                match commits.len() {
                    1 => "1 commit".to_owned(),
                    n => format!("{n} commits"),
                },
                commits.join(", ")
            ),
        }
    }

    pub fn tests(&self) -> Option<&Named> {
        match self {
            Self::Flaky { tests }
            | Self::FlakyOnBase { tests }
            | Self::Unsteady { tests }
            | Self::OnlyAtTarget { tests }
            | Self::OnlyAtBase { tests }
            | Self::NotPassing { tests, .. }
            | Self::Skipped { tests, .. }
            | Self::DependOn { tests, .. }
            | Self::PassWithoutCode { tests } => Some(tests),
            Self::GapDiffers { .. }
            | Self::OptionsDropped { .. }
            | Self::WallLeftAway { .. }
            | Self::NoGap
            | Self::HistoryFails { .. }
            | Self::SimilarTask { .. } => None,
        }
    }
}

/// The start of a sentence, such as `1 test is` or `3 tests passed`.
pub(super) fn subject(tests: &Named, verb: &str) -> String {
    match (tests.count, verb) {
        (1, "are") => "1 test is".into(),
        (1, verb) => format!("1 test {verb}"),
        (n, verb) => format!("{n} tests {verb}"),
    }
}
