//! Every task against every run: which tasks are hard, and for which models.

mod difficulty;
mod order;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use order::{TaskKey, TaskOrder};

use super::export::Basis;
use super::{Entry, LeaderboardData, Origin, Row};
use swe_ci_core::csv::{table, text};
use swe_ci_core::metrics::{Convention, Gamma, METRIC_VERSION, mean};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_core::task::TaskId;

use crate::count;

/// The tasks of a split with at least one scored run, each with the result of
/// every run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Matrix {
    pub split: String,
    /// The runs, in the order of the leaderboard.
    pub columns: Vec<MatrixRun>,
    /// The tasks, in the requested order.
    pub rows: Vec<MatrixTask>,
    /// Number of runs without scores in this convention.
    pub left_out: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MatrixRun {
    pub rank: u32,
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub kind: Kind,
    pub mode: Mode,
    /// EvoScore over all its scored tasks, as on the leaderboard.
    pub evoscore: f64,
    /// Zero-regression resolution over all its scored tasks, 0 to 1.
    pub zrr: f64,
    /// The reason for its empty cells, if any.
    pub absence: Absence,
}

swe_ci_core::named! {
    /// Why a run has no score on a task.
    pub enum Absence {
        /// The run is not over.
        NotYet = "not_yet",
        /// The evolution is blocked, which has no score, or the task is not part
        /// of the run.
        BlockedOrNoPart = "blocked_or_no_part",
        /// The task is not part of the run.
        NoPart = "no_part",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MatrixTask {
    pub task_id: TaskId,
    pub repo: String,
    /// Mean EvoScore over the models scored on it. The human baseline counts
    /// only when the leaderboard has no model.
    pub mean: Option<f64>,
    /// Best score minus worst.
    pub spread: Option<f64>,
    /// Number of models scored on it.
    pub models: u32,
    /// Number of models that solved it in every sample.
    pub solved_by: u32,
    /// Number of models that solved it in every sample without any regression.
    pub zrr_by: u32,
    /// A cell for each run; null without a score.
    pub cells: Vec<Option<MatrixCell>>,
}

/// The result of a run on a task: means over its scored samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MatrixCell {
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// Share of the samples, 0 to 1.
    pub solved: f64,
    /// Share of the samples without any regression, 0 to 1.
    pub zero_regression: f64,
    /// Share of the samples that are solved without any regression, 0 to 1.
    pub zrr: f64,
    pub samples: u32,
}

impl LeaderboardData {
    /// Every task against every run that has a score in the convention.
    pub fn matrix(&self, gamma: Gamma, convention: Convention, order: TaskOrder) -> Matrix {
        let entries = self.by_run();
        let ranking = self.rank(gamma, convention);
        let ranked = ranking.iter().filter_map(|row| {
            let (_, entry) = entries.get(row.run_id.as_str())?;
            Some((row, *entry))
        });
        let ranked: Vec<(&Row, &Entry)> = ranked.collect();
        let models = models(&ranked);
        let mut tasks: HashMap<&TaskId, MatrixTask> = HashMap::new();
        for (column, (_, entry)) in ranked.iter().enumerate() {
            let weights = entry.weights(gamma);
            for task in entry.tasks.iter() {
                let row = tasks.entry(task.task_id());
                let row = row.or_insert_with(|| MatrixTask::empty(&task.origin, ranked.len()));
                let score = task.score(&weights, convention);
                row.cells[column] = score.map(|score| MatrixCell {
                    evoscore: score.evoscore,
                    solved: score.solved,
                    zero_regression: score.zero_regression,
                    zrr: score.zrr,
                    samples: count(task.samples.len()),
                });
            }
        }
        let mut rows: Vec<MatrixTask> = tasks
            .into_values()
            .map(|task| task.summarised(&models))
            .collect();
        rows.sort_by(|a, b| order.compare(a, b));
        Matrix {
            split: self.split.clone(),
            columns: ranked
                .iter()
                .map(|(row, entry)| column(row, entry))
                .collect(),
            rows,
            left_out: count(self.unscored(convention).count()),
        }
    }
}

/// Whether each column counts in the means of tasks.
fn models(ranked: &[(&Row, &Entry)]) -> Vec<bool> {
    let is_model = |(row, _): &(&Row, &Entry)| row.kind != Kind::Human;
    let any = ranked.iter().any(is_model);
    ranked.iter().map(|run| !any || is_model(run)).collect()
}

fn column(row: &Row, entry: &Entry) -> MatrixRun {
    let absence = if !entry.progress.is_over() {
        Absence::NotYet
    } else if entry.tasks_blocked > 0 {
        Absence::BlockedOrNoPart
    } else {
        Absence::NoPart
    };
    MatrixRun {
        rank: row.rank,
        run_id: row.run_id.clone(),
        model: row.model.clone(),
        provider: row.provider.clone(),
        kind: row.kind,
        mode: row.mode,
        evoscore: row.evoscore,
        zrr: row.zrr,
        absence,
    }
}

impl MatrixTask {
    fn empty(origin: &Origin, columns: usize) -> Self {
        Self {
            task_id: origin.task_id.clone(),
            repo: origin.repo.clone(),
            mean: None,
            spread: None,
            models: 0,
            solved_by: 0,
            zrr_by: 0,
            cells: vec![None; columns],
        }
    }

    /// The task with its mean, spread and numbers over the models.
    fn summarised(self, models: &[bool]) -> Self {
        let cells = self.cells.iter().zip(models).filter(|(_, counts)| **counts);
        let cells: Vec<&MatrixCell> = cells.filter_map(|(cell, _)| cell.as_ref()).collect();
        let scores = || cells.iter().map(|cell| cell.evoscore);
        let (low, high) = (scores().reduce(f64::min), scores().reduce(f64::max));
        Self {
            mean: mean(scores()),
            spread: low.zip(high).map(|(low, high)| high - low),
            models: count(cells.len()),
            solved_by: count(cells.iter().filter(|cell| cell.solved >= 1.0).count()),
            zrr_by: count(cells.iter().filter(|cell| cell.zrr >= 1.0).count()),
            ..self
        }
    }
}

impl Matrix {
    /// A line for each task and run (RFC 4180, with a header); a line without
    /// a score ends with the reason.
    pub fn csv(&self, basis: &Basis) -> String {
        let line = |(task, run, cell): (&MatrixTask, &MatrixRun, &Option<MatrixCell>)| {
            let value =
                |value: fn(&MatrixCell) -> String| cell.as_ref().map(value).unwrap_or_default();
            let absence = match cell {
                Some(_) => "",
                None => run.absence.name(),
            };
            [
                text(&basis.made_on),
                text(basis.snapshot_day()),
                METRIC_VERSION.to_string(),
                text(&self.split),
                basis.gamma.get().to_string(),
                basis.convention.name().to_owned(),
                basis.seen().to_owned(),
                text(task.task_id.as_str()),
                text(&task.repo),
                text(&run.run_id),
                text(&run.model),
                run.kind.name().to_owned(),
                run.mode.name().to_owned(),
                value(|c| c.evoscore.to_string()),
                value(|c| c.solved.to_string()),
                value(|c| c.zero_regression.to_string()),
                value(|c| c.zrr.to_string()),
                value(|c| c.samples.to_string()),
                absence.to_owned(),
            ]
        };
        let cells = self.rows.iter().flat_map(|task| {
            let cells = self.columns.iter().zip(&task.cells);
            cells.map(move |(run, cell)| (task, run, cell))
        });
        table(HEADS.split(','), cells.map(line))
    }
}

const HEADS: &str = "made_on,snapshot,metric_version,split,gamma,convention,seen,task_id,repo,run_id,model,kind,mode,\
    evoscore,solved,zero_regression,zrr,samples,absence";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};
    use swe_ci_core::run::Progress;

    /// Two models and the human baseline over three tasks; `b` lacks the last
    /// one.
    fn board() -> LeaderboardData {
        let a = entry("a", &[("x", &[&[1.0]]), ("y", &[&[0.2]]), ("z", &[&[0.4]])]);
        let b = entry("b", &[("x", &[&[0.5]]), ("y", &[&[-0.2]])]);
        let mut human = entry("h", &[("x", &[&[1.0]]), ("y", &[&[1.0]]), ("z", &[&[1.0]])]);
        human.kind = Kind::Human;
        leaderboard(vec![b, human, a])
    }

    fn matrix(data: &LeaderboardData, order: &str) -> Matrix {
        data.matrix(Gamma::ONE, Convention::Paper, order.parse().unwrap())
    }

    #[test]
    fn columns_as_on_the_leaderboard_and_rows_in_every_order() {
        let board = board();
        let runs: Vec<(u32, String)> = matrix(&board, "mean")
            .columns
            .into_iter()
            .map(|run| (run.rank, run.model))
            .collect();
        assert_eq!(runs, [(1, "h".into()), (2, "a".into()), (3, "b".into())]);
        let check = |order: &str, expect: [&str; 3]| {
            let rows = matrix(&board, order).rows;
            let ids: Vec<&str> = rows.iter().map(|t| t.task_id.as_str()).collect();
            assert_eq!(ids, expect, "{order}");
            assert_eq!(order.parse::<TaskOrder>().unwrap().to_string(), order);
        };
        // Means 0.75, 0 and 0.4; spreads 0.5, 0.4 and 0; solved by 1, 0, 0.
        check("mean", ["task-1", "task-2", "task-0"]);
        check("-mean", ["task-0", "task-2", "task-1"]);
        check("spread", ["task-2", "task-1", "task-0"]);
        check("-spread", ["task-0", "task-1", "task-2"]);
        check("solved", ["task-1", "task-2", "task-0"]);
        check("-solved", ["task-0", "task-1", "task-2"]);
        check("zrr", ["task-1", "task-2", "task-0"]);
        check("-zrr", ["task-0", "task-1", "task-2"]);
        check("task", ["task-0", "task-1", "task-2"]);
        check("-task", ["task-2", "task-1", "task-0"]);
        assert_eq!(TaskOrder::default().to_string(), "mean");
        for wrong in ["", "-", "Mean", "--mean", "x"] {
            assert!(wrong.parse::<TaskOrder>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_baseline_counts_only_without_models() {
        let mut board = board();
        let hardest = &matrix(&board, "mean").rows[0];
        assert!(hardest.mean.unwrap().abs() < 1e-12);
        assert_eq!((hardest.models, hardest.solved_by), (2, 0));
        board.entries.retain(|e| e.kind == Kind::Human);
        let alone = &matrix(&board, "mean").rows[0];
        assert_eq!(
            (alone.mean, alone.models, alone.solved_by),
            (Some(1.0), 1, 1)
        );
        assert_eq!(alone.spread, Some(0.0));
        // A task with only the baseline has no mean, and comes last.
        let mut board = self::board();
        board.entries[2].tasks_mut().pop();
        for order in ["mean", "-mean"] {
            let rows = matrix(&board, order).rows;
            let last = rows.last().unwrap();
            assert_eq!((last.task_id.as_str(), last.mean), ("task-2", None));
        }
    }

    #[test]
    fn empty_cells_have_a_reason() {
        let mut board = board();
        let result = matrix(&board, "task");
        assert_eq!(result.rows[2].cells[2], None);
        assert_eq!(result.columns[2].absence, Absence::NoPart);
        board.entries[0].tasks_blocked = 1;
        let result = matrix(&board, "task");
        assert_eq!(result.columns[2].absence, Absence::BlockedOrNoPart);
        board.entries[0].progress = Progress::Running;
        let result = matrix(&board, "task");
        assert_eq!(result.columns[2].absence, Absence::NotYet);
        board.entries[0].tasks_mut()[0].samples[0].paper = None;
        let result = matrix(&board, "task");
        assert_eq!((result.columns.len(), result.left_out), (2, 1));
        assert_eq!(matrix(&leaderboard(Vec::new()), "mean").rows, []);
    }

    #[test]
    fn samples_are_averaged() {
        let result = matrix(
            &leaderboard(vec![entry("m", &[("r", &[&[1.0], &[0.0]])])]),
            "mean",
        );
        let cell = MatrixCell {
            evoscore: 0.5,
            solved: 0.5,
            zero_regression: 1.0,
            zrr: 0.5,
            samples: 2,
        };
        assert_eq!(result.rows[0].cells, [Some(cell)]);
        // Solved in one of two samples is not solved.
        assert_eq!((result.rows[0].solved_by, result.rows[0].zrr_by), (0, 0));
        assert!((result.columns[0].zrr - 0.5).abs() < 1e-12);
    }

    /// `b` solves the first task after a loss, the second without one; `a` solves
    /// none.
    #[test]
    fn resolved_without_a_regression() {
        let a = entry("a", &[("x", &[&[0.5, 0.4]]), ("y", &[&[0.5]])]);
        let b = entry("b", &[("x", &[&[0.5, 0.4, 1.0]]), ("y", &[&[1.0]])]);
        let result = matrix(&leaderboard(vec![a, b]), "task");
        let by: Vec<(u32, u32)> = result
            .rows
            .iter()
            .map(|t| (t.solved_by, t.zrr_by))
            .collect();
        assert_eq!(by, [(1, 0), (1, 1)]);
        let of_runs: Vec<f64> = result.columns.iter().map(|run| run.zrr).collect();
        assert_eq!(of_runs, [0.5, 0.0]);
        let cells = &result.rows[0].cells;
        assert_eq!(
            cells[0].map(|cell| (cell.solved, cell.zrr)),
            Some((1.0, 0.0))
        );
    }

    #[test]
    fn as_a_table() {
        let csv = matrix(&board(), "-task").csv(&Basis {
            split: "s".into(),
            gamma: Gamma::ONE,
            convention: Convention::Paper,
            unseen: true,
            made_on: "2026-11-24".into(),
            snapshot: None,
        });
        let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 10);
        assert!(
            lines[0].starts_with("made_on,snapshot,metric_version,split,gamma,convention,seen,")
        );
        let line =
            |rest: &str| format!("2026-11-24,,{METRIC_VERSION},s,1,paper,exclude,task-2,z,{rest}");
        assert_eq!(lines[2], line("run-a,a,measured,tdd,0.4,0,1,0,1,"));
        assert_eq!(lines[3], line("run-b,b,measured,tdd,,,,,,no_part"));
    }
}
