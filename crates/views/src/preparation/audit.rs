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
    pub quarantined: Vec<String>,
    /// Walls that its tests are graded without.
    pub left_away: BTreeSet<Wall>,
    pub coverage: Coverage,
}

impl TaskAudit {
    pub fn of(task_id: TaskId, preparation: &Preparation, coverage: Coverage) -> Self {
        let quarantined = preparation
            .findings
            .iter()
            .flat_map(|finding| match finding {
                TaskFinding::Flaky { tests } | TaskFinding::FlakyOnBase { tests } => {
                    &tests.first[..]
                }
                _ => &[],
            });
        Self {
            task_id,
            suite_seconds: preparation.suite_seconds.clone(),
            quarantined: quarantined.cloned().collect(),
            left_away: preparation.left_away(),
            coverage,
        }
    }

    /// Those of the slowest run.
    pub fn minutes(&self) -> f64 {
        self.suite_seconds.iter().copied().fold(0.0, f64::max) / 60.0
    }

    /// "full", "without moved clues".
    pub fn guard(&self) -> String {
        let names: Vec<&str> = self.left_away.iter().map(|wall| wall.name()).collect();
        match names.as_slice() {
            [] => "full".to_owned(),
            names => format!("without {}", names.join(", ")),
        }
    }

    /// A sentence for readers about the tasks of a split.
    pub fn sum(audits: &[Self]) -> String {
        let runs = audits.iter().map(|audit| audit.suite_seconds.len()).min();
        let quarantined: usize = audits.iter().map(|audit| audit.quarantined.len()).sum();
        let weaker = audits.iter().filter(|audit| !audit.left_away.is_empty());
        let minutes: f64 = audits.iter().map(Self::minutes).sum();
        format!(
            "The oracle passed all tests that count in each of {} or more runs, {quarantined} tests are quarantined; \
             {} of {} tasks have the full guard; all suites take {minutes:.1} minutes.",
            runs.unwrap_or(0),
            audits.len() - weaker.count(),
            audits.len()
        )
    }
}
