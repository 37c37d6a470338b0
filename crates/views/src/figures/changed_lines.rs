//! Lines that a run changed to solve a task, against lines that people
//! changed: Figure 9.

use serde::{Deserialize, Serialize};
use swe_ci_core::task::TaskId;

use super::style_wins::UNMEASURED;
use super::{Cell, Column, LeftOut, Study, Subject, Table};

/// Best run first, as on the leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedLines {
    pub runs: Vec<ChangedBy>,
    pub left_out: LeftOut,
}

/// The solved and measured tasks of one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedBy {
    pub run: Subject,
    pub tasks: Vec<Changed>,
}

/// Lines of source added and deleted since the base, from 0; the mean over
/// the solved samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    pub task_id: TaskId,
    pub own: f64,
    pub oracle: f64,
}

pub fn changed_lines(study: &Study) -> ChangedLines {
    let (runs, left_out) = study.each(UNMEASURED, |run, entry, _| {
        let tasks = entry.tasks.iter().filter_map(|task| {
            let (own, oracle) = task.changed_lines(study.convention)?;
            Some(Changed {
                task_id: task.task_id().clone(),
                own,
                oracle,
            })
        });
        let tasks: Vec<Changed> = tasks.collect();
        (!tasks.is_empty()).then_some(ChangedBy { run, tasks })
    });
    ChangedLines { runs, left_out }
}

impl ChangedLines {
    pub(super) fn table(&self) -> Table {
        let columns = [
            Column::new("task_id", "Task"),
            Column::new("oracle_lines", "Lines of the oracle"),
            Column::new("own_lines", "Lines of the run"),
        ];
        let cells = |task: &Changed| {
            [
                Cell::Text(task.task_id.to_string()),
                Cell::number(Some(task.oracle), 0),
                Cell::number(Some(task.own), 0),
            ]
        };
        let rows = self.runs.iter().flat_map(|changed| {
            let tasks = changed.tasks.iter();
            tasks.map(move |task| (&changed.run, cells(task)))
        });
        Table::of_runs(columns, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{leaderboard_of, with_study};
    use super::*;
    use crate::testing::{beside, entry, styled};

    /// The first task has two solved samples of 10 and 30 lines and one that
    /// is not solved; the second is not solved; the third is not measured.
    #[test]
    fn by_hand() {
        let solved: &[f64] = &[1.0];
        let run = entry(
            "m",
            &[
                ("p", &[solved, solved, &[0.5]]),
                ("p", &[&[0.5]]),
                ("q", &[solved]),
            ],
        );
        let run = styled(run, |task, sample| {
            let own = [10, 30, 900][sample];
            (task < 2).then(|| beside([70.0; 2], [8.0; 2], [own, 15]))
        });
        let data = leaderboard_of(vec![run, entry("silent", &[("p", &[solved])])]);
        with_study(&data, 1.0, |study| {
            let data = changed_lines(study);
            assert_eq!(data.left_out.models, ["silent"]);
            assert_eq!(
                data.table().csv(),
                "model,provider,run_id,kind,task_id,oracle_lines,own_lines\r\n\
                 m,,run-m,measured,task-0,15,20\r\n"
            );
        });
    }
}
