//! The two interpretations of the benchmark's rules. Results always have both,
//! never a mixture.

use serde::{Deserialize, Serialize};

use crate::SuiteCounts;

/// The result of the test run after an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    Scored {
        /// Tests of T that pass.
        in_target: u32,
        /// All tests that pass.
        passed: u32,
        /// Tests of T that passed on the last scored code and no longer do.
        lost: u32,
    },
    /// The code no longer runs: no test passes.
    Collapsed {
        /// Tests of T that passed on the last scored code.
        lost: u32,
    },
}

impl Verdict {
    pub fn lost(self) -> u32 {
        match self {
            Self::Scored { lost, .. } | Self::Collapsed { lost } => lost,
        }
    }

    /// Tests of T that pass; none on collapsed code.
    pub fn in_target(self) -> u32 {
        match self {
            Self::Scored { in_target, .. } => in_target,
            Self::Collapsed { .. } => 0,
        }
    }

    /// All tests that pass; none on collapsed code.
    pub fn passed(self) -> u32 {
        match self {
            Self::Scored { passed, .. } => passed,
            Self::Collapsed { .. } => 0,
        }
    }

    /// Tests of T that pass here and not on the last scored code, where
    /// `before` of them passed.
    pub fn gained(self, before: u32) -> u32 {
        (self.in_target() + self.lost()).saturating_sub(before)
    }

    /// The verdicts of an evolution when only the numbers of passing tests
    /// are known, `None` where the code collapsed. The losses are then the net
    /// fall since the last scored code.
    pub fn by_count(
        suite: SuiteCounts,
        passed: impl IntoIterator<Item = Option<u32>>,
    ) -> Vec<Self> {
        let mut before = suite.base_in_target;
        let verdict = |passed: Option<u32>| match passed {
            None => Self::Collapsed { lost: before },
            Some(passed) => {
                let in_target = passed.min(suite.target);
                let lost = before.saturating_sub(in_target);
                before = in_target;
                Self::Scored {
                    in_target,
                    passed,
                    lost,
                }
            }
        };
        passed.into_iter().map(verdict).collect()
    }
}

/// How tests are counted.
///
/// `Paper` (the default) counts only T, the tests the target passes, and
/// counts regressions test by test. `Reference` counts as the authors'
/// program does: every passing test of the report, clipped to the target,
/// regressions by net count, solved if the target was *ever* reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Convention {
    #[default]
    Paper,
    Reference,
}

impl Convention {
    pub const ALL: [Self; 2] = [Self::Paper, Self::Reference];

    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Reference => "reference",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

impl std::str::FromStr for Convention {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::from_name(name)
            .ok_or_else(|| format!("`{name}` is not a convention: use paper or reference"))
    }
}
