//! Compares two runs on the tasks both were scored on.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::SEED;
use super::resample::{Clusters, Interval};
use crate::SAME;

/// Of up to so many repositories, every combination of signs is tried; of more,
/// [`RANDOM_FLIPS`] random ones.
const ALL_FLIPS: usize = 12;
const RANDOM_FLIPS: usize = 10_000;
/// A p-value below it is unlikely to be chance.
pub(super) const SIGNIFICANT: f64 = 0.05;

/// The difference of two runs on one task, averaged over its samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The index of the repository in [`Clusters`].
    pub repository: usize,
    /// First run minus second.
    pub value: f64,
}

/// How two runs differ on the tasks they share.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Comparison {
    /// Tasks both were scored on.
    pub tasks: u32,
    /// Repositories of those tasks.
    pub repositories: u32,
    /// Mean over the shared tasks of first minus second, -2 to 2.
    pub difference: f64,
    /// The differences that the test of [`Self::p_value`] does not reject at 5 %; it
    /// spans 0 exactly if that is 0.05 or more. Absent with fewer than six
    /// repositories, which cannot bound it.
    pub interval: Option<Interval>,
    /// Two-sided sign-flip permutation test by repository, above 0 to 1: how
    /// often chance alone produces a difference at least as large.
    pub p_value: f64,
    /// Shared tasks on which the first is ahead.
    pub wins: u32,
    /// Shared tasks on which both are equal.
    pub ties: u32,
    /// Shared tasks on which the second is ahead.
    pub losses: u32,
}

impl Comparison {
    /// The same, second run minus first.
    #[must_use]
    pub fn reversed(self) -> Self {
        let interval = self.interval.map(|Interval { low, high }| Interval {
            low: -high,
            high: -low,
        });
        Self {
            difference: -self.difference,
            interval,
            wins: self.losses,
            losses: self.wins,
            ..self
        }
    }

    /// Whether the data does not decide which of the two is ahead: a difference this
    /// large may be chance, at the usual 5 %.
    pub fn is_tie(&self) -> bool {
        self.p_value >= SIGNIFICANT
    }
}

/// [`Comparison::is_tie`] alone, for a ranking, which needs it for every row. Most
/// flips need not be tried to see that a difference may be chance.
pub fn is_tie(differences: &[Difference], repositories: usize) -> bool {
    let clusters = by_repository(differences, repositories);
    let Some(difference) = clusters.mean() else {
        return true;
    };
    let flips = Flips::new(&clusters);
    let enough = (SIGNIFICANT * flips.number as f64).ceil() as usize;
    let as_far = flips.all().filter(|flip| flip.is_as_far(difference));
    as_far.take(enough).count() == enough
}

pub(super) fn by_repository(differences: &[Difference], repositories: usize) -> Clusters {
    let mut clusters = Clusters::new(repositories);
    for difference in differences {
        clusters.add(difference.repository, difference.value);
    }
    clusters
}

/// Compares two runs; `None` when they share no task.
pub fn compare(differences: &[Difference], repositories: usize) -> Option<Comparison> {
    let clusters = by_repository(differences, repositories);
    let difference = clusters.mean()?;
    let flips: Vec<Flip> = Flips::new(&clusters).all().collect();
    let count = |holds: fn(f64) -> bool| {
        let n = differences.iter().filter(|d| holds(d.value)).count();
        u32::try_from(n).unwrap_or(u32::MAX)
    };
    let as_far = flips.iter().filter(|flip| flip.is_as_far(difference));
    Some(Comparison {
        tasks: count(|_| true),
        repositories: u32::try_from(clusters.used()).unwrap_or(u32::MAX),
        difference,
        p_value: as_far.count() as f64 / flips.len() as f64,
        interval: not_rejected(&flips, SIGNIFICANT),
        wins: count(|d| d > SAME),
        ties: count(|d| d.abs() <= SAME),
        losses: count(|d| d < -SAME),
    })
}

/// The interval of [`Comparison::interval`], of confidence 1 − `alpha`.
pub(super) fn interval_at(clusters: &Clusters, alpha: f64) -> Option<Interval> {
    let flips: Vec<Flip> = Flips::new(clusters).all().collect();
    not_rejected(&flips, alpha)
}

/// A choice of signs: some repositories keep theirs, the others' are flipped. Both
/// groups have a mean difference. Flipping the signs of differences minus d gives a
/// sum as far from zero as the observed one if, and only if, d is between these means
/// or at one: so the same choices give the p-value of every d.
#[derive(Debug, Clone, Copy)]
struct Flip {
    low: f64,
    high: f64,
}

impl Flip {
    /// One that flips all or nothing gives the observed sum, whatever d is.
    const NOTHING: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// Whether it is as far from zero as the observed sum, by the observed mean.
    fn is_as_far(&self, difference: f64) -> bool {
        match difference > 0.0 {
            true => self.low <= SAME,
            false => self.high >= -SAME,
        }
    }
}

/// All differences that fewer than a share `alpha` of the flips reject.
fn not_rejected(flips: &[Flip], alpha: f64) -> Option<Interval> {
    let at = ((alpha * flips.len() as f64).ceil() as usize).checked_sub(1)?;
    let mut lows: Vec<f64> = flips.iter().map(|flip| flip.low).collect();
    let mut highs: Vec<f64> = flips.iter().map(|flip| -flip.high).collect();
    let [low, high] = [&mut lows, &mut highs].map(|ends| {
        let (_, end, _) = ends.select_nth_unstable_by(at, f64::total_cmp);
        *end
    });
    let interval = Interval { low, high: -high };
    (low.is_finite() && high.is_finite()).then_some(interval)
}

/// The choices of signs of the repositories of a comparison.
struct Flips {
    /// The summed difference and the number of tasks of each repository.
    repositories: Vec<(f64, f64)>,
    total: (f64, f64),
    number: usize,
}

impl Flips {
    fn new(clusters: &Clusters) -> Self {
        let repositories: Vec<(f64, f64)> = clusters.repositories().collect();
        let add = |a: (f64, f64), b: &(f64, f64)| (a.0 + b.0, a.1 + b.1);
        Self {
            total: repositories.iter().fold((0.0, 0.0), add),
            number: match repositories.len() {
                few @ ..=ALL_FLIPS => 1 << few,
                // The observed signs count as one of them, so p is never 0.
                _ => RANDOM_FLIPS + 1,
            },
            repositories,
        }
    }

    /// The first flips nothing.
    fn all(&self) -> impl Iterator<Item = Flip> {
        let is_few = self.repositories.len() <= ALL_FLIPS;
        let mut random = Pcg32::seed_from_u64(SEED);
        (0..self.number).map(move |at| match (at, is_few) {
            (0, _) => Flip::NOTHING,
            (_, true) => self.flip(|i| at >> i & 1 == 1),
            (_, false) => {
                let mut bits = 0;
                self.flip(|i| {
                    if i % 32 == 0 {
                        bits = random.next_u32();
                    }
                    bits >> (i % 32) & 1 == 1
                })
            }
        })
    }

    fn flip(&self, mut flipped: impl FnMut(usize) -> bool) -> Flip {
        let each = self.repositories.iter().enumerate();
        let flipped = each.filter(|(i, _)| flipped(*i));
        let (sum, tasks) = flipped.fold((0.0, 0.0), |(sum, tasks), (_, repository)| {
            (sum + repository.0, tasks + repository.1)
        });
        let others = self.total.1 - tasks;
        if tasks == 0.0 || others == 0.0 {
            return Flip::NOTHING;
        }
        let (one, other) = (sum / tasks, (self.total.0 - sum) / others);
        Flip {
            low: one.min(other),
            high: one.max(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares with one task per repository.
    fn compare_values(values: &[f64]) -> Comparison {
        let differences: Vec<Difference> = values
            .iter()
            .enumerate()
            .map(|(repository, value)| Difference {
                repository,
                value: *value,
            })
            .collect();
        compare(&differences, values.len()).unwrap()
    }

    #[test]
    fn worked_examples() {
        // All three repositories agree: of the 8 combinations of signs, two
        // (all or none) are as far from zero.
        let agreed = compare_values(&[0.1, 0.2, 0.3]);
        assert!((agreed.difference - 0.2).abs() < 1e-12);
        assert!((agreed.p_value - 0.25).abs() < 1e-12);
        assert_eq!((agreed.wins, agreed.ties, agreed.losses), (3, 0, 0));
        // Three repositories are too few to bound a difference.
        assert!(agreed.interval.is_none() && agreed.is_tie());
        let reversed = agreed.reversed();
        assert_eq!(compare_values(&[-0.1, -0.2, -0.3]), reversed);
        // No difference at all.
        let equal = compare_values(&[0.0, 0.0]);
        assert_eq!((equal.p_value, equal.ties), (1.0, 2));
        assert!(equal.is_tie());
        // The repositories contradict each other.
        let torn = compare_values(&[0.5, -0.5]);
        assert!((torn.p_value - 1.0).abs() < 1e-12 && torn.is_tie());
        let alone = compare_values(&[0.5]);
        assert!((alone.p_value - 1.0).abs() < 1e-12 && alone.is_tie());
        // Of six, 4 of 64 choices of signs may be as far: all, none, and those that flip
        // the sixth alone or all others. Their means bound the interval.
        let six = compare_values(&[0.1, 0.2, 0.3, 0.4, 0.5, -0.1]);
        let interval = six.interval.unwrap();
        assert!((interval.low + 0.1).abs() < 1e-12 && (interval.high - 0.5).abs() < 1e-12);
    }

    #[test]
    fn many_repositories_are_flipped_at_random() {
        let ahead = compare_values(&[0.1; 40]);
        assert!(ahead.p_value < 0.001 && ahead.p_value > 0.0 && !ahead.is_tie());
        let even: Vec<f64> = (0..40)
            .map(|i| if i % 2 == 0 { 0.1 } else { -0.1 })
            .collect();
        assert!(compare_values(&even).p_value > 0.9);
    }

    #[test]
    fn no_shared_task() {
        assert_eq!(compare(&[], 3), None);
    }

    proptest! {
        #[test]
        fn swapping_the_runs_mirrors_the_result(values in prop::collection::vec(-1.0f64..1.0, 1..30)) {
            let forward = compare_values(&values);
            let reverse = compare_values(&values.iter().map(|v| -v).collect::<Vec<_>>());
            prop_assert!((forward.difference + reverse.difference).abs() < 1e-12);
            prop_assert!((forward.p_value - reverse.p_value).abs() < 1e-12);
            prop_assert_eq!(forward.wins, reverse.losses);
            if let (Some(a), Some(b)) = (forward.interval, reverse.interval) {
                prop_assert!((a.low + b.high).abs() < 1e-9 && (a.high + b.low).abs() < 1e-9);
            }
        }

        /// A ranking and a comparison agree.
        #[test]
        fn ties_are_those_of_comparisons(values in prop::collection::vec(-0.3f64..1.0, 1..20)) {
            let differences: Vec<Difference> = values
                .iter()
                .zip(0..)
                .map(|(value, repository)| Difference { repository, value: *value })
                .collect();
            let comparison = compare(&differences, values.len()).unwrap();
            prop_assert_eq!(is_tie(&differences, values.len()), comparison.is_tie());
            // The interval and the test never say two things.
            if let Some(interval) = comparison.interval {
                prop_assert_eq!(interval.spans_zero(), comparison.is_tie());
                prop_assert!(interval.low <= comparison.difference + 1e-9);
                prop_assert!(interval.high >= comparison.difference - 1e-9);
            } else {
                prop_assert!(values.len() < 6 && comparison.is_tie());
            }
        }

        #[test]
        fn a_p_value_is_a_share(values in prop::collection::vec(-1.0f64..1.0, 1..30)) {
            let p = compare_values(&values).p_value;
            prop_assert!(p > 0.0 && p <= 1.0);
        }
    }
}
