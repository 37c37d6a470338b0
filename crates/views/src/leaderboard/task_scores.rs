//! Scores of single evolutions, and of a run on one task.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, Series, Verdict, Weights};
use swe_ci_core::run::Kind;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;

use super::rows::{solved, turns, zero_regression, zrr};
use super::{Entry, EvolutionScore, ScoredTask};
use crate::count;
use crate::view::EvolutionView;

/// A run on one task: means over its scored samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskScore {
    pub convention: Convention,
    /// Equation 3, -1 to 1.
    pub evoscore: f64,
    /// Share of the samples, 0 to 1.
    pub solved: f64,
    /// Share of the samples, 0 to 1.
    pub zero_regression: f64,
    /// Share of the samples that are solved without any regression, 0 to 1.
    pub zrr: f64,
    /// Mean number of iterations used.
    pub turns: f64,
}

/// The result of a run on one task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TaskResult {
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub kind: Kind,
    pub split: String,
    /// Number of scored samples behind the means.
    pub samples: u32,
    /// At γ = 1, for each convention it is scored in.
    pub scores: Vec<TaskScore>,
}

impl Entry {
    /// The result of the run on a task; `None` when it has no score there.
    pub fn on_task(&self, split: &str, task: &TaskId, gamma: Gamma) -> Option<TaskResult> {
        let task = self.tasks.iter().find(|t| t.task_id() == task)?;
        let weights = self.weights(gamma);
        let scores: Vec<TaskScore> = Convention::ALL
            .into_iter()
            .filter(|convention| self.is_scored(*convention))
            .filter_map(|convention| task.score(&weights, convention))
            .collect();
        (!scores.is_empty()).then(|| TaskResult {
            run_id: self.run_id.clone(),
            model: self.model.clone(),
            provider: self.provider.clone(),
            harness: self.harness.clone(),
            kind: self.kind,
            split: split.to_owned(),
            samples: count(task.samples.len()),
            scores,
        })
    }

    /// The weights of its iterations.
    pub(super) fn weights(&self, gamma: Gamma) -> Weights {
        Weights::new(gamma, self.max_iterations)
    }
}

impl ScoredTask {
    pub(super) fn score(&self, weights: &Weights, convention: Convention) -> Option<TaskScore> {
        let average = |value: &dyn Fn(&Series) -> f64| self.mean_of(convention, value);
        Some(TaskScore {
            convention,
            evoscore: average(&|series| weights.evoscore(series.changes()))?,
            solved: average(&solved)?,
            zero_regression: average(&zero_regression)?,
            zrr: average(&zrr)?,
            turns: average(&turns)?,
        })
    }
}

impl EvolutionScore {
    /// The score of a displayed evolution; `None` while it has none in this
    /// convention.
    pub fn of(evolution: &EvolutionView, gamma: Gamma, convention: Convention) -> Option<Self> {
        evolution.ending.filter(|e| Ending::is_scored(*e))?;
        let verdicts: Vec<Verdict> = evolution.iterations.iter().map(|i| i.verdict).collect();
        let most = evolution.max_iterations;
        let series = Series::count(convention, evolution.suite, most, &verdicts)?;
        let weights = Weights::new(gamma, most);
        let task_id = evolution.task_id.clone();
        Some(Self::new(task_id, evolution.sample, &series, &weights))
    }

    pub(super) fn new(task_id: TaskId, sample: u32, series: &Series, weights: &Weights) -> Self {
        Self {
            task_id,
            sample,
            evoscore: weights.evoscore(series.changes()),
            gap_closed: series.change_after(usize::MAX).max(0.0),
            solved: series.solved(),
            regressions: count(series.regressions().len()),
            zero_regression: series.zero_regression(),
            zrr: series.zrr(),
            turns: series.turns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;
    use crate::view::IterationView;
    use swe_ci_core::metrics::SuiteCounts;
    use swe_ci_core::run::Progress;

    #[test]
    fn samples_are_averaged() {
        let run = entry("m", &[("r", &[&[1.0, 1.0], &[0.0]]), ("r", &[&[0.5]])]);
        let task = |name: &str| TaskId::new(name).unwrap();
        let result = run.on_task("s", &task("task-0"), Gamma::ONE).unwrap();
        assert_eq!((result.samples, result.scores.len()), (2, 2));
        let score = result.scores[0];
        assert!((score.evoscore - 0.5).abs() < 1e-12);
        assert_eq!(
            (score.solved, score.zero_regression, score.turns),
            (0.5, 1.0, 1.5)
        );
        assert_eq!(run.on_task("s", &task("task-9"), Gamma::ONE), None);
    }

    #[test]
    fn counts_only_runs_have_one_convention() {
        let mut run = entry("m", &[("r", &[&[1.0]]), ("r", &[&[0.5]])]);
        run.tasks_mut()[1].samples[0].paper = None;
        let task = TaskId::new("task-0").unwrap();
        let result = run.on_task("s", &task, Gamma::ONE).unwrap();
        let conventions: Vec<Convention> = result.scores.iter().map(|s| s.convention).collect();
        assert_eq!(conventions, [Convention::Reference]);
    }

    #[test]
    fn an_evolution_is_scored_when_it_is_over() {
        let verdict = |in_target| Verdict::Scored {
            in_target,
            passed: in_target,
            lost: 0,
        };
        let iteration = |(iteration, verdict)| IterationView {
            iteration,
            verdict,
            gained: 0,
            collapse: None,
            findings: Vec::new(),
            test_seconds: 0.0,
            finished_at: String::new(),
            contradicted: None,
        };
        let mut evolution = EvolutionView {
            evolution_id: "e".into(),
            task_id: TaskId::new("t").unwrap(),
            sample: 1,
            progress: Progress::Finished,
            ending: Some(Ending::Solved),
            reason: None,
            suite: SuiteCounts {
                base_in_target: 10,
                target: 20,
                base_passed: 10,
                counts_only: false,
            },
            start: None,
            max_iterations: 4,
            started_at: None,
            finished_at: None,
            current: None,
            not_audited: None,
            iterations: (1..)
                .zip([verdict(15), verdict(20)])
                .map(iteration)
                .collect(),
        };
        let score = |e: &EvolutionView, c| EvolutionScore::of(e, Gamma::ONE, c);
        // Two iterations, padded to four: (0.5 + 1 + 1 + 1) / 4.
        let paper = score(&evolution, Convention::Paper).unwrap();
        assert!((paper.evoscore - 0.875).abs() < 1e-12);
        assert!(paper.solved && paper.zero_regression && paper.turns == 2);
        evolution.suite.counts_only = true;
        assert_eq!(score(&evolution, Convention::Paper), None);
        assert!(score(&evolution, Convention::Reference).is_some());
        for unscored in [None, Some(Ending::Blocked), Some(Ending::Cancelled)] {
            evolution.ending = unscored;
            assert_eq!(score(&evolution, Convention::Reference), None);
        }
    }
}
