//! The leaderboard: per run and task what was counted ([`Sheet`], sent to the
//! browser once), and the rows for one γ and convention ([`Sheet::rank`],
//! computed on either side).

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::metrics::{Convention, Gamma, Series, Weights, mean};
use crate::run::{Kind, Progress};
use crate::task::TaskId;

/// Everything a leaderboard of one split needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    pub split: String,
    pub entries: Vec<Entry>,
}

/// A run with at least one scored task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub kind: Kind,
    pub progress: Progress,
    /// N: shorter evolutions are padded to it.
    pub max_iterations: u32,
    /// Tasks of the split the run has to do.
    pub tasks_total: u32,
    /// Tasks no evolution of which could be scored.
    pub tasks_blocked: u32,
    pub tasks: Vec<ScoredTask>,
}

/// The scored samples of one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredTask {
    pub task_id: TaskId,
    pub repo: String,
    pub samples: Vec<Sample>,
}

/// One evolution in both conventions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    pub paper: Series,
    pub reference: Series,
}

impl Sample {
    #[must_use]
    pub fn series(&self, convention: Convention) -> &Series {
        match convention {
            Convention::Paper => &self.paper,
            Convention::Reference => &self.reference,
        }
    }
}

/// A row of the leaderboard. Scores and rates are means over the scored
/// tasks; within a task, over its samples first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Row {
    /// From 1; equal scores share a rank.
    pub rank: u32,
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub kind: Kind,
    pub progress: Progress,
    /// Tasks scored.
    pub tasks: u32,
    pub tasks_total: u32,
    pub tasks_blocked: u32,
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// Share of tasks without any regression (Figure 6), 0 to 1.
    pub zero_regression_rate: f64,
    /// Share of tasks solved (Figure 10), 0 to 1.
    pub solved_rate: f64,
    /// Mean number of iterations used (Figure 11).
    pub average_turns: f64,
}

impl Sheet {
    /// The rows, best first. Ties in score are ordered by name, then by run,
    /// so that the order is always the same.
    #[must_use]
    pub fn rank(&self, gamma: Gamma, convention: Convention) -> Vec<Row> {
        let mut rows: Vec<Row> = self
            .entries
            .iter()
            .filter_map(|e| e.row(gamma, convention))
            .collect();
        rows.sort_by(|a, b| {
            b.evoscore
                .total_cmp(&a.evoscore)
                .then_with(|| a.model.cmp(&b.model))
                .then_with(|| a.run_id.cmp(&b.run_id))
        });
        let mut previous: Option<(u32, f64)> = None;
        for (position, row) in (1..).zip(&mut rows) {
            row.rank = match previous {
                Some((rank, score)) if score.total_cmp(&row.evoscore) == Ordering::Equal => rank,
                _ => position,
            };
            previous = Some((row.rank, row.evoscore));
        }
        rows
    }
}

impl Entry {
    /// EvoScore of the run; `None` before its first scored task.
    #[must_use]
    pub fn evoscore(&self, gamma: Gamma, convention: Convention) -> Option<f64> {
        let weights = Weights::new(gamma, self.max_iterations);
        self.mean_over_tasks(convention, |series| weights.evoscore(&series.changes))
    }

    fn row(&self, gamma: Gamma, convention: Convention) -> Option<Row> {
        let share = |holds: fn(&Series) -> bool| {
            self.mean_over_tasks(convention, |s| f64::from(u8::from(holds(s))))
        };
        Some(Row {
            rank: 0,
            run_id: self.run_id.clone(),
            model: self.model.clone(),
            provider: self.provider.clone(),
            harness: self.harness.clone(),
            kind: self.kind,
            progress: self.progress,
            tasks: u32::try_from(self.tasks.len()).unwrap_or(u32::MAX),
            tasks_total: self.tasks_total,
            tasks_blocked: self.tasks_blocked,
            evoscore: self.evoscore(gamma, convention)?,
            zero_regression_rate: share(|s| s.zero_regression)?,
            solved_rate: share(|s| s.solved)?,
            average_turns: self.mean_over_tasks(convention, |s| f64::from(s.turns()))?,
        })
    }

    fn mean_over_tasks(
        &self,
        convention: Convention,
        value: impl Fn(&Series) -> f64,
    ) -> Option<f64> {
        mean(
            self.tasks
                .iter()
                .filter_map(|t| mean(t.samples.iter().map(|s| value(s.series(convention))))),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(changes: &[f64], zero_regression: bool, solved: bool) -> Series {
        Series {
            changes: changes.to_vec(),
            zero_regression,
            solved,
        }
    }

    fn entry(model: &str, tasks: &[&[Series]]) -> Entry {
        let tasks = tasks
            .iter()
            .enumerate()
            .map(|(i, samples)| ScoredTask {
                task_id: TaskId::new(format!("task-{i}")).unwrap(),
                repo: "r".into(),
                samples: samples
                    .iter()
                    .map(|s| Sample {
                        paper: s.clone(),
                        reference: s.clone(),
                    })
                    .collect(),
            })
            .collect();
        Entry {
            run_id: format!("run-{model}"),
            model: model.into(),
            provider: String::new(),
            harness: "replay".into(),
            kind: Kind::Measured,
            progress: Progress::Finished,
            max_iterations: 2,
            tasks_total: 2,
            tasks_blocked: 0,
            tasks,
        }
    }

    #[test]
    fn gamma_turns_the_order_around() {
        let early = entry("early", &[&[series(&[1.0, 0.0], false, false)]]);
        let late = entry("late", &[&[series(&[0.0, 1.0], true, true)]]);
        let sheet = Sheet {
            split: "s".into(),
            entries: vec![late, early],
        };
        let order = |gamma: f64| {
            let rows = sheet.rank(Gamma::new(gamma).unwrap(), Convention::Paper);
            rows.into_iter()
                .map(|r| (r.rank, r.model))
                .collect::<Vec<_>>()
        };
        assert_eq!(order(2.0), [(1, "late".into()), (2, "early".into())]);
        assert_eq!(order(0.5), [(1, "early".into()), (2, "late".into())]);
        // Equal scores share a rank.
        assert_eq!(order(1.0), [(1, "early".into()), (1, "late".into())]);
    }

    #[test]
    fn samples_are_averaged_before_tasks() {
        let model = entry(
            "m",
            &[
                &[
                    series(&[1.0], true, true),
                    series(&[0.0], false, false),
                    series(&[0.5], true, false),
                ],
                &[series(&[1.0, 1.0], true, true)],
            ],
        );
        let row = &Sheet {
            split: "s".into(),
            entries: vec![model],
        }
        .rank(Gamma::ONE, Convention::Paper)[0];
        assert!((row.evoscore - 0.75).abs() < 1e-12);
        assert!((row.solved_rate - (1.0 / 3.0 + 1.0) / 2.0).abs() < 1e-12);
        assert!((row.average_turns - 1.5).abs() < 1e-12);
        assert_eq!(row.tasks, 2);
    }

    #[test]
    fn a_run_without_scores_has_no_row() {
        let sheet = Sheet {
            split: "s".into(),
            entries: vec![entry("m", &[])],
        };
        assert!(sheet.rank(Gamma::ONE, Convention::Paper).is_empty());
    }
}
