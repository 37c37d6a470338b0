//! The result of experiments on a task's tests.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use swe_ci_core::audit::Coverage;
use swe_ci_core::task::TaskId;
use swe_ci_core::wall::Wall;

use super::{Preparation, TaskFinding};

/// How far the results of a task can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskAudit {
    pub task_id: TaskId,
    /// Seconds the suite took on the target, one value per run.
    pub suite_seconds: Vec<f64>,
    /// Tests that did not come out alike in all runs, and so do not count.
    pub unreliable: u32,
    /// Walls that its tests are graded without.
    pub left_away: BTreeSet<Wall>,
    pub coverage: Coverage,
}

impl TaskAudit {
    pub fn of(task_id: TaskId, preparation: &Preparation, coverage: Coverage) -> Self {
        let unreliable = preparation.findings.iter().map(|finding| match finding {
            TaskFinding::Flaky { tests } | TaskFinding::FlakyOnBase { tests } => tests.count,
            _ => 0,
        });
        Self {
            task_id,
            suite_seconds: preparation.suite_seconds.clone(),
            unreliable: unreliable.sum(),
            left_away: preparation.left_away(),
            coverage,
        }
    }
}
