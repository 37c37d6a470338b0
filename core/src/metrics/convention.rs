//! The two readings of the benchmark's rules, always both, never mixed.

use serde::{Deserialize, Serialize};

use super::{net_zero_regression, normalized_change, per_test_zero_regression};
use crate::task::SuiteCounts;

/// What the test run after an iteration said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    #[must_use]
    pub fn lost(self) -> u32 {
        match self {
            Self::Scored { lost, .. } | Self::Collapsed { lost } => lost,
        }
    }

    /// Tests of T that pass; none on collapsed code.
    #[must_use]
    pub fn in_target(self) -> u32 {
        match self {
            Self::Scored { in_target, .. } => in_target,
            Self::Collapsed { .. } => 0,
        }
    }

    fn passed(self) -> u32 {
        match self {
            Self::Scored { passed, .. } => passed,
            Self::Collapsed { .. } => 0,
        }
    }
}

/// How tests are counted.
///
/// `Paper` (the default) counts only T, the tests the target passes, and
/// looks at regressions test by test. `Reference` counts as the authors'
/// program does: every passing test of the report, clipped to the target,
/// regressions by net count, solved if the target was *ever* reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Convention {
    #[default]
    Paper,
    Reference,
}

impl Convention {
    pub const ALL: [Self; 2] = [Self::Paper, Self::Reference];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Reference => "reference",
        }
    }
}

impl std::str::FromStr for Convention {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|c| c.name() == name)
            .ok_or_else(|| format!("`{name}` is not a convention: use paper or reference"))
    }
}

/// One evolution, counted in one convention: all that scores need of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Normalized change after each iteration (eq. 2).
    pub changes: Vec<f64>,
    pub zero_regression: bool,
    pub solved: bool,
}

impl Series {
    #[must_use]
    pub fn count(convention: Convention, suite: SuiteCounts, verdicts: &[Verdict]) -> Self {
        match convention {
            Convention::Paper => Self::paper(suite, verdicts),
            Convention::Reference => Self::reference(suite, verdicts),
        }
    }

    fn paper(suite: SuiteCounts, verdicts: &[Verdict]) -> Self {
        let passes: Vec<u32> = verdicts.iter().map(|v| v.in_target()).collect();
        Self {
            changes: changes(&passes, suite.base_in_target, suite.target),
            zero_regression: per_test_zero_regression(verdicts),
            solved: passes.last().copied().unwrap_or(suite.base_in_target) >= suite.target,
        }
    }

    fn reference(suite: SuiteCounts, verdicts: &[Verdict]) -> Self {
        let base = suite.base_passed;
        let target = base + suite.gap();
        let passes: Vec<u32> = verdicts.iter().map(|v| v.passed().min(target)).collect();
        Self {
            changes: changes(&passes, base, target),
            zero_regression: net_zero_regression(base, &passes),
            solved: passes.iter().copied().max().unwrap_or(0).max(base) == target,
        }
    }

    /// Iterations used (Figure 11).
    #[must_use]
    pub fn turns(&self) -> u32 {
        u32::try_from(self.changes.len()).unwrap_or(u32::MAX)
    }
}

fn changes(passes: &[u32], base: u32, target: u32) -> Vec<f64> {
    passes
        .iter()
        .map(|n| normalized_change(*n, base, target))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: SuiteCounts = SuiteCounts {
        base_in_target: 10,
        target: 20,
        base_passed: 12,
    };

    fn scored(in_target: u32, passed: u32, lost: u32) -> Verdict {
        Verdict::Scored {
            in_target,
            passed,
            lost,
        }
    }

    #[test]
    fn both_conventions_of_one_evolution() {
        // Base passes 12 tests, 10 of them in T; the gap is 10, so the
        // reference target is 22.
        let verdicts = [
            scored(15, 17, 0),
            Verdict::Collapsed { lost: 15 },
            scored(20, 30, 0),
        ];
        let paper = Series::count(Convention::Paper, SUITE, &verdicts);
        assert_eq!(paper.changes, [0.5, -1.0, 1.0]);
        assert!(paper.solved && !paper.zero_regression);
        let reference = Series::count(Convention::Reference, SUITE, &verdicts);
        assert_eq!(reference.changes, [0.5, -1.0, 1.0]);
        assert!(reference.solved && !reference.zero_regression);
        assert_eq!(reference.turns(), 3);
    }

    #[test]
    fn solved_at_the_end_or_ever() {
        let verdicts = [scored(20, 22, 0), scored(19, 21, 1)];
        assert!(!Series::count(Convention::Paper, SUITE, &verdicts).solved);
        assert!(Series::count(Convention::Reference, SUITE, &verdicts).solved);
    }

    #[test]
    fn no_iteration_at_all() {
        for convention in Convention::ALL {
            let series = Series::count(convention, SUITE, &[]);
            assert!(series.changes.is_empty() && !series.solved && series.zero_regression);
        }
    }
}
