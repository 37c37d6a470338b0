//! One evolution, counted in one convention: the input of all scores.

use serde::{Deserialize, Serialize};

use crate::SuiteCounts;
use crate::{Convention, Regression, Verdict, normalized_change};

/// The counts of one evolution; the normalized changes follow from them. A
/// leaderboard keeps hundreds of thousands of them: so without room to grow,
/// and serialised without field names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Packed", into = "Packed")]
pub struct Series {
    base: u32,
    target: u32,
    passes: Box<[u32]>,
    regressions: Box<[Regression]>,
    solved: bool,
}

/// Base, target, passes, regressions (iteration, lost, of), solved.
#[derive(Serialize, Deserialize)]
struct Packed(u32, u32, Vec<u32>, Vec<(u32, u32, u32)>, bool);

impl From<Packed> for Series {
    fn from(Packed(base, target, passes, regressions, solved): Packed) -> Self {
        let regression = |(iteration, lost, of)| Regression {
            iteration,
            lost,
            of,
        };
        Self {
            base,
            target,
            passes: passes.into(),
            regressions: regressions.into_iter().map(regression).collect(),
            solved,
        }
    }
}

impl From<Series> for Packed {
    fn from(series: Series) -> Self {
        let regressions = series.regressions.iter();
        let regressions = regressions.map(|r| (r.iteration, r.lost, r.of)).collect();
        let Series { base, target, .. } = series;
        Self(
            base,
            target,
            series.passes.into(),
            regressions,
            series.solved,
        )
    }
}

impl Series {
    /// Counts an evolution; iterations beyond `max_iterations` (N) do not
    /// count. `None` in the paper's convention when only counts are known.
    pub fn count(
        convention: Convention,
        suite: SuiteCounts,
        max_iterations: u32,
        verdicts: &[Verdict],
    ) -> Option<Self> {
        let used = &verdicts[..verdicts.len().min(max_iterations as usize)];
        let counts = match convention {
            Convention::Paper if suite.counts_only => return None,
            Convention::Paper => paper(suite, used),
            Convention::Reference => reference(suite, used),
        };
        Some(counts.into())
    }

    /// The evolution as if it had ended after so many iterations.
    #[must_use]
    pub fn first(&self, iterations: u32, convention: Convention) -> Self {
        let used = self.passes.len().min(iterations as usize);
        if used == self.passes.len() {
            return self.clone();
        }
        let passes = &self.passes[..used];
        let reaches = |passes: &u32| *passes >= self.target;
        let broke = self
            .regressions
            .iter()
            .filter(|r| r.iteration <= iterations);
        Self {
            solved: match convention {
                Convention::Paper => passes.last().is_some_and(reaches),
                Convention::Reference => passes.iter().any(reaches),
            },
            passes: passes.into(),
            regressions: broke.copied().collect(),
            base: self.base,
            target: self.target,
        }
    }

    pub fn base(&self) -> u32 {
        self.base
    }

    pub fn target(&self) -> u32 {
        self.target
    }

    /// n(c) after each iteration; 0 where the code collapsed.
    pub fn passes(&self) -> &[u32] {
        &self.passes
    }

    /// Normalized change after each iteration (equation 2).
    pub fn changes(&self) -> impl ExactSizeIterator<Item = f64> {
        let change = |n: &u32| normalized_change(*n, self.base, self.target);
        self.passes.iter().map(change)
    }

    /// The last normalized change of the first iterations, at most this many; 0,
    /// the base, without any.
    pub fn change_after(&self, iterations: usize) -> f64 {
        let used = &self.passes[..iterations.min(self.passes.len())];
        let change = |n: &u32| normalized_change(*n, self.base, self.target);
        used.last().map_or(0.0, change)
    }

    /// The iterations that broke something.
    pub fn regressions(&self) -> &[Regression] {
        &self.regressions
    }

    /// No iteration broke a passing test (Figure 6).
    pub fn zero_regression(&self) -> bool {
        self.regressions.is_empty()
    }

    /// Figure 10; [`Convention`] has the definition of each convention.
    pub fn solved(&self) -> bool {
        self.solved
    }

    /// Zero-regression resolution: it is solved, and no iteration broke a passing
    /// test.
    pub fn zrr(&self) -> bool {
        self.solved && self.zero_regression()
    }

    /// Iterations used (Figure 11).
    pub fn turns(&self) -> u32 {
        u32::try_from(self.passes.len()).unwrap_or(u32::MAX)
    }
}

/// Tests of T, regressions test by test, solved at the end.
fn paper(suite: SuiteCounts, verdicts: &[Verdict]) -> Packed {
    let (base, target) = (suite.base_in_target, suite.target);
    let passes: Vec<u32> = verdicts.iter().map(|v| v.in_target()).collect();
    let regressions = regressions(base, verdicts, Verdict::in_target, |_, v| v.lost());
    let solved = passes.last().copied().unwrap_or(base) >= target;
    Packed(base, target, passes, regressions, solved)
}

/// All tests, clipped to the target; regressions by net count; solved if the
/// target was ever reached.
fn reference(suite: SuiteCounts, verdicts: &[Verdict]) -> Packed {
    let base = suite.base_passed;
    let target = base.saturating_add(suite.gap());
    let clipped = |v: Verdict| v.passed().min(target);
    let passes: Vec<u32> = verdicts.iter().map(|v| clipped(*v)).collect();
    let lost = |before: u32, v| before.saturating_sub(clipped(v));
    let regressions = regressions(base, verdicts, clipped, lost);
    let solved = passes.iter().copied().fold(base, u32::max) == target;
    Packed(base, target, passes, regressions, solved)
}

/// The iterations that lost tests against the last scored code before them, with
/// the numbers of tests lost and before.
fn regressions(
    base: u32,
    verdicts: &[Verdict],
    passing: impl Fn(Verdict) -> u32,
    lost: impl Fn(u32, Verdict) -> u32,
) -> Vec<(u32, u32, u32)> {
    let mut before = base;
    let mut result = Vec::new();
    for (iteration, verdict) in (1..).zip(verdicts.iter().copied()) {
        let lost = lost(before, verdict);
        if lost > 0 {
            result.push((iteration, lost, before));
        }
        if let Verdict::Scored { .. } = verdict {
            before = passing(verdict);
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: SuiteCounts = SuiteCounts {
        base_in_target: 10,
        target: 20,
        base_passed: 12,
        counts_only: false,
    };

    fn scored(in_target: u32, passed: u32, lost: u32) -> Verdict {
        Verdict::Scored {
            in_target,
            passed,
            lost,
        }
    }

    fn count(convention: Convention, verdicts: &[Verdict]) -> Series {
        Series::count(convention, SUITE, 20, verdicts).unwrap()
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
        let paper = count(Convention::Paper, &verdicts);
        assert!(paper.changes().eq([0.5, -1.0, 1.0]));
        assert!(paper.solved() && !paper.zero_regression());
        let reference = count(Convention::Reference, &verdicts);
        assert!(reference.changes().eq([0.5, -1.0, 1.0]));
        let after = [0, 1, 2, 9].map(|iterations| reference.change_after(iterations));
        assert_eq!(after, [0.0, 0.5, -1.0, 1.0]);
        assert!(reference.solved() && !reference.zero_regression());
        assert_eq!((reference.turns(), reference.target()), (3, 22));
        let lost = |iteration, lost, of| Regression {
            iteration,
            lost,
            of,
        };
        assert_eq!(paper.regressions(), [lost(2, 15, 15)]);
        assert_eq!(reference.regressions(), [lost(2, 17, 17)]);
    }

    /// Three old tests break while four new ones pass.
    #[test]
    fn per_test_against_net() {
        let verdicts = [scored(11, 13, 3)];
        let paper = count(Convention::Paper, &verdicts);
        assert!(!paper.zero_regression());
        assert_eq!(paper.regressions()[0].lost, 3);
        assert!(count(Convention::Reference, &verdicts).zero_regression());
    }

    #[test]
    fn after_a_collapse_the_last_scored_code_counts() {
        let verdicts = [
            scored(15, 17, 0),
            Verdict::Collapsed { lost: 15 },
            scored(14, 16, 1),
        ];
        let regressions = |convention| {
            count(convention, &verdicts)
                .regressions()
                .iter()
                .map(|r| (r.iteration, r.lost, r.of))
                .collect::<Vec<_>>()
        };
        assert_eq!(regressions(Convention::Paper), [(2, 15, 15), (3, 1, 15)]);
        assert_eq!(
            regressions(Convention::Reference),
            [(2, 17, 17), (3, 1, 17)]
        );
    }

    #[test]
    fn solved_at_the_end_or_ever() {
        let verdicts = [scored(20, 22, 0), scored(19, 21, 1)];
        assert!(!count(Convention::Paper, &verdicts).solved());
        assert!(count(Convention::Reference, &verdicts).solved());
    }

    /// `paper` looks at the end and at each test, `reference` at counts.
    #[test]
    fn solved_without_a_regression() {
        let check = |verdicts: &[Verdict], expect: [bool; 2]| {
            let seen = Convention::ALL.map(|convention| count(convention, verdicts).zrr());
            assert_eq!(seen, expect, "{verdicts:?}");
        };
        check(&[scored(15, 17, 0), scored(20, 22, 0)], [true, true]);
        // Never solved; solved after a loss that gains outweigh.
        check(&[scored(15, 17, 0)], [false, false]);
        check(&[scored(14, 16, 2), scored(20, 22, 0)], [false, true]);
        // Solved after a collapse; solved and then broken.
        let collapsed = Verdict::Collapsed { lost: 10 };
        check(&[collapsed, scored(20, 22, 0)], [false, false]);
        check(&[scored(20, 22, 0), scored(19, 21, 1)], [false, false]);
    }

    #[test]
    fn no_iteration_at_all() {
        for convention in Convention::ALL {
            let series = count(convention, &[]);
            assert!(series.changes().len() == 0 && !series.solved() && series.zero_regression());
        }
    }

    #[test]
    fn iterations_beyond_the_last_do_not_count() {
        let verdicts = [scored(12, 14, 0), scored(20, 22, 0)];
        for convention in Convention::ALL {
            let series = Series::count(convention, SUITE, 1, &verdicts).unwrap();
            assert!(!series.solved() && series.turns() == 1);
        }
    }

    #[test]
    fn counts_alone_have_no_paper_score() {
        let suite = SuiteCounts::counts_only(10, 10);
        assert_eq!(Series::count(Convention::Paper, suite, 20, &[]), None);
        let verdicts = [scored(12, 12, 0), Verdict::Collapsed { lost: 12 }];
        let series = Series::count(Convention::Reference, suite, 20, &verdicts).unwrap();
        assert!(series.changes().eq([0.2, -1.0]));
    }

    #[test]
    fn travels_as_counts() {
        let verdicts = [scored(15, 17, 0), scored(14, 16, 1)];
        let series = count(Convention::Paper, &verdicts);
        let json = serde_json::to_string(&series).unwrap();
        assert_eq!(json, "[10,20,[15,14],[[2,1,15]],false]");
        assert_eq!(serde_json::from_str::<Series>(&json).unwrap(), series);
    }
}
