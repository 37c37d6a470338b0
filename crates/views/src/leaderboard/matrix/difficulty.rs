//! The difficulty of a board's tasks, by the results on it.

use std::cmp::Ordering;
use std::collections::HashMap;

use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Kind;
use swe_ci_core::task::TaskId;

use super::{Matrix, MatrixCell, MatrixRun, MatrixTask, TaskOrder};
use crate::leaderboard::{LeaderboardData, ScoredTask};
use crate::task_results::{Difficulty, RunOnTask, TaskInResults};

impl LeaderboardData {
    /// The numbers of each task with a result, at γ = 1: in the paper's convention,
    /// or in the reference's where no run has a score in the paper's.
    pub fn tasks_in_results(&self) -> HashMap<TaskId, TaskInResults> {
        // A run over another revision knows other tests.
        let of_split =
            |why: &Option<Unranked>| !matches!(why, Some(Unranked::OtherRevisions { .. }));
        let unranked = self.unranked.iter().filter(|run| of_split(&run.unranked));
        let mut found: HashMap<TaskId, TaskInResults> = HashMap::new();
        for task in self
            .entries
            .iter()
            .chain(unranked)
            .flat_map(|run| run.tasks.iter())
        {
            if !found.contains_key(task.task_id())
                && let Some(counts) = counts(task)
            {
                found.insert(task.task_id().clone(), counts);
            }
        }
        let matrices = Convention::ALL.map(|convention| {
            let matrix = self.matrix(Gamma::ONE, convention, TaskOrder::default());
            (convention, matrix)
        });
        let scored = matrices
            .into_iter()
            .find(|(_, matrix)| !matrix.rows.is_empty());
        if let Some((convention, matrix)) = scored {
            for row in &matrix.rows {
                if let Some(task) = found.get_mut(&row.task_id) {
                    task.difficulty = matrix.difficulty(row, convention);
                }
            }
        }
        found
    }
}

/// The numbers of tests that a task's evolutions started with.
fn counts(task: &ScoredTask) -> Option<TaskInResults> {
    let known = task.samples.iter().find(|sample| sample.paper.is_some());
    let sample = known.or(task.samples.first())?;
    let series = &sample.reference;
    let target = sample.paper.as_ref().unwrap_or(series).target();
    Some(TaskInResults {
        base_passed: series.base(),
        target_passed: target,
        gap: series.target().saturating_sub(series.base()),
        difficulty: None,
    })
}

impl Matrix {
    fn difficulty(&self, task: &MatrixTask, convention: Convention) -> Option<Difficulty> {
        let runs = self.columns.iter().zip(&task.cells);
        let models = runs.filter(|(run, _)| run.kind != Kind::Human);
        let scored = models.filter_map(|(run, cell)| Some((run, cell.as_ref()?)));
        let scored: Vec<Scored<'_>> = scored.collect();
        let of = |(run, cell): &Scored<'_>| RunOnTask {
            run_id: run.run_id.clone(),
            model: run.model.clone(),
            evoscore: cell.evoscore,
        };
        // Without a model, the means of the task are the baseline's.
        let best = of(scored.iter().rev().max_by(by_score)?);
        Some(Difficulty {
            convention,
            runs: task.models,
            solved_by: task.solved_by,
            evoscore: task.mean?,
            best,
            // Of equal scores, the last by rank; the best is the first.
            worst: of(scored.iter().rev().min_by(by_score)?),
        })
    }
}

/// A run with its result on a task.
type Scored<'a> = (&'a MatrixRun, &'a MatrixCell);

fn by_score((_, a): &&Scored<'_>, (_, b): &&Scored<'_>) -> Ordering {
    a.evoscore.total_cmp(&b.evoscore)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{entry, leaderboard};

    #[test]
    fn hard_for_models_alone() {
        let a = entry("a", &[("x", &[&[1.0]]), ("y", &[&[0.2]])]);
        let b = entry("b", &[("x", &[&[0.5]]), ("y", &[&[-0.2]])]);
        let mut human = entry("h", &[("x", &[&[1.0]]), ("y", &[&[1.0]])]);
        human.kind = Kind::Human;
        let found = leaderboard(vec![a, b, human]).tasks_in_results();
        let task = |name: &str| found[&TaskId::new(name).unwrap()].clone();
        let x = task("task-0");
        assert_eq!((x.base_passed, x.target_passed, x.gap), (100, 200, 100));
        let x = x.difficulty.unwrap();
        assert_eq!(
            (x.solved(), x.convention),
            ("1 of 2".to_owned(), Convention::Paper)
        );
        assert!((x.evoscore - 0.75).abs() < 1e-12 && (x.solved_share() - 0.5).abs() < 1e-12);
        assert_eq!((x.best.model.as_str(), x.worst.model.as_str()), ("a", "b"));
        assert_eq!(task("task-1").difficulty.unwrap().solved_by, 0);
    }

    #[test]
    fn counts_alone_and_runs_without_a_rank() {
        let mut run = entry("a", &[("x", &[&[0.5]])]);
        run.tasks_mut()[0].samples[0].paper = None;
        let found = leaderboard(vec![run]).tasks_in_results();
        let of = |found: &HashMap<TaskId, TaskInResults>| found.values().next().cloned().unwrap();
        let convention = of(&found)
            .difficulty
            .map(|difficulty| difficulty.convention);
        assert_eq!(convention, Some(Convention::Reference));
        let mut run = entry("a", &[("x", &[&[0.5]])]);
        run.unranked = Some(Unranked::Incomplete { scored: 1, of: 2 });
        let found = leaderboard(vec![run]).tasks_in_results();
        assert_eq!((of(&found).gap, of(&found).difficulty), (100, None));
        let mut human = entry("h", &[("x", &[&[1.0]])]);
        human.kind = Kind::Human;
        let found = leaderboard(vec![human]).tasks_in_results();
        assert_eq!((of(&found).gap, of(&found).difficulty), (100, None));
        assert!(leaderboard(Vec::new()).tasks_in_results().is_empty());
    }
}
