//! The order of the tasks in a matrix.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::MatrixTask;

/// The sort key of tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskKey {
    #[default]
    Mean,
    Spread,
    Solved,
    Task,
}

impl TaskKey {
    pub const ALL: [Self; 4] = [Self::Mean, Self::Spread, Self::Solved, Self::Task];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Spread => "spread",
            Self::Solved => "solved",
            Self::Task => "task",
        }
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
        let (descending, name) = match text.strip_prefix('-') {
            Some(name) => (true, name),
            None => (false, text),
        };
        let key = TaskKey::ALL.into_iter().find(|key| key.name() == name);
        Ok(Self {
            key: key.ok_or(())?,
            descending,
        })
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
