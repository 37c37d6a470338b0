//! Compares two runs on the tasks both were scored on.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::resample::{Clusters, Interval, Resamples};
use crate::SAME;

/// Up to `ALL_FLIPS` differing repositories, the permutation test tries every
/// combination of signs; beyond, `RANDOM_FLIPS` random ones.
const ALL_FLIPS: usize = 12;
const RANDOM_FLIPS: u32 = 10_000;
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
    /// 95 % paired cluster bootstrap; absent with fewer than two repositories.
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

    /// Whether the permutation test finds a difference this large unlikely to
    /// be chance, at the usual 5 %.
    pub fn is_unlikely_chance(&self) -> bool {
        self.p_value < SIGNIFICANT
    }

    /// Whether the data does not decide which of the two is ahead: the interval
    /// spans 0, or the test finds that the difference may be chance. Of few
    /// repositories intervals are too narrow to decide alone.
    pub fn is_tie(&self) -> bool {
        is_open(self.interval) || !self.is_unlikely_chance()
    }
}

/// [`Comparison::is_tie`] alone, for a ranking, which needs it for every row: the
/// sign flips take ten times as long as the rest, and mostly the interval is
/// enough.
pub fn is_tie(differences: &[Difference], repositories: usize, resamples: &Resamples) -> bool {
    let clusters = by_repository(differences, repositories);
    is_open(resamples.interval(&clusters)) || may_be_chance(&clusters, resamples)
}

/// The same where the difference of each resample is known.
pub fn is_tie_by(
    means: &[f64],
    differences: impl FnOnce() -> Vec<Difference>,
    repositories: usize,
    resamples: &Resamples,
) -> bool {
    Interval::leaves_open(means)
        || may_be_chance(&by_repository(&differences(), repositories), resamples)
}

/// Whether an interval leaves open which of the two is ahead.
fn is_open(interval: Option<Interval>) -> bool {
    interval.is_none_or(Interval::spans_zero)
}

fn may_be_chance(clusters: &Clusters, resamples: &Resamples) -> bool {
    sign_flips(clusters.sums().collect(), resamples.seed()) >= SIGNIFICANT
}

pub(super) fn by_repository(differences: &[Difference], repositories: usize) -> Clusters {
    let mut clusters = Clusters::new(repositories);
    for difference in differences {
        clusters.add(difference.repository, difference.value);
    }
    clusters
}

/// Compares two runs; `None` when they share no task.
pub fn compare(
    differences: &[Difference],
    repositories: usize,
    resamples: &Resamples,
) -> Option<Comparison> {
    if differences.is_empty() {
        return None;
    }
    let clusters = by_repository(differences, repositories);
    let count = |holds: fn(f64) -> bool| {
        let n = differences.iter().filter(|d| holds(d.value)).count();
        u32::try_from(n).unwrap_or(u32::MAX)
    };
    let total: f64 = clusters.sums().sum();
    Some(Comparison {
        tasks: count(|_| true),
        repositories: u32::try_from(clusters.used()).unwrap_or(u32::MAX),
        difference: total / differences.len() as f64,
        interval: resamples.interval(&clusters),
        p_value: sign_flips(clusters.sums().collect(), resamples.seed()),
        wins: count(|d| d > SAME),
        ties: count(|d| d.abs() <= SAME),
        losses: count(|d| d < -SAME),
    })
}

/// How often flipping the signs of whole repositories gives a sum at least as
/// far from zero as the observed one.
pub(super) fn sign_flips(mut sums: Vec<f64>, seed: u64) -> f64 {
    let observed = sums.iter().sum::<f64>().abs();
    // Flipping a repository without a difference changes nothing.
    sums.retain(|sum| *sum != 0.0);
    let as_far = |flipped: f64| flipped.abs() >= observed - SAME;
    if sums.len() <= ALL_FLIPS {
        let all = 1u32 << sums.len();
        let far = (0..all).filter(|flips| as_far(flip(&sums, |i| flips >> i & 1 == 1)));
        return far.count() as f64 / f64::from(all);
    }
    let mut random = Pcg32::seed_from_u64(seed);
    let mut far = 1u32;
    for _ in 0..RANDOM_FLIPS {
        let mut bits = 0u32;
        let flipped = flip(&sums, |i| {
            if i % 32 == 0 {
                bits = random.next_u32();
            }
            bits >> (i % 32) & 1 == 1
        });
        far += u32::from(as_far(flipped));
    }
    // The observed sum counts as one of the flips, so p is never 0.
    f64::from(far) / f64::from(RANDOM_FLIPS + 1)
}

fn flip(sums: &[f64], mut flipped: impl FnMut(usize) -> bool) -> f64 {
    let signed = sums.iter().enumerate();
    signed
        .map(|(i, sum)| if flipped(i) { -sum } else { *sum })
        .sum()
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
        let resamples = Resamples::new(values.len(), 1_000, 1);
        compare(&differences, values.len(), &resamples).unwrap()
    }

    #[test]
    fn worked_examples() {
        // All three repositories agree: of the 8 combinations of signs, two
        // (all or none) are as far from zero.
        let agreed = compare_values(&[0.1, 0.2, 0.3]);
        assert!((agreed.difference - 0.2).abs() < 1e-12);
        assert!((agreed.p_value - 0.25).abs() < 1e-12);
        assert_eq!((agreed.wins, agreed.ties, agreed.losses), (3, 0, 0));
        // The interval leaves 0 out, and yet three repositories are too few.
        assert!(!agreed.interval.unwrap().spans_zero() && agreed.is_tie());
        let reversed = agreed.reversed();
        assert_eq!(compare_values(&[-0.1, -0.2, -0.3]), reversed);
        // No difference at all.
        let equal = compare_values(&[0.0, 0.0]);
        assert_eq!((equal.p_value, equal.ties), (1.0, 2));
        assert!(equal.is_tie());
        // The repositories contradict each other.
        let torn = compare_values(&[0.5, -0.5]);
        assert!((torn.p_value - 1.0).abs() < 1e-12 && torn.is_tie());
        // One repository has no interval, so nothing is decided.
        let alone = compare_values(&[0.5]);
        assert!(alone.interval.is_none() && alone.is_tie());
        assert!((alone.p_value - 1.0).abs() < 1e-12);
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
        assert_eq!(compare(&[], 3, &Resamples::new(3, 10, 1)), None);
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
            let resamples = Resamples::new(values.len(), 1_000, 1);
            let comparison = compare(&differences, values.len(), &resamples).unwrap();
            prop_assert_eq!(
                is_tie(&differences, values.len(), &resamples),
                comparison.is_tie()
            );
        }

        #[test]
        fn a_p_value_is_a_share(values in prop::collection::vec(-1.0f64..1.0, 1..30)) {
            let p = compare_values(&values).p_value;
            prop_assert!(p > 0.0 && p <= 1.0);
        }
    }
}
