//! A task by its results: how hard it is, and its numbers.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::Convention;
use swe_ci_core::requirement::Requirement;

/// How hard a task was for the models with a rank; the human baseline does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Difficulty {
    /// The paper's, where a run has a score in it.
    pub convention: Convention,
    /// Runs that are scored on it.
    pub runs: u32,
    /// Runs that solved it in every sample.
    pub solved_by: u32,
    /// Mean EvoScore of these runs at γ = 1, -1 to 1.
    pub evoscore: f64,
    /// The run with the highest score.
    pub best: RunOnTask,
    /// The run with the lowest.
    pub worst: RunOnTask,
}

impl Difficulty {
    /// The share of runs that solved it, 0 to 1.
    pub fn solved_share(&self) -> f64 {
        f64::from(self.solved_by) / f64::from(self.runs.max(1))
    }

    /// "3 of 16".
    pub fn solved(&self) -> String {
        format!("{} of {}", self.solved_by, self.runs)
    }
}

/// A run on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunOnTask {
    pub run_id: String,
    pub model: String,
    pub evoscore: f64,
}

/// The numbers of a task as results have them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskInResults {
    /// All tests the base passes.
    pub base_passed: u32,
    /// The size of T; assumed where only counts are known.
    pub target_passed: u32,
    pub gap: u32,
    /// Absent where no run with a rank has a score.
    pub difficulty: Option<Difficulty>,
}

/// What an architect asked for first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FirstRequirements {
    pub run_id: String,
    pub model: String,
    /// From 1.
    pub sample: u32,
    pub requirements: Vec<Requirement>,
}
