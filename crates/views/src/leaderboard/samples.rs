//! Runs with several samples of their tasks: how probably some or all of them
//! succeed, how much they vary, and how many it takes to tell two runs apart.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, Series, mean, pass_at, pass_hat};
use swe_ci_core::uncertainty::{
    Clusters, DIFFERENCE, Design, Interval, PowerPlan, ScoreSpread, TaskMean, sample_variance,
};

use super::{Entry, ScoredTask, UncertaintyModel};
use crate::count;

/// The samples of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Samples {
    /// The fewest scored samples of a scored task.
    pub fewest: u32,
    /// The most.
    pub most: u32,
    /// For k from 1 to the most samples of a task; beyond 10, every tenth k and
    /// the last.
    pub passes: Vec<PassesOf>,
    /// The spread of EvoScore.
    pub spread: ScoreSpread,
    /// What tells two runs apart that each vary like this one.
    pub plans: PowerPlans,
}

/// pass@k and pass^k over the tasks with at least k scored samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PassesOf {
    pub k: u32,
    /// Tasks with at least k scored samples.
    pub tasks: u32,
    pub solved: Passes,
    /// Of zero-regression resolution.
    pub zrr: Passes,
}

/// Estimated without bias for each task, then averaged over tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Passes {
    /// pass@k: at least one of k samples succeeds, 0 to 1.
    pub any: f64,
    /// 95 %; absent with tasks of fewer than two repositories.
    pub any_interval: Option<Interval>,
    /// pass^k: all of k samples succeed, 0 to 1.
    pub all: f64,
    /// 95 %; absent in the same case.
    pub all_interval: Option<Interval>,
}

/// From a run alone nobody knows how far another run finds the same tasks hard:
/// the truth is between these two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PowerPlans {
    /// If both find the same tasks equally hard, so that only their samples vary;
    /// absent where no task has two samples.
    pub at_best: Option<PowerPlan>,
    /// If what is hard for one says nothing about the other; absent with tasks of
    /// fewer than two repositories.
    pub at_worst: Option<PowerPlan>,
}

impl UncertaintyModel {
    /// The samples of a run; `None` without a score in the convention.
    pub fn samples(&self, entry: &Entry, gamma: Gamma, convention: Convention) -> Option<Samples> {
        if !entry.is_scored(convention) {
            return None;
        }
        let sizes = || entry.tasks.iter().map(|task| count(task.samples.len()));
        let most = sizes().max()?;
        let shown = (1..=most).filter(|k| *k <= 10 || k.is_multiple_of(10) || *k == most);
        let spread = self.spread(entry, gamma, convention);
        let repositories = entry.tasks.iter().map(|task| self.repository(task));
        let design = Design::of(repositories);
        let same = ScoreSpread {
            repositories: spread.repositories.map(|_| 0.0),
            tasks: None,
            samples: spread.samples,
        };
        let plan = |spread: ScoreSpread| PowerPlan::new(DIFFERENCE, spread.of_difference(), design);
        Some(Samples {
            fewest: sizes().min()?,
            most,
            passes: shown
                .filter_map(|k| self.passes_of(k, entry, convention))
                .collect(),
            spread,
            plans: PowerPlans {
                at_best: spread.samples.and_then(|_| plan(same)),
                at_worst: plan(spread),
            },
        })
    }

    fn passes_of(&self, k: u32, entry: &Entry, convention: Convention) -> Option<PassesOf> {
        let tasks = entry.tasks.iter();
        let tasks: Vec<&ScoredTask> = tasks
            .filter(|task| task.samples.len() >= k as usize)
            .collect();
        let passes = |succeeds: fn(&Series) -> bool| {
            let mean_of = |estimate: fn(u32, u32, u32) -> Option<f64>| {
                self.mean_over(tasks.iter().filter_map(|task| {
                    let passed = task.series(convention).filter(|series| succeeds(series));
                    let passed = count(passed.count());
                    Some((*task, estimate(k, passed, count(task.samples.len()))?))
                }))
            };
            let (any, any_interval) = mean_of(pass_at)?;
            let (all, all_interval) = mean_of(pass_hat)?;
            Some(Passes {
                any,
                any_interval,
                all,
                all_interval,
            })
        };
        Some(PassesOf {
            k,
            tasks: count(tasks.len()),
            solved: passes(Series::solved)?,
            zrr: passes(Series::zrr)?,
        })
    }

    /// The mean of a value over tasks, with its interval; `None` without tasks.
    fn mean_over<'a>(
        &self,
        values: impl Iterator<Item = (&'a ScoredTask, f64)>,
    ) -> Option<(f64, Option<Interval>)> {
        let values: Vec<(&ScoredTask, f64)> = values.collect();
        let mut clusters = Clusters::new(self.repositories());
        for (task, value) in &values {
            clusters.add(self.repository(task), *value);
        }
        let average = mean(values.iter().map(|(_, value)| *value))?;
        Some((average, self.resamples().interval(&clusters)))
    }

    /// The spread of a run's EvoScore.
    fn spread(&self, entry: &Entry, gamma: Gamma, convention: Convention) -> ScoreSpread {
        let scores = entry.sample_scores(gamma, convention);
        let variance = sample_variance(scores.iter().map(Vec::as_slice));
        let tasks = entry.tasks.iter().zip(&scores);
        let means = tasks.filter_map(|(task, scores)| {
            Some(TaskMean {
                repository: self.repository(task),
                mean: mean(scores.iter().copied())?,
                noise: variance.unwrap_or(0.0) / scores.len() as f64,
            })
        });
        ScoreSpread::of(&means.collect::<Vec<_>>(), variance.map(f64::sqrt))
    }

    /// What tells two runs apart on the tasks they share, from how their
    /// difference varies over these tasks. Where only one of them has several
    /// samples of a task, the other's are taken to vary as much.
    pub(super) fn plan(
        &self,
        first: &Entry,
        second: &Entry,
        gamma: Gamma,
        convention: Convention,
    ) -> Option<PowerPlan> {
        let scores = [first, second].map(|run| run.sample_scores(gamma, convention));
        let variances =
            [0, 1].map(|run: usize| sample_variance(scores[run].iter().map(Vec::as_slice)));
        let known = variances[0].or(variances[1]);
        let [a, b] = variances.map(|variance| variance.or(known));
        let of_second = second.tasks.iter().zip(&scores[1]);
        let of_second: HashMap<_, _> = of_second
            .map(|(task, scores)| (task.task_id(), scores))
            .collect();
        let shared = first.tasks.iter().zip(&scores[0]);
        let shared = shared.filter_map(|(task, ours)| {
            let theirs = of_second.get(task.task_id())?;
            let noise =
                |variance: Option<f64>, of: &[f64]| variance.unwrap_or(0.0) / of.len() as f64;
            Some(TaskMean {
                repository: self.repository(task),
                mean: mean(ours.iter().copied())? - mean(theirs.iter().copied())?,
                noise: noise(a, ours) + noise(b, theirs),
            })
        });
        let shared: Vec<TaskMean> = shared.collect();
        let samples = a.zip(b).map(|(a, b)| (a + b).sqrt());
        let design = Design::of(shared.iter().map(|task| task.repository));
        PowerPlan::new(DIFFERENCE, ScoreSpread::of(&shared, samples), design)
    }
}

impl Entry {
    /// The score of each sample of each of its tasks; none without scores in the
    /// convention.
    fn sample_scores(&self, gamma: Gamma, convention: Convention) -> Vec<Vec<f64>> {
        let weights = self.weights(gamma);
        let scored = self.tasks.iter().filter(|_| self.is_scored(convention));
        let of_task = |task: &ScoredTask| {
            let series = task.series(convention);
            series
                .map(|series| weights.evoscore(series.changes()))
                .collect()
        };
        scored.map(of_task).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};

    const SOLVED: &[f64] = &[1.0];
    const HALF: &[f64] = &[0.5];
    /// Solved in the end, after a loss.
    const LATE: &[f64] = &[-0.5, 1.0];

    fn samples(run: &Entry) -> Samples {
        let model = UncertaintyModel::new(&leaderboard(vec![run.clone()]));
        let samples = model.samples(run, Gamma::ONE, Convention::Paper);
        samples.expect("a scored run")
    }

    /// Two of three, all of two, none of one; k = 3 has one task.
    #[test]
    fn passes_by_hand() {
        let run = entry(
            "m",
            &[
                ("p", &[SOLVED, LATE, HALF]),
                ("q", &[SOLVED, SOLVED]),
                ("q", &[HALF]),
            ],
        );
        let samples = samples(&run);
        assert_eq!((samples.fewest, samples.most), (1, 3));
        let seen: Vec<(u32, u32)> = samples.passes.iter().map(|p| (p.k, p.tasks)).collect();
        assert_eq!(seen, [(1, 3), (2, 2), (3, 1)]);
        let check = |k: usize, solved: (f64, f64), zrr: (f64, f64)| {
            let passes = &samples.passes[k - 1];
            for (passes, (any, all)) in [(passes.solved, solved), (passes.zrr, zrr)] {
                let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{k}: {a} {b}");
                close(passes.any, any);
                close(passes.all, all);
            }
        };
        // k = 1 is the rate itself: (2/3 + 1 + 0) / 3.
        check(1, (5.0 / 9.0, 5.0 / 9.0), (4.0 / 9.0, 4.0 / 9.0));
        // Of the three pairs of the first task all have a solved sample, one has
        // two; two have one without a regression.
        check(2, (1.0, 2.0 / 3.0), (5.0 / 6.0, 0.5));
        check(3, (1.0, 0.0), (1.0, 0.0));
        assert!(samples.passes[1].solved.all_interval.is_some());
        assert_eq!(samples.passes[2].solved.any_interval, None);
    }

    #[test]
    fn one_sample_says_nothing_about_samples() {
        let run = entry("m", &[("p", &[SOLVED]), ("q", &[HALF])]);
        let samples = samples(&run);
        assert_eq!((samples.most, samples.spread.samples), (1, None));
        assert_eq!(samples.plans.at_best, None);
        // Scores 1 and 0.5: a variance of 0.125, doubled for two runs.
        let plan = samples.plans.at_worst.unwrap();
        let expect = (2.801_585_f64 / 0.03).powi(2) * 0.25;
        assert_eq!(plan.rows[0].tasks_needed, expect.ceil() as u32);
        let one = entry("m", &[("p", &[SOLVED])]);
        let model = UncertaintyModel::new(&leaderboard(vec![one.clone()]));
        let of_one = model.samples(&one, Gamma::ONE, Convention::Paper).unwrap();
        assert_eq!(of_one.plans, PowerPlans::default());
    }

    /// Runs that find the same tasks hard need far fewer tasks than one of them
    /// alone lets expect.
    #[test]
    fn a_pair_knows_more_than_a_run() {
        let run = |model: &str, better: f64| {
            let scores: Vec<[f64; 2]> = (0..8)
                .map(|at| f64::from(at) / 10.0 + better)
                .map(|score| [score, score + 0.02])
                .collect();
            let repos: Vec<String> = (0..8).map(|at| format!("r{at}")).collect();
            let samples: Vec<[&[f64]; 2]> = scores.iter().map(|s| [&s[..1], &s[1..]]).collect();
            let tasks = repos.iter().map(String::as_str);
            let tasks: Vec<(&str, &[&[f64]])> = tasks
                .zip(samples.iter().map(<[&[f64]; 2]>::as_slice))
                .collect();
            entry(model, &tasks)
        };
        let (a, b) = (run("a", 0.1), run("b", 0.0));
        let model = UncertaintyModel::new(&leaderboard(vec![a.clone(), b.clone()]));
        let plan = model.plan(&a, &b, Gamma::ONE, Convention::Paper).unwrap();
        let alone = samples(&a).plans;
        let [best, worst] = [alone.at_best.unwrap(), alone.at_worst.unwrap()];
        let tasks = |plan: &PowerPlan| plan.rows[0].tasks_needed;
        // The difference is the same everywhere, so only samples vary.
        assert_eq!(tasks(&plan), tasks(&best));
        assert!(tasks(&worst) > 100 * tasks(&best), "{worst:?}");
        assert_eq!(plan.samples_needed, Some(1));
    }
}
