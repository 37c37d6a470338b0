//! The cluster bootstrap.

use std::sync::OnceLock;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::SAME;

/// A 95 % percentile interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// The 2.5 % and 97.5 % quantiles of [`Resamples::means`]. `None` when no
    /// resample drew any of the tasks.
    pub fn from_means(means: &[f64]) -> Option<Self> {
        let mut values: Vec<f64> = means.iter().copied().filter(|v| !v.is_nan()).collect();
        Some(Self {
            low: quantile(&mut values, 0.025)?,
            high: quantile(&mut values, 0.975)?,
        })
    }

    /// Whether it contains zero: no difference.
    pub fn spans_zero(self) -> bool {
        self.low <= SAME && self.high >= -SAME
    }
}

/// The range of ranks a row holds in 95 % of the resamples, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RankInterval {
    pub best: u32,
    pub worst: u32,
}

/// Values to average over tasks, or the two sums of a ratio, summed per repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    sums: Vec<f64>,
    counts: Vec<f64>,
}

impl Clusters {
    /// For this many repositories, none with a task yet.
    pub fn new(repositories: usize) -> Self {
        Self {
            sums: vec![0.0; repositories],
            counts: vec![0.0; repositories],
        }
    }

    /// Adds the value of a task.
    ///
    /// # Panics
    /// When there is no such repository.
    pub fn add(&mut self, repository: usize, value: f64) {
        self.sums[repository] += value;
        self.counts[repository] += 1.0;
    }

    /// Adds to both sums of a ratio, such as dollars over tests:
    /// [`Resamples::means`] are then ratios of sums, not means of ratios.
    ///
    /// # Panics
    /// When there is no such repository.
    pub fn add_to_ratio(&mut self, repository: usize, numerator: f64, denominator: f64) {
        self.sums[repository] += numerator;
        self.counts[repository] += denominator;
    }

    /// Repositories with at least one task; of a ratio, those that add to its
    /// denominator.
    pub fn used(&self) -> usize {
        self.counts.iter().filter(|n| **n > 0.0).count()
    }

    /// Over tasks; `None` without any.
    pub(super) fn mean(&self) -> Option<f64> {
        let tasks: f64 = self.counts.iter().sum();
        (tasks > 0.0).then(|| self.sums.iter().sum::<f64>() / tasks)
    }

    /// How far the repositories are from a mean, squared and summed. Each counts
    /// by its share of the tasks.
    pub(super) fn squared_deviations(&self, mean: f64) -> f64 {
        let tasks: f64 = self.counts.iter().sum();
        let per_repository = tasks / self.used() as f64;
        let each = self.sums.iter().zip(&self.counts);
        let each = each.map(|(sum, tasks)| (sum - tasks * mean) / per_repository);
        each.map(|deviation| deviation * deviation).sum()
    }

    /// The sum and the number of tasks of each repository that has any.
    pub(super) fn repositories(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let all = self.sums.iter().zip(&self.counts);
        all.map(|(sum, n)| (*sum, *n)).filter(|(_, n)| *n > 0.0)
    }
}

/// How often each resample draws each repository; made once and shared by all
/// rows that are compared, so that they see the same draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Resamples {
    /// By repository, then by resample: the inner loops run over resamples.
    drawn: Vec<f64>,
    resamples: usize,
    /// The number of tasks of each repository of the first run that was asked
    /// for, and of each resample.
    tasks_drawn: OnceLock<(Vec<f64>, Vec<f64>)>,
}

impl Resamples {
    /// Draws as many repositories as there are, with replacement, `resamples`
    /// times.
    pub fn new(repositories: usize, resamples: usize, seed: u64) -> Self {
        let mut random = Pcg32::seed_from_u64(seed);
        let mut drawn = vec![0.0; repositories * resamples];
        for resample in 0..resamples {
            for _ in 0..repositories {
                let repository = below(&mut random, repositories);
                drawn[repository * resamples + resample] += 1.0;
            }
        }
        Self {
            drawn,
            resamples,
            tasks_drawn: OnceLock::new(),
        }
    }

    /// The mean over tasks in every resample; NaN in one that drew none of
    /// the tasks. A ratio whose denominator is 0 there is infinite.
    ///
    /// # Panics
    /// When the number of repositories differs.
    pub fn means(&self, clusters: &Clusters) -> Vec<f64> {
        assert_eq!(self.drawn.len(), clusters.sums.len() * self.resamples);
        let first = self.tasks_drawn.get_or_init(|| {
            let tasks = self.totals(&clusters.counts);
            (clusters.counts.clone(), tasks)
        });
        // Most runs have all tasks, so their numbers of tasks are the same.
        let other;
        let tasks = match first {
            (counts, tasks) if *counts == clusters.counts => tasks,
            _ => {
                other = self.totals(&clusters.counts);
                &other
            }
        };
        let mut means = self.totals(&clusters.sums);
        for (mean, tasks) in means.iter_mut().zip(tasks) {
            // 0 / 0 is NaN, as documented.
            *mean /= tasks;
        }
        means
    }

    /// How many repositories there are to draw.
    pub fn repositories(&self) -> usize {
        self.drawn.len() / self.resamples.max(1)
    }

    /// The sum of a value of each repository, as often as it was drawn, in each
    /// resample.
    fn totals(&self, values: &[f64]) -> Vec<f64> {
        let mut totals = vec![0.0; self.resamples];
        let drawn = self.drawn.chunks_exact(self.resamples.max(1));
        for (value, drawn) in values.iter().zip(drawn) {
            if *value != 0.0 {
                for (total, times) in totals.iter_mut().zip(drawn) {
                    *total += value * times;
                }
            }
        }
        totals
    }

    /// The 95 % interval of the mean over tasks. `None` with fewer than two
    /// repositories: one says nothing about their variance; nor has a ratio one
    /// that is infinite in so many resamples that nothing bounds it.
    pub fn interval(&self, clusters: &Clusters) -> Option<Interval> {
        if clusters.used() < 2 {
            return None;
        }
        let interval = Interval::from_means(&self.means(clusters));
        interval.filter(|interval| interval.high.is_finite())
    }
}

/// A uniform draw from 0..n (n below 2³²; the bias is below n / 2³²).
pub(super) fn below(random: &mut Pcg32, n: usize) -> usize {
    ((u64::from(random.next_u32()) * n as u64) >> 32) as usize
}

/// A quantile with linear interpolation between neighbours (type 7 of Hyndman
/// and Fan, the default of R and NumPy). Sorts the values only partially.
pub fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let position = share * last as f64;
    let below = position.floor();
    let (_, low, greater) = values.select_nth_unstable_by(below as usize, f64::total_cmp);
    let high = greater.iter().copied().min_by(f64::total_cmp);
    Some(*low + (high.unwrap_or(*low) - *low) * (position - below))
}

/// The 95 % intervals of the ranks of several rows. The best score has rank 1;
/// equal scores share the better rank. `means` holds [`Resamples::means`] of
/// each row; a row that is NaN in a resample has no rank there.
pub fn rank_intervals(means: &[&[f64]]) -> Vec<Option<RankInterval>> {
    let resamples = means.first().map_or(0, |means| means.len());
    let mut ranks = vec![vec![0; resamples]; means.len()];
    let mut sorter = Sorter::default();
    // A few resamples of all rows at a time: neighbours share cache lines.
    for first in (0..resamples).step_by(AT_ONCE) {
        let part = first..resamples.min(first + AT_ONCE);
        let mut of_part = [const { Vec::new() }; AT_ONCE];
        for (resample, of_resample) in part.clone().zip(&mut of_part) {
            let scores: Vec<f64> = means.iter().map(|row| row[resample]).collect();
            *of_resample = sorter.ranks(&scores);
        }
        for (row, ranks) in ranks.iter_mut().enumerate() {
            let of_row = of_part.iter().map(|of_resample| of_resample[row]);
            ranks[part.clone()]
                .iter_mut()
                .zip(of_row)
                .for_each(|(to, rank)| *to = rank);
        }
    }
    ranks.into_iter().map(rank_interval).collect()
}

/// Resamples whose ranks are found together: a cache line of means.
const AT_ONCE: usize = 8;

/// Ranks scores; keeps its buffer.
#[derive(Debug, Default)]
struct Sorter(Vec<u64>);

impl Sorter {
    /// The rank of each score, from 1; 0 for NaN. A score within [`SAME`] of the
    /// first of a rank shares it.
    fn ranks(&mut self, scores: &[f64]) -> Vec<u32> {
        let order = self.best_first(scores);
        let mut ranks = vec![0; scores.len()];
        let (mut rank, mut above) = (1, f64::INFINITY);
        for (position, row) in (1..).zip(order) {
            let score = scores[row];
            if score < above - SAME {
                (rank, above) = (position, score);
            }
            ranks[row] = rank;
        }
        ranks
    }

    /// The indices of the scores that are numbers. Whole numbers sort much faster
    /// than scores with their indices do, so an index takes the place of the last
    /// bits of its score; where these bits decide, the scores are sorted again.
    fn best_first(&mut self, scores: &[f64]) -> impl Iterator<Item = usize> {
        let index_bits = usize::BITS - scores.len().leading_zeros();
        let index = (1u64 << index_bits) - 1;
        let numbers = (0u64..).zip(scores).filter(|(_, score)| !score.is_nan());
        let keys = numbers.map(|(row, score)| (ascending(*score) & !index) | row);
        self.0.clear();
        self.0.extend(keys);
        self.0.sort_unstable();
        let score = |key: &u64| scores[(key & index) as usize];
        if !self.0.is_sorted_by(|a, b| score(a) <= score(b)) {
            self.0.sort_by(|a, b| score(a).total_cmp(&score(b)));
        }
        self.0.iter().rev().map(move |key| (key & index) as usize)
    }
}

/// Bits that are in order as the numbers are.
fn ascending(number: f64) -> u64 {
    let bits = number.to_bits();
    match number.is_sign_negative() {
        true => !bits,
        false => bits | (1 << 63),
    }
}

fn rank_interval(mut ranks: Vec<u32>) -> Option<RankInterval> {
    ranks.retain(|rank| *rank > 0);
    let last = ranks.len().checked_sub(1)?;
    let position = |share: f64| share * last as f64;
    Some(RankInterval {
        best: *ranks
            .select_nth_unstable(position(0.025).floor() as usize)
            .1,
        worst: *ranks.select_nth_unstable(position(0.975).ceil() as usize).1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clusters(values: &[&[f64]]) -> Clusters {
        let mut clusters = Clusters::new(values.len());
        for (repository, tasks) in values.iter().enumerate() {
            for value in *tasks {
                clusters.add(repository, *value);
            }
        }
        clusters
    }

    /// The draws of a seed are part of the published results: changing them
    /// changes every interval on every page.
    #[test]
    fn a_seed_gives_these_numbers() {
        let resamples = Resamples::new(4, 3, 1);
        let drawn: Vec<u32> = resamples.drawn.iter().map(|d| *d as u32).collect();
        assert_eq!(drawn, GOLDEN);
        assert_eq!(resamples, Resamples::new(4, 3, 1));
        assert_ne!(resamples, Resamples::new(4, 3, 2));
    }

    const GOLDEN: [u32; 12] = [2, 2, 1, 1, 0, 2, 0, 0, 0, 1, 2, 1];

    #[test]
    fn every_resample_draws_as_many_as_there_are() {
        let resamples = Resamples::new(68, 50, 7);
        for resample in 0..50 {
            let total: f64 = (0..68).map(|r| resamples.drawn[r * 50 + resample]).sum();
            assert!((total - 68.0).abs() < 1e-12);
        }
    }

    #[test]
    fn identical_repositories_leave_no_doubt() {
        let same = clusters(&[&[0.3, 0.5], &[0.3, 0.5], &[0.3, 0.5]]);
        let interval = Resamples::new(3, 500, 1).interval(&same).unwrap();
        assert!((interval.low - 0.4).abs() < 1e-12 && (interval.high - 0.4).abs() < 1e-12);
    }

    #[test]
    fn one_repository_says_nothing() {
        assert_eq!(
            Resamples::new(1, 100, 1).interval(&clusters(&[&[0.1, 0.9]])),
            None
        );
        let one_of_two = clusters(&[&[0.1, 0.9], &[]]);
        assert_eq!(Resamples::new(2, 100, 1).interval(&one_of_two), None);
        assert_eq!(Resamples::new(0, 100, 1).interval(&clusters(&[])), None);
    }

    /// Two repositories with one task each: a quarter of the resamples draw
    /// one of them twice.
    #[test]
    fn two_repositories() {
        let interval = Resamples::new(2, 2_000, 1)
            .interval(&clusters(&[&[0.0], &[1.0]]))
            .unwrap();
        assert!(interval.low.abs() < 1e-12 && (interval.high - 1.0).abs() < 1e-12);
    }

    /// Repositories of 10 over 1 and 10 over 4: a quarter of the resamples each is
    /// one of them alone, 10 and 2.5. The mean of their ratios never counts.
    #[test]
    fn ratios_are_of_sums() {
        let mut ratio = Clusters::new(2);
        ratio.add_to_ratio(0, 10.0, 1.0);
        ratio.add_to_ratio(1, 4.0, 3.0);
        ratio.add_to_ratio(1, 6.0, 1.0);
        let resamples = Resamples::new(2, 2_000, 1);
        let means = resamples.means(&ratio);
        let seen = |expect: f64| means.iter().filter(|m| (*m - expect).abs() < 1e-12).count();
        assert_eq!(seen(10.0) + seen(2.5) + seen(4.0), 2_000);
        assert!(seen(4.0) > 900);
        let interval = resamples.interval(&ratio).unwrap();
        assert_eq!((interval.low, interval.high), (2.5, 10.0));
    }

    /// One of three repositories divides by nothing: it is drawn alone once in 27
    /// times, more often than 2.5 %.
    #[test]
    fn a_ratio_without_a_bound_has_no_interval() {
        let ratio = |third: f64| {
            let mut ratio = Clusters::new(3);
            for (repository, denominator) in [1.0, 2.0, third].into_iter().enumerate() {
                ratio.add_to_ratio(repository, 1.0, denominator);
            }
            Resamples::new(3, 2_000, 1).interval(&ratio)
        };
        assert_eq!(ratio(0.0), None);
        assert!(ratio(1.0).is_some());
    }

    #[test]
    fn quantiles() {
        let check = |values: &[f64], share, expect: f64| {
            let actual = quantile(&mut values.to_vec(), share).unwrap();
            assert!((actual - expect).abs() < 1e-12, "{values:?}: {actual}");
        };
        check(&[3.0], 0.975, 3.0);
        check(&[1.0, 2.0], 0.5, 1.5);
        check(&[3.0, 1.0, 0.0, 4.0, 2.0], 0.025, 0.1);
        check(&[3.0, 1.0, 0.0, 4.0, 2.0], 0.975, 3.9);
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn ranks() {
        let nan = f64::NAN;
        let best = |means: &[Vec<f64>]| {
            rank_intervals(&means.iter().map(Vec::as_slice).collect::<Vec<_>>())
                .into_iter()
                .map(|r| r.map(|r| (r.best, r.worst)))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            best(&[vec![3.0, 3.0], vec![2.0, 1.0], vec![1.0, 2.0]]),
            [Some((1, 1)), Some((2, 3)), Some((2, 3))]
        );
        // Equal scores share a rank, and the next one counts both.
        assert_eq!(
            best(&[vec![2.0], vec![2.0], vec![1.0]]),
            [Some((1, 1)), Some((1, 1)), Some((3, 3))]
        );
        assert_eq!(
            best(&[vec![nan, 1.0], vec![nan, nan]]),
            [Some((1, 1)), None]
        );
        assert!(best(&[]).is_empty());
    }

    /// The same by comparing each row with each other.
    fn plain_ranks(scores: &[f64]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..scores.len())
            .filter(|row| !scores[*row].is_nan())
            .collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let mut ranks = vec![0; scores.len()];
        let (mut rank, mut above) = (1, f64::INFINITY);
        for (position, row) in (1..).zip(order) {
            if scores[row] < above - SAME {
                (rank, above) = (position, scores[row]);
            }
            ranks[row] = rank;
        }
        ranks
    }

    /// Scores that differ only in bits that make room for an index, by less and
    /// by more than [`SAME`].
    #[test]
    fn the_last_bits_of_scores_count() {
        let near: Vec<f64> = (0..2_000)
            .map(|n| 0.3 + f64::from(n * 733 % 2_000) * 1e-12)
            .collect();
        let ranks = Sorter::default().ranks(&near);
        assert_eq!(ranks, plain_ranks(&near));
        assert!(ranks.contains(&1) && ranks.iter().any(|rank| *rank > 1));
    }

    #[test]
    fn numbers_are_in_the_order_of_their_bits() {
        let numbers = [
            f64::NEG_INFINITY,
            -1.0,
            -1e-300,
            -0.0,
            0.0,
            1e-300,
            0.5,
            f64::INFINITY,
        ];
        assert!(numbers.map(ascending).is_sorted());
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_a_plain_sort(
            scores in prop::collection::vec(prop_oneof![-1.0f64..=1.0, Just(0.25), Just(f64::NAN), -1e-8f64..1e-8], 0..70)
        ) {
            prop_assert_eq!(Sorter::default().ranks(&scores), plain_ranks(&scores));
        }

        /// The interval stays within the range of the values.
        #[test]
        fn within_the_values(values in prop::collection::vec(-1.0f64..=1.0, 2..40)) {
            let mut all = Clusters::new(values.len());
            for (repository, value) in values.iter().enumerate() {
                all.add(repository, *value);
            }
            let interval = Resamples::new(values.len(), 400, 3).interval(&all).unwrap();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(low - 1e-9 <= interval.low && interval.low <= interval.high);
            prop_assert!(interval.high <= high + 1e-9);
        }
    }
}
