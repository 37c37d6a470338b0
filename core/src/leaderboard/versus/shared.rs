//! The tasks several runs were scored on, with the result of each run.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::leaderboard::rank::{solved, turns};
use crate::leaderboard::{Entry, ScoredTask, StyleRates};
use crate::metrics::{Convention, Gamma, SAME, Series, Weights, mean};
use crate::task::TaskId;

use super::count;

/// A task with the result of each run, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SharedTask {
    pub task_id: TaskId,
    pub repo: String,
    pub results: Vec<SharedResult>,
    /// Highest score less lowest, 0 to 2.
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
    /// Its code beside the oracle's, on this task alone; absent where no
    /// sample is solved and measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRates>,
}

/// The tasks all of them were scored on.
pub(super) fn shared(entries: &[&Entry], gamma: Gamma, convention: Convention) -> Vec<SharedTask> {
    let Some((first, others)) = entries.split_first() else {
        return Vec::new();
    };
    let others: Vec<(u32, HashMap<&TaskId, &ScoredTask>)> = others
        .iter()
        .map(|e| {
            (
                e.max_iterations,
                e.tasks.iter().map(|t| (&t.task_id, t)).collect(),
            )
        })
        .collect();
    let weights = |iterations| Weights::new(gamma, iterations);
    let own = weights(first.max_iterations);
    let rest: Vec<Weights> = others.iter().map(|(n, _)| weights(*n)).collect();
    let task = |task: &ScoredTask| {
        let mut results = vec![SharedResult::of(task, &own, convention)];
        for ((_, tasks), weights) in others.iter().zip(&rest) {
            results.push(SharedResult::of(
                tasks.get(&task.task_id)?,
                weights,
                convention,
            ));
        }
        Some(SharedTask {
            task_id: task.task_id.clone(),
            repo: task.repo.clone(),
            spread: spread(&results),
            results,
        })
    };
    let mut tasks: Vec<SharedTask> = first.tasks.iter().filter_map(task).collect();
    // What only rounding tells apart is in the order of names.
    let place = |task: &SharedTask| (task.order() / SAME).round() as i64;
    tasks.sort_by(|a, b| {
        let order = place(b).cmp(&place(a));
        order.then_with(|| a.task_id.cmp(&b.task_id))
    });
    tasks
}

impl SharedResult {
    fn of(task: &ScoredTask, weights: &Weights, convention: Convention) -> Self {
        // A scored task has at least one sample.
        let of = |value: &dyn Fn(&Series) -> f64| {
            mean(task.series(convention).map(value)).unwrap_or(0.0)
        };
        Self {
            evoscore: of(&|series| weights.evoscore(series.changes())),
            turns: of(&turns),
            solved: of(&solved),
            regressions: of(&|series| f64::from(count(series.regressions().len()))),
            style: StyleRates::over(&[task], convention),
        }
    }
}

impl SharedTask {
    /// Score of the first run less that of the second.
    #[must_use]
    pub fn difference(&self) -> f64 {
        match self.results.as_slice() {
            [first, second, ..] => first.evoscore - second.evoscore,
            _ => 0.0,
        }
    }

    /// What the tasks of a comparison are ordered by: of two runs it matters
    /// which is ahead, of more only how far they lie apart.
    fn order(&self) -> f64 {
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
