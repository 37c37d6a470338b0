//! The order of the tasks in a matrix.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::MatrixTask;

swe_ci_core::named! {
    /// The sort key of tasks.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum TaskKey {
        #[default]
        Mean = "mean",
        Spread = "spread",
        Solved = "solved",
        Task = "task",
    }
}

/// The order of tasks; hardest first by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskOrder {
    pub key: TaskKey,
    pub descending: bool,
}

impl FromStr for TaskOrder {
    type Err = ();

    /// "mean", or "-mean" in descending order.
    fn from_str(text: &str) -> Result<Self, ()> {
        let name = text.strip_prefix('-');
        let descending = name.is_some();
        let key = TaskKey::from_name(name.unwrap_or(text)).ok_or(())?;
        Ok(Self { key, descending })
    }
}

impl fmt::Display for TaskOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.descending { "-" } else { "" };
        write!(f, "{sign}{}", self.key.name())
    }
}

impl TaskOrder {
    /// Tasks without a value always come last; equal ones are in the order of
    /// names.
    pub(super) fn compare(self, a: &MatrixTask, b: &MatrixTask) -> Ordering {
        let order = match self.key {
            TaskKey::Mean => self.missing_last(a.mean, b.mean),
            TaskKey::Spread => self.missing_last(a.spread, b.spread),
            TaskKey::Solved => self.directed(a.solved_by.cmp(&b.solved_by)),
            TaskKey::Task => self.directed(a.task_id.cmp(&b.task_id)),
        };
        order.then_with(|| a.task_id.cmp(&b.task_id))
    }

    fn missing_last(self, a: Option<f64>, b: Option<f64>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => self.directed(a.total_cmp(&b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }

    fn directed(self, order: Ordering) -> Ordering {
        if self.descending {
            order.reverse()
        } else {
            order
        }
    }
}
