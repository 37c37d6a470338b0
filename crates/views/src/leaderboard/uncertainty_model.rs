//! The statistical uncertainty of a ranking: intervals and ties.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use swe_ci_core::metrics::{Convention, Gamma, Series, mean};
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::{
    Clusters, Comparison, Difference, Interval, RESAMPLES, RankInterval, Resamples, SEED, compare,
    is_tie, rank_intervals,
};

use super::rows::{Intervals, Ranked, Row, solved, turns, zero_regression, zrr};
use super::style::{StyleIntervals, WinIntervals};
use super::{Entry, LeaderboardData, Origin, ScoredTask};
use crate::count;
use crate::style::{ErosionFigure, ErosionIntervals, StyleMetric};

/// The repositories of a leaderboard with their resamples: drawn once per
/// leaderboard, used for every ranking.
#[derive(Debug, Clone)]
pub struct UncertaintyModel {
    repositories: HashMap<String, usize>,
    resamples: Resamples,
}

/// One run's task values under one γ and convention.
struct Values<'a> {
    tasks: Vec<Value<'a>>,
    means: Vec<f64>,
    /// How many of them it has tasks of.
    repositories: usize,
}

struct Value<'a> {
    origin: &'a Arc<Origin>,
    /// Index of its repository.
    repository: usize,
    score: f64,
}

impl UncertaintyModel {
    pub fn new(data: &LeaderboardData) -> Self {
        Self::with(data, RESAMPLES, SEED)
    }

    /// Of the unranked runs too, to compare them with others.
    pub(super) fn of_all(data: &LeaderboardData) -> Self {
        Self::of_entries(data.all(), RESAMPLES, SEED)
    }

    pub(super) fn repositories(&self) -> usize {
        self.repositories.len()
    }

    /// The index of a task's repository.
    pub(super) fn repository(&self, task: &ScoredTask) -> usize {
        self.repositories[task.repo()]
    }

    pub(super) fn resamples(&self) -> &Resamples {
        &self.resamples
    }

    pub fn with(data: &LeaderboardData, resamples: usize, seed: u64) -> Self {
        Self::of_entries(data.entries.iter(), resamples, seed)
    }

    fn of_entries<'a>(
        entries: impl Iterator<Item = &'a Entry>,
        resamples: usize,
        seed: u64,
    ) -> Self {
        let tasks = entries.flat_map(|e| e.tasks.iter());
        let names: HashSet<&str> = tasks.map(ScoredTask::repo).collect();
        let mut names: Vec<&str> = names.into_iter().collect();
        // So the draws do not depend on the order of the runs.
        names.sort_unstable();
        let repositories: HashMap<String, usize> =
            names.into_iter().map(str::to_owned).zip(0..).collect();
        Self {
            resamples: Resamples::new(repositories.len(), resamples, seed),
            repositories,
        }
    }

    /// The rows with their intervals, best first.
    pub fn rank(&self, data: &LeaderboardData, gamma: Gamma, convention: Convention) -> Vec<Row> {
        let ranked = self.ranks(data, gamma, convention).into_iter();
        let with_intervals = ranked.map(|(Ranked { row, entry, .. }, rank)| {
            let entry = &data.entries[entry];
            let intervals = rank.and_then(|rank| self.intervals(entry, gamma, convention, rank));
            Row { intervals, ..row }
        });
        with_intervals.collect()
    }

    /// The rows without their intervals but with their ties, best first, each with
    /// the interval of its rank.
    pub(super) fn ranks(
        &self,
        data: &LeaderboardData,
        gamma: Gamma,
        convention: Convention,
    ) -> Vec<(Ranked, Option<RankInterval>)> {
        let mut ranked = data.ranked(gamma, convention);
        let values = ranked
            .iter()
            .map(|run| self.values(&data.entries[run.entry], &run.scores));
        let values: Vec<Values<'_>> = values.collect();
        let means: Vec<&[f64]> = values.iter().map(|run| run.means.as_slice()).collect();
        let ranks = rank_intervals(&means);
        for at in 1..ranked.len() {
            ranked[at].row.tie_group = match self.is_tie(&values[at - 1], &values[at]) {
                true => ranked[at - 1].row.tie_group,
                false => count(at + 1),
            };
        }
        ranked.into_iter().zip(ranks).collect()
    }

    fn is_tie(&self, first: &Values<'_>, second: &Values<'_>) -> bool {
        is_tie(&differences(first, second), self.repositories.len())
    }

    /// Compares two runs on the tasks they share; `None` when they share none.
    pub fn compare(
        &self,
        first: &Entry,
        second: &Entry,
        gamma: Gamma,
        convention: Convention,
    ) -> Option<Comparison> {
        let [first, second] =
            [first, second].map(|run| self.values(run, &run.scores_by_task(gamma, convention)));
        let differences = differences(&first, &second);
        compare(&differences, self.repositories.len())
    }

    /// Compares pairs of runs over the same tasks by a value of each task: a task's
    /// difference is the mean over the pairs that have it. `None` without one.
    pub(super) fn compare_paired(
        &self,
        pairs: &[(&Entry, &Entry)],
        value: impl Fn(&Entry) -> Vec<Option<f64>>,
    ) -> Option<Comparison> {
        let values = pairs.iter().map(|(a, b)| (value(a), value(b)));
        let values: Vec<_> = values.collect();
        let (first, _) = pairs.first()?;
        let differences = first.tasks.iter().enumerate().filter_map(|(at, task)| {
            let of_pairs = values.iter().filter_map(|(a, b)| Some(a[at]? - b[at]?));
            Some(Difference {
                repository: self.repository(task),
                value: mean(of_pairs)?,
            })
        });
        compare(&Vec::from_iter(differences), self.repositories.len())
    }

    fn values<'a>(&self, entry: &'a Entry, scores: &[f64]) -> Values<'a> {
        let mut clusters = Clusters::new(self.repositories.len());
        let tasks = entry.tasks.iter().zip(scores).map(|(task, score)| {
            let repository = self.repository(task);
            clusters.add(repository, *score);
            Value {
                origin: &task.origin,
                repository,
                score: *score,
            }
        });
        Values {
            tasks: tasks.collect(),
            means: self.resamples.means(&clusters),
            repositories: clusters.used(),
        }
    }

    /// `None` when the tasks are of fewer than two repositories.
    pub(super) fn intervals(
        &self,
        entry: &Entry,
        gamma: Gamma,
        convention: Convention,
        rank: RankInterval,
    ) -> Option<Intervals> {
        let values = self.values(entry, &entry.scores_by_task(gamma, convention));
        let interval = |value: fn(&Series) -> f64| {
            let mut clusters = Clusters::new(self.repositories.len());
            for (value, task) in entry.by_task(convention, value).zip(&values.tasks) {
                clusters.add(task.repository, value);
            }
            self.resamples.interval(&clusters)
        };
        Some(Intervals {
            evoscore: Interval::from_means(&values.means).filter(|_| values.repositories >= 2)?,
            zero_regression_rate: interval(zero_regression)?,
            solved_rate: interval(solved)?,
            zrr: interval(zrr)?,
            average_turns: interval(turns)?,
            style: self.style(entry, convention),
            effort: self.effort(entry, convention),
            generalisation: self.of_tasks(entry, ScoredTask::generalisation),
            cheating: self.of_tasks(entry, ScoredTask::cheating),
            rank,
            repositories: count(values.repositories),
        })
    }

    fn style(&self, entry: &Entry, convention: Convention) -> Option<StyleIntervals> {
        let tasks: Vec<&ScoredTask> = entry.tasks.iter().collect();
        let intervals = StyleIntervals {
            mi: self.wins(&tasks, convention, StyleMetric::Mi),
            pylint: self.wins(&tasks, convention, StyleMetric::Pylint),
            erosion: ErosionIntervals::each(|figure| self.eroded(&tasks, convention, figure)),
        };
        (intervals != StyleIntervals::default()).then_some(intervals)
    }

    /// Of the mean of a number that some tasks have; `None` if they are of fewer than two
    /// repositories.
    fn of_tasks(&self, entry: &Entry, of: fn(&ScoredTask) -> Option<f64>) -> Option<Interval> {
        let mut clusters = Clusters::new(self.repositories.len());
        for task in entry.tasks.iter() {
            if let Some(number) = of(task) {
                clusters.add(self.repository(task), number);
            }
        }
        self.resamples.interval(&clusters)
    }

    /// Resamples only the solved and measured tasks with their repositories;
    /// the others count in no mean.
    pub(super) fn wins(
        &self,
        tasks: &[&ScoredTask],
        convention: Convention,
        metric: StyleMetric,
    ) -> Option<WinIntervals> {
        let mut clusters = [(); 3].map(|()| Clusters::new(self.repositories.len()));
        for task in tasks {
            let shares = task.against(convention, metric).into_iter().flatten();
            for (clusters, share) in clusters.iter_mut().zip(shares) {
                clusters.add(self.repository(task), share);
            }
        }
        let [win, tie, loss] = clusters.map(|clusters| self.resamples.interval(&clusters));
        Some(WinIntervals {
            win: win?,
            tie: tie?,
            loss: loss?,
        })
    }

    /// Of a number of erosion minus the oracle's, in the same way.
    pub(super) fn eroded(
        &self,
        tasks: &[&ScoredTask],
        convention: Convention,
        figure: ErosionFigure,
    ) -> Option<Interval> {
        let mut clusters = Clusters::new(self.repositories.len());
        for task in tasks {
            if let Some(difference) = task.erosion(convention).of(figure) {
                clusters.add(self.repository(task), difference);
            }
        }
        self.resamples.interval(&clusters)
    }
}

/// First minus second on each task both were scored on.
fn differences(first: &Values<'_>, second: &Values<'_>) -> Vec<Difference> {
    let others = second.tasks.iter();
    let others: HashMap<&TaskId, f64> = others
        .map(|task| (&task.origin.task_id, task.score))
        .collect();
    let shared = first.tasks.iter().filter_map(|task| {
        Some(Difference {
            repository: task.repository,
            value: task.score - others.get(&task.origin.task_id)?,
        })
    });
    shared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};

    /// A run with forty tasks of twenty repositories.
    fn run(model: &str, score: impl Fn(usize) -> f64) -> Entry {
        let repos: Vec<String> = (0..40).map(|i| format!("repo-{}", i / 2)).collect();
        let scores: Vec<[f64; 1]> = (0..40).map(|i| [score(i)]).collect();
        let samples: Vec<[&[f64]; 1]> = scores.iter().map(|s| [s.as_slice()]).collect();
        let tasks: Vec<(&str, &[&[f64]])> = repos
            .iter()
            .zip(&samples)
            .map(|(repo, samples)| (repo.as_str(), samples.as_slice()))
            .collect();
        entry(model, &tasks)
    }

    fn noisy(model: &str, mean: f64, noise: f64) -> Entry {
        // Repositories are easy or hard for all models; tasks differ a little.
        run(model, move |i| {
            mean + noise * ((i / 2 * 7 % 20) as f64 / 10.0 - 0.95)
        })
    }

    #[test]
    fn what_the_data_cannot_tell_apart_is_tied() {
        // `b` matches `a` except for luck with a few tasks; `c` is worse on
        // every one.
        let a = noisy("a", 0.6, 0.3);
        let b = run("b", |i| 0.6 + 0.3 * ((i / 2 * 3 % 20) as f64 / 10.0 - 0.96));
        let c = noisy("c", 0.3, 0.3);
        let data = leaderboard(vec![c, b, a]);
        let rows = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let groups: Vec<(&str, u32, u32)> = rows
            .iter()
            .map(|r| (r.model.as_str(), r.rank, r.tie_group))
            .collect();
        assert_eq!(groups, [("a", 1, 1), ("b", 2, 1), ("c", 3, 3)]);
        let ranks: Vec<(u32, u32)> = rows
            .iter()
            .map(|r| r.intervals.unwrap().rank)
            .map(|r| (r.best, r.worst))
            .collect();
        assert_eq!(ranks, [(1, 2), (1, 2), (3, 3)]);
        for row in &rows {
            let interval = row.intervals.unwrap().evoscore;
            assert!(interval.low < row.evoscore && row.evoscore < interval.high);
        }
    }

    #[test]
    fn the_order_of_the_runs_changes_nothing() {
        let (a, b) = (noisy("a", 0.5, 0.4), noisy("b", 0.4, 0.2));
        let forward = leaderboard(vec![a.clone(), b.clone()]);
        let reverse = leaderboard(vec![b, a]);
        let rank = |s: &LeaderboardData| {
            UncertaintyModel::new(s).rank(s, Gamma::ONE, Convention::Reference)
        };
        assert_eq!(rank(&forward), rank(&reverse));
    }

    #[test]
    fn paired_differences_detect_more_than_single_intervals() {
        // Repositories vary far more than runs differ.
        let (a, b) = (noisy("a", 0.5, 0.5), noisy("b", 0.45, 0.5));
        let data = leaderboard(vec![a.clone(), b.clone()]);
        let model = UncertaintyModel::new(&data);
        let rows = model.rank(&data, Gamma::ONE, Convention::Paper);
        let [first, second] = [0, 1].map(|i: usize| rows[i].intervals.unwrap().evoscore);
        assert!(second.high > first.low, "single intervals overlap");
        assert_eq!(rows[1].tie_group, 2, "and yet the runs differ");
        let comparison = model
            .compare(&a, &b, Gamma::ONE, Convention::Paper)
            .unwrap();
        assert!((comparison.difference - 0.05).abs() < 1e-9 && comparison.p_value < 0.01);
        assert_eq!((comparison.tasks, comparison.repositories), (40, 20));
    }

    /// Four repositories bound no difference: the ranking and the comparison both call
    /// that a tie.
    #[test]
    fn few_repositories_decide_nothing() {
        let few = |model: &str, score: f64| {
            let tasks = [[score], [score + 0.1], [score - 0.1], [score]];
            let samples: Vec<[&[f64]; 1]> = tasks.iter().map(|s| [s.as_slice()]).collect();
            let repos = ["p", "q", "r", "s"].into_iter();
            let tasks: Vec<(&str, &[&[f64]])> = repos
                .zip(samples.iter().map(<[&[f64]; 1]>::as_slice))
                .collect();
            entry(model, &tasks)
        };
        let (a, b) = (few("a", 0.6), few("b", 0.3));
        let data = leaderboard(vec![a.clone(), b.clone()]);
        let model = UncertaintyModel::new(&data);
        let compared = model
            .compare(&a, &b, Gamma::ONE, Convention::Paper)
            .unwrap();
        assert_eq!(compared.interval, None);
        assert!((compared.p_value - 0.125).abs() < 1e-12 && compared.is_tie());
        let rows = model.rank(&data, Gamma::ONE, Convention::Paper);
        assert_eq!((rows[0].tie_group, rows[1].tie_group), (1, 1));
    }

    #[test]
    fn one_repository_has_no_intervals_and_decides_nothing() {
        let data = leaderboard(vec![
            entry("a", &[("r", &[&[1.0]])]),
            entry("b", &[("r", &[&[0.0]])]),
        ]);
        let rows = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        assert!(
            rows.iter()
                .all(|r| r.intervals.is_none() && r.tie_group == 1)
        );
        assert_eq!((rows[0].rank, rows[1].rank), (1, 2));
    }

    /// Equal samples in another order differ by 1e-17, which decides nothing.
    #[test]
    fn rounding_does_not_tell_runs_apart() {
        let task = |samples: &'static [&'static [f64]]| [("p", samples), ("q", samples)];
        let a = entry("a", &task(&[&[0.1], &[0.2], &[0.3]]));
        let b = entry("b", &task(&[&[0.3], &[0.2], &[0.1]]));
        let data = leaderboard(vec![a, b]);
        let rows = UncertaintyModel::new(&data).rank(&data, Gamma::ONE, Convention::Paper);
        let ranks: Vec<(u32, u32)> = rows.iter().map(|r| (r.rank, r.tie_group)).collect();
        assert_eq!(ranks, [(1, 1), (1, 1)]);
        let rank = rows[1].intervals.unwrap().rank;
        assert_eq!((rank.best, rank.worst), (1, 1));
    }

    #[test]
    fn runs_on_other_tasks_are_not_compared() {
        let a = entry("a", &[("r", &[&[1.0]])]);
        let mut b = entry("b", &[("q", &[&[0.0]])]);
        b.tasks_mut()[0].origin_mut().task_id = TaskId::new("another").unwrap();
        let data = leaderboard(vec![a.clone(), b.clone()]);
        let model = UncertaintyModel::new(&data);
        assert_eq!(model.compare(&a, &b, Gamma::ONE, Convention::Paper), None);
        assert!(
            model
                .rank(&LeaderboardData::default(), Gamma::ONE, Convention::Paper)
                .is_empty()
        );
    }
}
