//! Whether code style decays while tests begin to pass: its distance from the
//! base after each iteration. Not in the paper.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, mean};

use super::{Cell, Column, LeftOut, Study, Subject, Table};
use crate::count;
use crate::leaderboard::{Entry, Sample};
use crate::style::StylePoint;

/// Best run first, as on the leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleTrends {
    pub runs: Vec<StyleTrend>,
    pub left_out: LeftOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleTrend {
    pub run: Subject,
    /// Iterations with a measurement, ascending.
    pub steps: Vec<StyleStep>,
}

/// Means over the tasks with a measurement after an iteration, solved or not;
/// within a task, over its samples first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StyleStep {
    /// From 1.
    pub iteration: u32,
    /// Number of tasks behind it, from 1.
    pub tasks: u32,
    pub changes: Changes,
}

/// Changes since the base; absent unless both ends were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Changes {
    /// Of the maintainability index, -100 to 100; below 0 is worse.
    pub mi: Option<f64>,
    /// Of Pylint's score, -10 to 10; below 0 is worse.
    pub pylint: Option<f64>,
    /// Of the mean cyclomatic complexity; above 0 is worse.
    pub complexity: Option<f64>,
    /// Normalized change in passing tests (equation 2), -1 to 1, of the same
    /// evolutions.
    pub tests: Option<f64>,
}

pub fn style_trends(study: &Study) -> StyleTrends {
    let because = "no evolution of theirs has its code style measured";
    let (runs, left_out) = study.each(because, |run, entry, _| {
        let steps = steps(entry, study.convention);
        (!steps.is_empty()).then_some(StyleTrend { run, steps })
    });
    StyleTrends { runs, left_out }
}

/// The changes of several samples or tasks by iteration.
type ByIteration = BTreeMap<u32, Vec<Changes>>;

fn steps(entry: &Entry, convention: Convention) -> Vec<StyleStep> {
    let mut tasks = ByIteration::new();
    for task in entry.tasks.iter() {
        let mut samples = ByIteration::new();
        for (iteration, changes) in task.samples.iter().flat_map(|s| course(s, convention)) {
            samples.entry(iteration).or_default().push(changes);
        }
        for (iteration, samples) in samples {
            let changes = Changes::mean(&samples);
            tasks.entry(iteration).or_default().push(changes);
        }
    }
    let step = |(iteration, tasks): (u32, Vec<Changes>)| StyleStep {
        iteration,
        tasks: count(tasks.len()),
        changes: Changes::mean(&tasks),
    };
    tasks.into_iter().map(step).collect()
}

/// The changes after the iterations of one evolution that count.
fn course(sample: &Sample, convention: Convention) -> Vec<(u32, Changes)> {
    let (Some(style), Some(series)) = (&sample.style, sample.series(convention)) else {
        return Vec::new();
    };
    let change = |(iteration, point): &(u32, StylePoint)| {
        let at = usize::try_from(*iteration).ok()?.checked_sub(1)?;
        let tests = series.changes().nth(at)?;
        Some((*iteration, Changes::since(style.base, *point, tests)?))
    };
    style.course.iter().filter_map(change).collect()
}

impl Changes {
    /// The changes from a base to a later point; `None` when no value was
    /// measured at both.
    fn since(base: StylePoint, point: StylePoint, tests: f64) -> Option<Self> {
        let change = |base: Option<f64>, now: Option<f64>| Some(now? - base?);
        let style = Self {
            mi: change(base.mi, point.mi),
            pylint: change(base.pylint, point.pylint),
            complexity: change(base.complexity, point.complexity),
            tests: None,
        };
        (style != Self::default()).then_some(Self {
            tests: Some(tests),
            ..style
        })
    }

    fn mean(all: &[Self]) -> Self {
        let average = |value: fn(&Self) -> Option<f64>| mean(all.iter().filter_map(value));
        Self {
            mi: average(|changes| changes.mi),
            pylint: average(|changes| changes.pylint),
            complexity: average(|changes| changes.complexity),
            tests: average(|changes| changes.tests),
        }
    }
}

impl StyleTrends {
    pub(super) fn table(&self) -> Table {
        let columns = [
            Column::new("iteration", "Iteration"),
            Column::new("tasks", "Tasks"),
            Column::new("mi_change", "MI"),
            Column::new("pylint_change", "Pylint score"),
            Column::new("complexity_change", "Mean complexity"),
            Column::new("tests_change", "Normalized change"),
        ];
        let cells = |step: &StyleStep| {
            let changes = step.changes;
            [
                Cell::whole(Some(step.iteration)),
                Cell::whole(Some(step.tasks)),
                Cell::number(changes.mi, 2),
                Cell::number(changes.pylint, 2),
                Cell::number(changes.complexity, 2),
                Cell::number(changes.tests, 3),
            ]
        };
        let rows = self.runs.iter().flat_map(|trend| {
            let steps = trend.steps.iter();
            steps.map(move |step| (&trend.run, cells(step)))
        });
        Table::of_runs(columns, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{leaderboard_of, with_study};
    use super::*;
    use crate::style::Beside;
    use crate::testing::{beside, entry, styled};

    /// A base of 70, 7 and 3 with these changes of MI after these iterations;
    /// Pylint's score, if present, changes by an eighth of that.
    fn style(course: &[(u32, f64)], pylint: bool) -> Beside {
        let point = |mi: f64| StylePoint {
            mi: Some(70.0 + mi),
            pylint: pylint.then_some(7.0 + mi / 8.0),
            complexity: Some(3.0 - mi / 4.0),
            ..StylePoint::default()
        };
        Beside {
            course: course.iter().map(|(n, mi)| (*n, point(*mi))).collect(),
            ..beside([70.0; 2], [7.0; 2], [0; 2])
        }
    }

    /// The first task has two samples; the second of them collapsed in its
    /// second iteration and has no Pylint score. The second task ends after
    /// one iteration, the third is not measured, and the fourth has no
    /// measured base.
    #[test]
    fn by_hand() {
        let run = entry(
            "m",
            &[
                ("p", &[&[0.5, 1.0, 0.25], &[0.0, -1.0, 0.75]]),
                ("p", &[&[1.0]]),
                ("q", &[&[-1.0]]),
                ("q", &[&[-1.0]]),
            ],
        );
        let run = styled(run, |task, sample| match (task, sample) {
            (0, 0) => Some(style(&[(1, -2.0), (2, -4.0), (3, -8.0), (9, 0.0)], true)),
            (0, 1) => Some(style(&[(1, -4.0), (3, 0.0)], false)),
            (1, 0) => Some(style(&[(1, 1.0)], true)),
            (3, 0) => {
                let mut style = style(&[(1, 1.0)], true);
                style.base = StylePoint::default();
                Some(style)
            }
            _ => None,
        });
        let data = leaderboard_of(vec![run, entry("silent", &[("p", &[&[1.0]])])]);
        with_study(&data, 1.0, |study| {
            let data = style_trends(study);
            assert_eq!(data.left_out.models, ["silent"]);
            let csv = data.table().csv();
            let expect = [
                "model,provider,run_id,kind,iteration,tasks,mi_change,pylint_change,\
                 complexity_change,tests_change",
                // ((−2 − 4) / 2 + 1) / 2; of Pylint −0.25 and 0.125.
                "m,,run-m,measured,1,2,-1,-0.0625,0.25,0.625",
                "m,,run-m,measured,2,1,-4,-0.5,1,1",
                "m,,run-m,measured,3,1,-4,-1,1,0.5",
            ];
            assert_eq!(csv.lines().collect::<Vec<_>>(), expect);
        });
    }
}
