//! The tasks that all compared runs were scored on, with the result of each
//! run.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, SAME, Series, Weights};
use swe_ci_core::task::TaskId;

use crate::count;
use crate::leaderboard::rank::{solved, turns};
use crate::leaderboard::{Entry, ScoredTask, StyleRates};

/// A task with the result of each run, in the order of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SharedTask {
    pub task_id: TaskId,
    pub repo: String,
    pub results: Vec<SharedResult>,
    /// Highest score minus lowest, 0 to 2.
    pub spread: f64,
}

/// Means over the samples of a task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SharedResult {
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// Iterations used.
    pub turns: f64,
    /// Share of the samples that are solved, 0 to 1.
    pub solved: f64,
    /// Iterations that broke something.
    pub regressions: f64,
    /// Its code style against the oracle's, on this task only; absent when no
    /// sample is solved and measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRates>,
}

/// The tasks that all entries were scored on.
pub(super) fn shared_tasks<'a>(
    entries: &[&'a Entry],
    gamma: Gamma,
    convention: Convention,
) -> Vec<SharedTask> {
    let Some((first, others)) = entries.split_first() else {
        return Vec::new();
    };
    let weights = |entry: &Entry| Weights::new(gamma, entry.max_iterations);
    let by_id = |entry: &&'a Entry| {
        let tasks = entry.tasks.iter().map(|task| (&task.task_id, task));
        (weights(entry), tasks.collect())
    };
    let others: Vec<(Weights, HashMap<&TaskId, &ScoredTask>)> = others.iter().map(by_id).collect();
    let own = weights(first);
    let task = |task: &ScoredTask| {
        let mut results = vec![SharedResult::average(task, &own, convention)];
        for (weights, tasks) in &others {
            let task = tasks.get(&task.task_id)?;
            results.push(SharedResult::average(task, weights, convention));
        }
        Some(SharedTask {
            task_id: task.task_id.clone(),
            repo: task.repo.clone(),
            spread: spread(&results),
            results,
        })
    };
    let mut tasks: Vec<SharedTask> = first.tasks.iter().filter_map(task).collect();
    // Values that differ only by rounding are in the order of names.
    let steps = |task: &SharedTask| (task.sort_value() / SAME).round() as i64;
    tasks.sort_by(|a, b| {
        let order = steps(b).cmp(&steps(a));
        order.then_with(|| a.task_id.cmp(&b.task_id))
    });
    tasks
}

impl SharedResult {
    fn average(task: &ScoredTask, weights: &Weights, convention: Convention) -> Self {
        // A scored task has at least one sample.
        let average =
            |value: &dyn Fn(&Series) -> f64| task.mean_of(convention, value).unwrap_or_default();
        Self {
            evoscore: average(&|series| weights.evoscore(series.changes())),
            turns: average(&turns),
            solved: average(&solved),
            regressions: average(&|series| f64::from(count(series.regressions().len()))),
            style: StyleRates::over(&[task], convention),
        }
    }
}

impl SharedTask {
    /// Score of the first run minus that of the second.
    pub fn difference(&self) -> f64 {
        match self.results.as_slice() {
            [first, second, ..] => first.evoscore - second.evoscore,
            _ => 0.0,
        }
    }

    /// The value that orders the tasks of a comparison: the lead for two runs,
    /// the spread for more.
    fn sort_value(&self) -> f64 {
        if self.results.len() == 2 {
            self.difference()
        } else {
            self.spread
        }
    }
}

fn spread(results: &[SharedResult]) -> f64 {
    let scores = || results.iter().map(|r| r.evoscore);
    scores().fold(-1.0, f64::max) - scores().fold(1.0, f64::min)
}
