//! Intervals, comparisons and ranks, computed by pooling tasks, enumerating
//! signs and sorting everything.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::{Convention, Gamma, Series, Verdict};
use swe_ci_core::uncertainty::{Comparison, Interval};
use swe_ci_views::leaderboard::{Effort, Entry, LeaderboardData, Sample, UncertaintyModel};

use super::book::mean;
use super::cases::{entry, leaderboard};
use super::scores::close;

/// Scores are whole 64ths, so that sums are exact in any order and equal
/// means are equal.
const PARTS: u32 = 64;

/// The score of each model on each task, if it has one.
#[derive(Debug, Clone)]
struct Field {
    /// The repository of each task.
    repositories: Vec<usize>,
    scores: Vec<Vec<Option<u32>>>,
}

fn field(models: std::ops::Range<usize>, most: usize) -> impl Strategy<Value = Field> {
    (prop::collection::vec(0..most, 1..2 * most), models).prop_flat_map(|(repositories, models)| {
        let score = prop_oneof![1 => Just(None), 9 => (0..=2 * PARTS).prop_map(Some)];
        let scores = prop::collection::vec(score, repositories.len());
        let models = prop::collection::vec(scores, models);
        (Just(repositories), models).prop_map(|(repositories, scores)| Field {
            repositories,
            scores,
        })
    })
}

impl Field {
    fn leaderboard(&self) -> LeaderboardData {
        let named = self.scores.iter().zip('a'..);
        leaderboard(
            named
                .map(|(scores, name)| self.entry(&name.to_string(), scores))
                .collect(),
        )
    }

    fn entry(&self, model: &str, scores: &[Option<u32>]) -> Entry {
        let task = |(at, score): (usize, &Option<u32>)| {
            let repo = format!("r{:02}", self.repositories[at]);
            Some((format!("task-{at}"), repo, vec![sample((*score)?)]))
        };
        entry(
            model,
            1,
            scores.iter().enumerate().filter_map(task).collect(),
        )
    }

    /// The tasks of each repository on the leaderboard, in order of name.
    fn clusters(&self) -> Vec<Vec<usize>> {
        let scored = |at: &usize| self.scores.iter().any(|scores| scores[*at].is_some());
        let tasks: Vec<usize> = (0..self.repositories.len()).filter(scored).collect();
        let used: BTreeSet<usize> = tasks.iter().map(|at| self.repositories[*at]).collect();
        let of = |repository: usize| {
            let tasks = tasks
                .iter()
                .filter(move |at| self.repositories[**at] == repository);
            tasks.copied().collect()
        };
        used.into_iter().map(of).collect()
    }
}

/// One iteration on a task with equal possible loss and gain: a = n / 64 − 1.
fn sample(passed: u32) -> Sample {
    let suite = SuiteCounts::counts_only(PARTS, PARTS);
    let verdict = Verdict::Scored {
        in_target: passed,
        passed,
        lost: 0,
    };
    Sample {
        number: 1,
        paper: None,
        reference: Series::count(Convention::Reference, suite, 1, &[verdict]).unwrap(),
        style: None,
        effort: Effort::default(),
        generalisation: None,
        cheating: None,
    }
}

fn change(score: u32) -> f64 {
    f64::from(score) / f64::from(PARTS) - 1.0
}

/// The tasks of every resample: all repositories drawn with replacement, each
/// with all its tasks.
fn draws(clusters: &[Vec<usize>], resamples: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Pcg32::seed_from_u64(seed);
    let count = clusters.len() as u64;
    let mut one = || ((u64::from(random.next_u32()) * count) >> 32) as usize;
    (0..resamples)
        .map(|_| (0..count).flat_map(|_| clusters[one()].clone()).collect())
        .collect()
}

/// The mean of a value per task in every resample that has one.
fn resampled(draws: &[Vec<usize>], value: impl Fn(usize) -> Option<f64>) -> Vec<Option<f64>> {
    let of = |tasks: &Vec<usize>| mean(tasks.iter().filter_map(|at| value(*at)));
    draws.iter().map(of).collect()
}

/// Type 7 of Hyndman and Fan.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
}

/// `None` with fewer than two repositories with a value.
fn interval(
    clusters: &[Vec<usize>],
    draws: &[Vec<usize>],
    value: impl Fn(usize) -> Option<f64>,
) -> Option<(f64, f64)> {
    let with_value = clusters
        .iter()
        .filter(|tasks| tasks.iter().any(|at| value(*at).is_some()));
    let means: Vec<f64> = resampled(draws, &value).into_iter().flatten().collect();
    (with_value.count() >= 2 && !means.is_empty())
        .then(|| (quantile(&means, 0.025), quantile(&means, 0.975)))
}

/// Tries every combination of the repositories' signs, task by task.
fn p_value(clusters: &[Vec<usize>], value: impl Fn(usize) -> Option<f64>) -> f64 {
    let total = |ways: u32| -> f64 {
        let signed = clusters.iter().enumerate().flat_map(|(repository, tasks)| {
            let sign = if ways >> repository & 1 == 1 {
                -1.0
            } else {
                1.0
            };
            tasks
                .iter()
                .filter_map(|at| value(*at))
                .map(move |d| sign * d)
        });
        signed.sum::<f64>().abs()
    };
    let ways = 1u32 << clusters.len();
    f64::from(
        (0..ways)
            .map(|w| u32::from(total(w) >= total(0)))
            .sum::<u32>(),
    ) / f64::from(ways)
}

fn intervals_agree(ours: Option<Interval>, book: Option<(f64, f64)>) -> Result<(), TestCaseError> {
    prop_assert_eq!(ours.is_some(), book.is_some());
    if let (Some(ours), Some((low, high))) = (ours, book) {
        close("low", ours.low, low)?;
        close("high", ours.high, high)?;
    }
    Ok(())
}

fn share(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

fn compared(model: &UncertaintyModel, data: &LeaderboardData) -> Option<Comparison> {
    let [first, second] = data.entries.as_slice() else {
        return None;
    };
    model.compare(first, second, Gamma::ONE, Convention::Reference)
}

/// The score of a model on a task, if any.
fn score(field: &Field, model: usize) -> impl Fn(usize) -> Option<f64> {
    move |at| field.scores[model][at].map(change)
}

/// The difference on a task both were scored on.
fn difference(field: &Field, first: usize, second: usize) -> impl Fn(usize) -> Option<f64> {
    move |at| Some(change(field.scores[first][at]?) - change(field.scores[second][at]?))
}

/// The middle 95 % of each row's ranks in the resamples.
fn rank_intervals(means: &[Vec<Option<f64>>]) -> Vec<Option<(u32, u32)>> {
    let rank = |row: usize, resample: usize| {
        let own = means[row][resample]?;
        let ahead = means
            .iter()
            .filter(|m| m[resample].is_some_and(|mean| mean > own));
        Some(ahead.count() + 1)
    };
    let middle = |row: usize| {
        let mut ranks: Vec<usize> = (0..means[row].len())
            .filter_map(|resample| rank(row, resample))
            .collect();
        ranks.sort_unstable();
        let last = ranks.len().checked_sub(1)? as f64;
        let low = ranks[(0.025 * last).floor() as usize];
        let high = ranks[(0.975 * last).ceil() as usize];
        Some((u32::try_from(low).unwrap(), u32::try_from(high).unwrap()))
    };
    (0..means.len()).map(middle).collect()
}

/// For each row, best first, the position of the first row of its group. A
/// group starts where the data tells a row from the one above it.
fn tie_groups(field: &Field, order: &[usize], clusters: &[Vec<usize>]) -> Vec<usize> {
    let starts = |at: &usize| {
        let Some(above) = at.checked_sub(1) else {
            return true;
        };
        let difference = difference(field, order[above], order[*at]);
        p_value(clusters, &difference) < 0.05
    };
    let group = |row: usize| (0..=row).rev().find(starts).unwrap_or(0) + 1;
    (0..order.len()).map(group).collect()
}

proptest! {
    #[test]
    fn comparisons_by_enumeration(field in field(2..3, 8)) {
        let (data, clusters) = (field.leaderboard(), field.clusters());
        let model = UncertaintyModel::with(&data, 1, 1);
        let value = difference(&field, 0, 1);
        let shared: Vec<f64> = clusters.iter().flatten().filter_map(|at| value(*at)).collect();
        let ours = compared(&model, &data);
        prop_assert_eq!(ours.is_some(), !shared.is_empty());
        if let Some(ours) = ours {
            prop_assert_eq!(ours.tasks as usize, shared.len());
            close("difference", ours.difference, mean(shared.iter().copied()).unwrap())?;
            close("p", ours.p_value, p_value(&clusters, &value))?;
            let rejects = |by: f64| p_value(&clusters, |at| value(at).map(|d| d - by)) < 0.05;
            match ours.interval {
                Some(Interval { low, high }) => {
                    prop_assert!(!rejects(low + 1e-9) && rejects(low - 1e-6));
                    prop_assert!(!rejects(high - 1e-9) && rejects(high + 1e-6));
                }
                None => prop_assert!(!rejects(-3.0)),
            }
            let counted = |holds: fn(&f64) -> bool| shared.iter().filter(|d| holds(d)).count();
            prop_assert_eq!(ours.wins as usize, counted(|d| *d > 0.0));
            prop_assert_eq!(ours.ties as usize, counted(|d| *d == 0.0));
            prop_assert_eq!(ours.losses as usize, counted(|d| *d < 0.0));
        }
    }

    /// With 41 resamples both quantiles fall on a value, so that rounding does
    /// not decide whether an interval spans 0.
    #[test]
    fn rankings_by_pooling(field in field(1..6, 6), seed: u64) {
        let (data, clusters) = (field.leaderboard(), field.clusters());
        let draws = draws(&clusters, 41, seed);
        let rows = UncertaintyModel::with(&data, 41, seed).rank(&data, Gamma::ONE, Convention::Reference);
        let order: Vec<usize> =
            rows.iter().map(|row| usize::from(row.model.as_bytes()[0] - b'a')).collect();
        let means: Vec<_> =
            order.iter().map(|model| resampled(&draws, score(&field, *model))).collect();
        let groups = tie_groups(&field, &order, &clusters);
        for (at, (row, ranks)) in rows.iter().zip(rank_intervals(&means)).enumerate() {
            let score = score(&field, order[at]);
            let of = |value: fn(f64) -> f64| interval(&clusters, &draws, |at| score(at).map(value));
            let ours = row.intervals;
            intervals_agree(ours.map(|i| i.evoscore), of(|a| a))?;
            intervals_agree(ours.map(|i| i.zero_regression_rate), of(|a| share(a >= 0.0)))?;
            intervals_agree(ours.map(|i| i.solved_rate), of(|a| share(a == 1.0)))?;
            intervals_agree(ours.map(|i| i.zrr), of(|a| share(a == 1.0)))?;
            intervals_agree(ours.map(|i| i.average_turns), of(|_| 1.0))?;
            if let Some(ours) = ours {
                prop_assert_eq!(Some((ours.rank.best, ours.rank.worst)), ranks);
            }
            prop_assert_eq!(row.tie_group as usize, groups[at]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 16))]

    /// Beyond twelve repositories the signs are drawn at random: 10,000 draws
    /// are off by more than 0.03 only once in a thousand million.
    #[test]
    fn drawn_signs_come_near_all_of_them(values in prop::collection::vec(1..=2 * PARTS, 13..16)) {
        let field = Field {
            repositories: (0..values.len()).collect(),
            scores: vec![values.iter().map(|v| Some(*v)).collect(), vec![Some(PARTS); values.len()]],
        };
        let data = field.leaderboard();
        let ours = compared(&UncertaintyModel::with(&data, 1, 1), &data).unwrap();
        let all = p_value(&field.clusters(), difference(&field, 0, 1));
        prop_assert!((ours.p_value - all).abs() < 0.03, "{} and {all}", ours.p_value);
    }
}
