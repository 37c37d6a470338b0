//! The tasks that all compared runs were scored on, with the result of each
//! run.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, SAME, Series, Weights};
use swe_ci_core::task::TaskId;

use crate::count;
use crate::leaderboard::{Entry, ScoredTask, StyleRates};

/// A task with the result of each run, in the order of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SharedTask {
    pub task_id: TaskId,
    pub repo: String,
    pub results: Vec<SharedResult>,
    /// Highest score minus lowest, 0 to 2.
    pub spread: f64,
}

/// Means over the samples of a task.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SharedResult {
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// Iterations used.
    pub turns: f64,
    /// Share of the samples that are solved, 0 to 1.
    pub solved: f64,
    /// Share of the samples that are solved without any regression, 0 to 1.
    pub zrr: f64,
    /// Iterations that broke something.
    pub regressions: f64,
    /// Its code style against the oracle's, on this task only; absent when no
    /// sample is solved and measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRates>,
}

/// The tasks that all entries have, of the same revision.
pub(super) fn shared_ids(entries: &[&Entry]) -> HashSet<TaskId> {
    let Some((first, others)) = entries.split_first() else {
        return HashSet::new();
    };
    let others = others.iter().map(|entry| {
        let tasks = entry.tasks.iter().map(|task| (task.task_id(), task));
        tasks.collect::<HashMap<&TaskId, &ScoredTask>>()
    });
    let others: Vec<_> = others.collect();
    let is_shared = |task: &&ScoredTask| {
        let others = others
            .iter()
            .map(|tasks| tasks.get(task.task_id()).copied());
        let all: Option<Vec<&ScoredTask>> = others.chain([Some(*task)]).collect();
        all.is_some_and(|all| ScoredTask::is_one(&all))
    };
    let shared = first.tasks.iter().filter(is_shared);
    shared.map(|task| task.task_id().clone()).collect()
}

/// The tasks of entries that have the same ones.
pub(super) fn shared_tasks(
    entries: &[Entry],
    gamma: Gamma,
    convention: Convention,
) -> Vec<SharedTask> {
    let by_id = entries.iter().map(|entry| {
        let tasks = entry.tasks.iter().map(|task| (task.task_id(), task));
        tasks.collect::<HashMap<&TaskId, &ScoredTask>>()
    });
    let by_id: Vec<_> = by_id.collect();
    let weights = entries.iter().map(|entry| entry.weights(gamma));
    let weights: Vec<Weights> = weights.collect();
    let shared = |task: &ScoredTask| {
        let results = weights.iter().zip(&by_id).map(|(weights, tasks)| {
            SharedResult::of(tasks.get(task.task_id())?, weights, convention)
        });
        let results = results.collect::<Option<Vec<_>>>()?;
        Some(SharedTask {
            task_id: task.task_id().clone(),
            repo: task.repo().to_owned(),
            spread: spread(&results),
            results,
        })
    };
    let first = entries.iter().take(1);
    let first = first.flat_map(|entry| entry.tasks.iter());
    let mut tasks: Vec<SharedTask> = first.filter_map(shared).collect();
    // Values that differ only by rounding are in the order of names.
    let steps = |task: &SharedTask| (task.sort_value() / SAME).round() as i64;
    tasks.sort_by(|a, b| {
        let order = steps(b).cmp(&steps(a));
        order.then_with(|| a.task_id.cmp(&b.task_id))
    });
    tasks
}

impl SharedResult {
    fn of(task: &ScoredTask, weights: &Weights, convention: Convention) -> Option<Self> {
        let score = task.score(weights, convention)?;
        let broken = |series: &Series| f64::from(count(series.regressions().len()));
        Some(Self {
            evoscore: score.evoscore,
            turns: score.turns,
            solved: score.solved,
            zrr: score.zrr,
            regressions: task.mean_of(convention, broken)?,
            style: StyleRates::over(&[task], convention),
        })
    }
}

impl SharedTask {
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
