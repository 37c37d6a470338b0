//! In which order the tasks of a matrix stand.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::MatrixTask;

/// What tasks are sorted by.
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

/// The order of tasks; hardest first unless something else is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskOrder {
    pub key: TaskKey,
    /// From the largest value down.
    pub descending: bool,
}

impl FromStr for TaskOrder {
    type Err = ();

    /// "mean", or "-mean" from the largest down.
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
    /// Tasks without a value come last either way; equal ones go by name.
    pub(super) fn compare(self, a: &MatrixTask, b: &MatrixTask) -> Ordering {
        let order = match self.key {
            TaskKey::Mean => self.known(a.mean, b.mean),
            TaskKey::Spread => self.known(a.spread, b.spread),
            TaskKey::Solved => self.turned(a.solved_by.cmp(&b.solved_by)),
            TaskKey::Task => self.turned(a.task_id.cmp(&b.task_id)),
        };
        order.then_with(|| a.task_id.cmp(&b.task_id))
    }

    fn known(self, a: Option<f64>, b: Option<f64>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => self.turned(a.total_cmp(&b)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }

    fn turned(self, order: Ordering) -> Ordering {
        if self.descending {
            order.reverse()
        } else {
            order
        }
    }
}
