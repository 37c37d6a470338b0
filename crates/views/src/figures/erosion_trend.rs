//! How far the code is from the maintainers' own in every number of erosion,
//! iteration by iteration.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swe_ci_core::uncertainty::{Clusters, Interval, RESAMPLES, Resamples, SEED};

use super::{Cell, Column, LeftOut, Study, Subject, Table};
use crate::count;
use crate::leaderboard::Entry;
use crate::style::{Erosion, ErosionFigure, ErosionIntervals};

/// Best run first, as on the leaderboard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErosionTrends {
    pub runs: Vec<ErosionTrend>,
    pub left_out: LeftOut,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErosionTrend {
    pub run: Subject,
    /// Iterations with a measurement, ascending.
    pub steps: Vec<ErosionStep>,
}

/// Means over the tasks with a measurement after an iteration, solved or not;
/// within a task, over its samples first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErosionStep {
    /// From 1.
    pub iteration: u32,
    /// Number of tasks behind it, from 1.
    pub tasks: u32,
    /// The run's numbers minus the oracle's.
    pub beside: Erosion,
    /// The ends of their 95 % intervals; absent with tasks of fewer than two
    /// repositories.
    pub low: Erosion,
    pub high: Erosion,
}

pub fn erosion_trends(study: &Study) -> ErosionTrends {
    let because = "no evolution of theirs has its erosion measured";
    let repositories = study.repositories();
    let resamples = Resamples::new(repositories.len(), RESAMPLES, SEED);
    let (runs, left_out) = study.each(because, |run, entry, _| {
        let steps = steps(entry, &repositories, &resamples);
        (!steps.is_empty()).then_some(ErosionTrend { run, steps })
    });
    ErosionTrends { runs, left_out }
}

/// The differences of one task from the oracle, with the number of its repository.
type OfTask = (usize, Erosion);

fn steps(
    entry: &Entry,
    repositories: &BTreeMap<&str, usize>,
    resamples: &Resamples,
) -> Vec<ErosionStep> {
    let mut tasks: BTreeMap<u32, Vec<OfTask>> = BTreeMap::new();
    for task in entry.tasks.iter() {
        let mut samples: BTreeMap<u32, Vec<Erosion>> = BTreeMap::new();
        for style in task.samples.iter().filter_map(|s| s.style.as_ref()) {
            for (iteration, point) in &style.course {
                let beside = point.erosion.minus(style.oracle.erosion);
                samples.entry(*iteration).or_default().push(beside);
            }
        }
        let Some(repository) = repositories.get(task.repo()) else {
            continue;
        };
        for (iteration, samples) in samples {
            let of_task = Erosion::mean(&samples);
            if of_task != Erosion::default() {
                tasks
                    .entry(iteration)
                    .or_default()
                    .push((*repository, of_task));
            }
        }
    }
    let step = |(iteration, tasks): (u32, Vec<OfTask>)| {
        let all: Vec<Erosion> = tasks.iter().map(|(_, erosion)| *erosion).collect();
        let ErosionIntervals { low, high } =
            ErosionIntervals::each(|figure| interval(&tasks, figure, resamples));
        ErosionStep {
            iteration,
            tasks: count(tasks.len()),
            beside: Erosion::mean(&all),
            low,
            high,
        }
    };
    tasks.into_iter().map(step).collect()
}

fn interval(tasks: &[OfTask], figure: ErosionFigure, resamples: &Resamples) -> Option<Interval> {
    let mut clusters = Clusters::new(resamples.repositories());
    for (repository, erosion) in tasks {
        if let Some(value) = erosion.of(figure) {
            clusters.add(*repository, value);
        }
    }
    resamples.interval(&clusters)
}

impl ErosionTrends {
    pub(super) fn table(&self) -> Table {
        let of_figure = |figure: ErosionFigure| {
            let column = |end: &str, title| Column::new(format!("{}{end}", figure.name()), title);
            [
                column("", figure.title().to_owned()),
                column("_low", "95 % from".to_owned()),
                column("_high", "95 % to".to_owned()),
            ]
        };
        let first = [
            Column::new("iteration", "Iteration"),
            Column::new("tasks", "Tasks"),
        ];
        let columns = first
            .into_iter()
            .chain(ErosionFigure::ALL.into_iter().flat_map(of_figure));
        let rows = self.runs.iter().flat_map(|trend| {
            let steps = trend.steps.iter();
            steps.map(move |step| (&trend.run, step.cells()))
        });
        Table::of_runs(columns, rows)
    }
}

impl ErosionStep {
    fn cells(&self) -> Vec<Cell> {
        let counts = [self.iteration, self.tasks].map(|n| Cell::whole(Some(n)));
        let cells = ErosionFigure::ALL.into_iter().flat_map(|figure| {
            [self.beside, self.low, self.high]
                .map(|erosion| Cell::number(erosion.of(figure), figure.places().max(1)))
        });
        counts.into_iter().chain(cells).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{leaderboard_of, with_study};
    use super::*;
    use crate::style::{Beside, StylePoint};
    use crate::testing::{beside, entry, styled};

    /// The oracle's code has a cognitive complexity of 2, and 10 % of it are unused;
    /// the run's after these iterations these.
    fn style(course: &[(u32, f64, Option<f64>)]) -> Beside {
        let point = |cognitive, unused| StylePoint {
            erosion: Erosion {
                cognitive_complexity: Some(cognitive),
                unused_code: unused,
                ..Erosion::default()
            },
            ..StylePoint::default()
        };
        let course = course.iter();
        Beside {
            oracle: point(2.0, Some(10.0)),
            course: course
                .map(|(n, cognitive, unused)| (*n, point(*cognitive, *unused)))
                .collect(),
            ..beside([70.0; 2], [7.0; 2], [0; 2])
        }
    }

    /// The first task has two samples, the second is of another repository and ends
    /// after one iteration, the third is not measured.
    #[test]
    fn by_hand() {
        let run = entry(
            "m",
            &[
                ("p", &[&[0.5, 1.0], &[0.5, 1.0]]),
                ("q", &[&[1.0]]),
                ("q", &[&[1.0]]),
            ],
        );
        let run = styled(run, |task, sample| match (task, sample) {
            (0, 0) => Some(style(&[(1, 2.0, Some(12.0)), (2, 3.0, None)])),
            (0, 1) => Some(style(&[(1, 4.0, None), (2, 4.0, None)])),
            (1, 0) => Some(style(&[(1, 5.0, Some(10.0))])),
            _ => None,
        });
        let data = leaderboard_of(vec![run, entry("silent", &[("p", &[&[1.0]])])]);
        with_study(&data, 1.0, |study| {
            let data = erosion_trends(study);
            assert_eq!(data.left_out.models, ["silent"]);
            let steps = &data.runs[0].steps;
            let of = |step: usize, figure| {
                let ErosionStep {
                    beside, low, high, ..
                } = &steps[step];
                [beside.of(figure), low.of(figure), high.of(figure)]
            };
            assert_eq!([steps[0].tasks, steps[1].tasks], [2, 1]);
            // (0 + 2) / 2 = 1 and 3: the mean is 2, and a resample may draw one of
            // them twice.
            let expect = [Some(2.0), Some(1.0), Some(3.0)];
            assert_eq!(of(0, ErosionFigure::Cognitive), expect);
            let expect = [Some(1.0), Some(0.0), Some(2.0)];
            assert_eq!(of(0, ErosionFigure::Unused), expect);
            assert_eq!(of(1, ErosionFigure::Cognitive), [Some(1.5), None, None]);
            assert_eq!(of(1, ErosionFigure::Unused), [None; 3]);
            let csv = data.table().csv();
            let line = csv.lines().nth(2).unwrap();
            assert!(line.starts_with("m,,run-m,measured,2,1,1.5,,,"), "{csv}");
        });
    }
}
