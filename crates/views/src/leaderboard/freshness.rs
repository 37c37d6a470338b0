//! EvoScore by the month of the tasks, and its change between tasks that a model
//! may know and tasks that it cannot, or between two splits.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use swe_ci_core::csv::{table, text};
use swe_ci_core::metrics::{Convention, Gamma, mean};
use swe_ci_core::uncertainty::{Clusters, Interval, RESAMPLES, Resamples, SEED};

use super::{Entry, ScoredTask};
use crate::count;

/// The scores of a run by the dates of its tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Freshness {
    pub convention: Convention,
    #[schema(value_type = f64)]
    pub gamma: Gamma,
    /// The last day of code that the model may know, `YYYY-MM-DD`: the end of its
    /// training data, or its release if that is not known; absent without both.
    pub learnt_until: Option<String>,
    /// Months with a scored task, the earliest first.
    pub months: Vec<MonthScore>,
    /// Scored tasks whose target has no known date; they are in no month.
    pub undated: u32,
    /// From the tasks that the model may know to the unseen ones; absent unless
    /// there are some of both.
    pub unseen: Option<ScoreChange>,
    /// From another run, mostly over another split, to this one; absent unless
    /// requested, or when one of both has no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<ScoreChange>,
}

/// The tasks whose targets were committed in one month.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MonthScore {
    /// `YYYY-MM`.
    pub month: String,
    pub tasks: u32,
    pub repositories: u32,
    /// Those of them that the model cannot have seen; absent when nothing is
    /// known of its training and release.
    pub unseen: Option<u32>,
    /// Equation 3, the mean over these tasks, -1 to 1.
    pub evoscore: f64,
    /// 95 % cluster bootstrap; absent with fewer than two repositories.
    pub interval: Option<Interval>,
}

/// The change of EvoScore from some tasks to others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ScoreChange {
    pub from_tasks: u32,
    pub to_tasks: u32,
    /// -1 to 1.
    pub from: f64,
    /// -1 to 1.
    pub to: f64,
    /// `to` minus `from`, -2 to 2.
    pub change: f64,
    /// 95 % cluster bootstrap of the difference of both means, over the
    /// repositories of both; absent unless each has tasks of two.
    pub interval: Option<Interval>,
}

/// A task with its score.
pub(super) type Scored<'a> = (&'a ScoredTask, f64);

impl Entry {
    /// Its scores by the dates of its tasks, and the change from another run.
    pub fn freshness(
        &self,
        gamma: Gamma,
        convention: Convention,
        against: Option<&Self>,
    ) -> Freshness {
        let scored = self.scored_tasks(gamma, convention);
        let learnt_until = self.learnt_until();
        let mut months: BTreeMap<&str, Vec<Scored<'_>>> = BTreeMap::new();
        let (mut known, mut unseen, mut undated) = (Vec::new(), Vec::new(), 0);
        for (task, score) in scored.iter().copied() {
            let Some(day) = task.origin.target_date.as_deref() else {
                undated += 1;
                continue;
            };
            let month = day.get(..7).unwrap_or(day);
            months.entry(month).or_default().push((task, score));
            match learnt_until {
                Some(learnt) if day > learnt => unseen.push((task, score)),
                Some(_) => known.push((task, score)),
                None => {}
            }
        }
        let draws = Draws::new(&[&scored]);
        let month = |(month, tasks): (&str, Vec<Scored<'_>>)| {
            let is_unseen = |learnt: &str| {
                let days = tasks
                    .iter()
                    .filter_map(|t| t.0.origin.target_date.as_deref());
                count(days.filter(|day| *day > learnt).count())
            };
            let clusters = draws.clusters(&tasks);
            Some(MonthScore {
                month: month.to_owned(),
                tasks: count(tasks.len()),
                repositories: count(clusters.used()),
                unseen: learnt_until.map(is_unseen),
                evoscore: mean(tasks.iter().map(|task| task.1))?,
                interval: draws.resamples.interval(&clusters),
            })
        };
        Freshness {
            convention,
            gamma,
            learnt_until: learnt_until.map(str::to_owned),
            months: months.into_iter().filter_map(month).collect(),
            undated,
            unseen: change(&known, &unseen),
            against: against
                .and_then(|other| change(&other.scored_tasks(gamma, convention), &scored)),
        }
    }

    pub(super) fn scored_tasks(&self, gamma: Gamma, convention: Convention) -> Vec<Scored<'_>> {
        let scores = self.scores_by_task(gamma, convention);
        self.tasks.iter().zip(scores).collect()
    }
}

/// `None` unless there are tasks on both sides.
pub(super) fn change(from: &[Scored<'_>], to: &[Scored<'_>]) -> Option<ScoreChange> {
    let average = |tasks: &[Scored<'_>]| mean(tasks.iter().map(|task| task.1));
    let ends = (average(from)?, average(to)?);
    let draws = Draws::new(&[from, to]);
    let (first, second) = (draws.clusters(from), draws.clusters(to));
    // One draw serves both sides: a repository may have tasks on both.
    let means = draws.resamples.means(&second).into_iter();
    let means: Vec<f64> = means
        .zip(draws.resamples.means(&first))
        .map(|(to, from)| to - from)
        .collect();
    let enough = first.used() >= 2 && second.used() >= 2;
    Some(ScoreChange {
        from_tasks: count(from.len()),
        to_tasks: count(to.len()),
        from: ends.0,
        to: ends.1,
        change: ends.1 - ends.0,
        interval: Interval::from_means(&means).filter(|_| enough),
    })
}

/// Repositories with their resamples.
pub(super) struct Draws<'a> {
    repositories: BTreeMap<&'a str, usize>,
    resamples: Resamples,
}

impl<'a> Draws<'a> {
    pub(super) fn new(tasks: &[&[Scored<'a>]]) -> Self {
        let names = tasks.iter().copied().flatten().map(|task| task.0.repo());
        let names: BTreeSet<&str> = names.collect();
        Self {
            resamples: Resamples::new(names.len(), RESAMPLES, SEED),
            repositories: names.into_iter().zip(0..).collect(),
        }
    }

    /// Of the mean of their scores; `None` with fewer than two repositories.
    pub(super) fn interval(&self, tasks: &[Scored<'_>]) -> Option<Interval> {
        self.resamples.interval(&self.clusters(tasks))
    }

    fn clusters(&self, tasks: &[Scored<'_>]) -> Clusters {
        let mut clusters = Clusters::new(self.repositories.len());
        for (task, score) in tasks {
            clusters.add(self.repositories[task.repo()], *score);
        }
        clusters
    }
}

impl Freshness {
    /// A line for each month (RFC 4180, with a header). Unknown values are empty.
    pub fn csv(&self, run_id: &str) -> String {
        const COLUMNS: [&str; 10] = [
            "run_id",
            "gamma",
            "convention",
            "month",
            "tasks",
            "repositories",
            "unseen",
            "evoscore",
            "evoscore_low",
            "evoscore_high",
        ];
        let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
        let line = |month: &MonthScore| {
            [
                text(run_id),
                self.gamma.get().to_string(),
                self.convention.name().to_owned(),
                month.month.clone(),
                month.tasks.to_string(),
                month.repositories.to_string(),
                month.unseen.map_or_else(String::new, |n| n.to_string()),
                month.evoscore.to_string(),
                number(month.interval.map(|interval| interval.low)),
                number(month.interval.map(|interval| interval.high)),
            ]
        };
        table(COLUMNS, self.months.iter().map(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;

    /// Tasks of two repositories: 1 and 0 in January, 0.5 and -0.5 in March, and
    /// one without a date.
    fn run() -> Entry {
        let scores: [&[&[f64]]; 5] = [&[&[1.0]], &[&[0.0]], &[&[0.5]], &[&[-0.5]], &[&[1.0]]];
        let repos = ["p", "q", "p", "q", "p"];
        let tasks: Vec<(&str, &[&[f64]])> = repos.into_iter().zip(scores).collect();
        let mut run = entry("m", &tasks);
        let days = ["2026-01-05", "2026-01-31", "2026-03-01", "2026-03-02"];
        for (task, day) in run.tasks_mut().iter_mut().zip(days) {
            task.origin_mut().target_date = Some(day.to_owned());
        }
        run
    }

    #[test]
    fn months_by_hand() {
        let fresh = run().freshness(Gamma::ONE, Convention::Paper, None);
        let months: Vec<(&str, u32, f64)> = fresh
            .months
            .iter()
            .map(|m| (m.month.as_str(), m.tasks, m.evoscore))
            .collect();
        assert_eq!(months, [("2026-01", 2, 0.5), ("2026-03", 2, 0.0)]);
        assert_eq!((fresh.undated, fresh.unseen), (1, None));
        // One repository drawn twice, or both.
        let interval = fresh.months[0].interval.unwrap();
        assert_eq!((interval.low, interval.high), (0.0, 1.0));
        assert_eq!(fresh.months[0].unseen, None);
    }

    #[test]
    fn from_known_tasks_to_unseen_ones() {
        let mut run = run();
        run.release_date = Some("2026-06-01".into());
        run.training_cutoff = Some("2026-01-10".into());
        let fresh = run.freshness(Gamma::ONE, Convention::Paper, None);
        let change = fresh.unseen.unwrap();
        assert_eq!((change.from_tasks, change.to_tasks), (1, 3));
        assert_eq!((change.from, change.to, change.change), (1.0, 0.0, -1.0));
        // The known task is of one repository alone.
        assert_eq!(change.interval, None);
        let unseen: Vec<Option<u32>> = fresh.months.iter().map(|m| m.unseen).collect();
        assert_eq!(unseen, [Some(1), Some(2)]);

        // With a cutoff between the months, each has both repositories: p falls
        // from 1 to 0.5, q from 0 to -0.5, and so does every draw.
        run.training_cutoff = Some("2026-02-01".into());
        let fresh = run.freshness(Gamma::ONE, Convention::Paper, None);
        let change = fresh.unseen.unwrap();
        let interval = change.interval.unwrap();
        let all = [change.change, interval.low, interval.high];
        assert!(
            all.iter().all(|value| (value + 0.5).abs() < 1e-12),
            "{all:?}"
        );
    }

    #[test]
    fn between_two_splits() {
        let other = entry("m", &[("p", &[&[1.0]]), ("r", &[&[1.0]])]);
        let fresh = run().freshness(Gamma::ONE, Convention::Paper, Some(&other));
        let change = fresh.against.unwrap();
        assert_eq!((change.from_tasks, change.to_tasks), (2, 5));
        assert!((change.change - (0.4 - 1.0)).abs() < 1e-12);
        assert!(change.interval.unwrap().high <= 1e-12);
        let nothing = entry("m", &[]);
        let fresh = run().freshness(Gamma::ONE, Convention::Paper, Some(&nothing));
        assert_eq!(fresh.against, None);
    }

    #[test]
    fn as_a_table() {
        let csv = run()
            .freshness(Gamma::ONE, Convention::Paper, None)
            .csv("r");
        let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
        assert_eq!(lines[1], "r,1,paper,2026-01,2,2,,0.5,0,1");
        assert_eq!(lines.len(), 3);
    }
}
