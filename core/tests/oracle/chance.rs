//! Intervals, comparisons and ranks, by pooling tasks, enumerating signs and
//! sorting everything.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};

use swe_ci_core::leaderboard::{Entry, Judge, Sample, Sheet};
use swe_ci_core::metrics::{Convention, Gamma, Series, Verdict};
use swe_ci_core::task::SuiteCounts;
use swe_ci_core::uncertainty::{Comparison, Interval};

use super::book::mean;
use super::cases::{entry, sheet};
use super::scores::close;

/// Scores are whole 64ths, so that sums are exact in any order and equal
/// means are equal.
const PARTS: u32 = 64;

/// For each model its score on each task, if it has one.
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
    fn sheet(&self) -> Sheet {
        let named = self.scores.iter().zip('a'..);
        sheet(
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

    /// The tasks of each repository that is in the sheet, in order of name.
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

/// One iteration on a task with as much to lose as to gain: a = n / 64 − 1.
fn sample(passed: u32) -> Sample {
    let suite = SuiteCounts::counts_only(PARTS, PARTS);
    let verdict = Verdict::Scored {
        in_target: passed,
        passed,
        lost: 0,
    };
    Sample {
        paper: None,
        reference: Series::count(Convention::Reference, suite, 1, &[verdict]).unwrap(),
        style: None,
    }
}

fn change(score: u32) -> f64 {
    f64::from(score) / f64::from(PARTS) - 1.0
}

/// The tasks of every resample: as many repositories as there are, with
/// replacement, all of each one's tasks.
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

/// Of fewer than two repositories with a value there is none.
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

/// Every way to turn whole repositories around, task by task.
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

fn compared(judge: &Judge, sheet: &Sheet) -> Option<Comparison> {
    let [first, second] = sheet.entries.as_slice() else {
        return None;
    };
    judge.compare(first, second, Gamma::ONE, Convention::Reference)
}

/// On a task it was scored on.
fn score(field: &Field, model: usize) -> impl Fn(usize) -> Option<f64> {
    move |at| field.scores[model][at].map(change)
}

/// On a task both were scored on.
fn difference(field: &Field, first: usize, second: usize) -> impl Fn(usize) -> Option<f64> {
    move |at| Some(change(field.scores[first][at]?) - change(field.scores[second][at]?))
}

/// Ranks of each row in the resamples, the middle 95 % of them.
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

/// For each row, best first, the place of the first row of its group: one
/// starts where a row is told apart from the one above it.
fn tie_groups(
    field: &Field,
    order: &[usize],
    clusters: &[Vec<usize>],
    draws: &[Vec<usize>],
) -> Vec<usize> {
    let starts = |at: &usize| {
        let Some(above) = at.checked_sub(1) else {
            return true;
        };
        let paired = interval(clusters, draws, difference(field, order[above], order[*at]));
        paired.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    };
    let group = |row: usize| (0..=row).rev().find(starts).unwrap_or(0) + 1;
    (0..order.len()).map(group).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn comparisons_by_enumeration(field in field(2..3, 8), resamples in 1usize..120, seed: u64) {
        let (sheet, clusters) = (field.sheet(), field.clusters());
        let judge = Judge::with(&sheet, resamples, seed);
        let value = difference(&field, 0, 1);
        let shared: Vec<f64> = clusters.iter().flatten().filter_map(|at| value(*at)).collect();
        let ours = compared(&judge, &sheet);
        prop_assert_eq!(ours.is_some(), !shared.is_empty());
        if let Some(ours) = ours {
            prop_assert_eq!(ours.tasks as usize, shared.len());
            close("difference", ours.difference, mean(shared.iter().copied()).unwrap())?;
            close("p", ours.p_value, p_value(&clusters, &value))?;
            let draws = draws(&clusters, resamples, seed);
            intervals_agree(ours.interval, interval(&clusters, &draws, &value))?;
            let counted = |holds: fn(&f64) -> bool| shared.iter().filter(|d| holds(d)).count();
            prop_assert_eq!(ours.wins as usize, counted(|d| *d > 0.0));
            prop_assert_eq!(ours.ties as usize, counted(|d| *d == 0.0));
            prop_assert_eq!(ours.losses as usize, counted(|d| *d < 0.0));
        }
    }

    /// With 41 resamples both quantiles fall on a value, so that whether an
    /// interval spans 0 does not hang on rounding.
    #[test]
    fn rankings_by_pooling(field in field(1..6, 6), seed: u64) {
        let (sheet, clusters) = (field.sheet(), field.clusters());
        let draws = draws(&clusters, 41, seed);
        let rows = Judge::with(&sheet, 41, seed).rank(&sheet, Gamma::ONE, Convention::Reference);
        let order: Vec<usize> =
            rows.iter().map(|row| usize::from(row.model.as_bytes()[0] - b'a')).collect();
        let means: Vec<_> =
            order.iter().map(|model| resampled(&draws, score(&field, *model))).collect();
        let groups = tie_groups(&field, &order, &clusters, &draws);
        for (at, (row, ranks)) in rows.iter().zip(rank_intervals(&means)).enumerate() {
            let score = score(&field, order[at]);
            let of = |value: fn(f64) -> f64| interval(&clusters, &draws, |at| score(at).map(value));
            let ours = row.intervals;
            intervals_agree(ours.map(|i| i.evoscore), of(|a| a))?;
            intervals_agree(ours.map(|i| i.zero_regression_rate), of(|a| share(a >= 0.0)))?;
            intervals_agree(ours.map(|i| i.solved_rate), of(|a| share(a == 1.0)))?;
            intervals_agree(ours.map(|i| i.average_turns), of(|_| 1.0))?;
            if let Some(ours) = ours {
                prop_assert_eq!(Some((ours.rank.best, ours.rank.worst)), ranks);
            }
            prop_assert_eq!(row.tie_group as usize, groups[at]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Beyond twelve repositories the signs are drawn: 10,000 draws are off
    /// by less than 0.03 but once in a thousand million.
    #[test]
    fn drawn_signs_come_near_all_of_them(values in prop::collection::vec(1..=2 * PARTS, 13..16)) {
        let field = Field {
            repositories: (0..values.len()).collect(),
            scores: vec![values.iter().map(|v| Some(*v)).collect(), vec![Some(PARTS); values.len()]],
        };
        let sheet = field.sheet();
        let ours = compared(&Judge::with(&sheet, 1, 1), &sheet).unwrap();
        let all = p_value(&field.clusters(), difference(&field, 0, 1));
        prop_assert!((ours.p_value - all).abs() < 0.03, "{} and {all}", ours.p_value);
    }
}
