//! The order of the tasks in a matrix.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::MatrixTask;
use crate::missing_last;

swe_ci_core::named! {
    /// The sort key of tasks.
    #[derive(Default)]
    pub enum TaskKey {
        #[default]
        Mean = "mean",
        Spread = "spread",
        Solved = "solved",
        Zrr = "zrr",
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
        let numbers = |a: f64, b: f64| self.directed(a.total_cmp(&b));
        let order = match self.key {
            TaskKey::Mean => missing_last(a.mean, b.mean, numbers),
            TaskKey::Spread => missing_last(a.spread, b.spread, numbers),
            TaskKey::Solved => self.directed(a.solved_by.cmp(&b.solved_by)),
            TaskKey::Zrr => self.directed(a.zrr_by.cmp(&b.zrr_by)),
            TaskKey::Task => self.directed(a.task_id.cmp(&b.task_id)),
        };
        order.then_with(|| a.task_id.cmp(&b.task_id))
    }

    fn directed(self, order: Ordering) -> Ordering {
        if self.descending {
            order.reverse()
        } else {
            order
        }
    }
}
