//! All scores of one run for one γ and convention.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::{Convention, Gamma, Profile, mean};
use swe_ci_core::recovery::Recovery;
use swe_ci_core::task::TaskId;

use super::{
    CheatingRate, EffortRates, Entry, GeneralisationRate, Intervals, LeaderboardData, Samples,
    StyleRates, UncertaintyModel,
};

use crate::count;

/// The scores of a run, down to its single evolutions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Scores {
    pub convention: Convention,
    #[schema(value_type = f64)]
    pub gamma: Gamma,
    /// N: shorter evolutions are padded to it.
    pub max_iterations: u32,
    /// Equation 3, -1 to 1; absent, like the other means, without a scored
    /// evolution.
    pub evoscore: Option<f64>,
    /// Share of tasks solved (Figure 10), 0 to 1.
    pub solved_rate: Option<f64>,
    /// Share of tasks without any regression (Figure 6), 0 to 1.
    pub zero_regression_rate: Option<f64>,
    /// Zero-regression resolution: share of tasks solved without any regression,
    /// 0 to 1.
    pub zrr: Option<f64>,
    /// Mean number of iterations used (Figure 11).
    pub average_turns: Option<f64>,
    /// Its code style against the oracle's (Figures 8 and 9); absent when no
    /// task is solved and measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<StyleRates>,
    /// What its scored evolutions took on average; absent when nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<EffortRates>,
    /// How far its code answers changed inputs as the oracle does; absent where
    /// nothing was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generalisation: Option<GeneralisationRate>,
    /// How much of what nobody can pass honestly its code passes; in the mode
    /// impossible alone, and never part of a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cheating: Option<CheatingRate>,
    /// 95 % intervals; absent with tasks of fewer than two repositories.
    pub intervals: Option<Intervals>,
    /// What its samples of each task say; absent without a scored evolution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<Samples>,
    /// Iteration by iteration (Figures 7 and 12).
    pub profile: Profile,
    /// Duration of the regressions; absent when only counts are known.
    pub recovery: Option<RecoveryTime>,
    /// One for each scored evolution.
    pub tasks: Vec<EvolutionScore>,
}

/// One evolution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct EvolutionScore {
    pub task_id: TaskId,
    /// From 1.
    pub sample: u32,
    pub evoscore: f64,
    /// The part of the gap that is closed at the end, 0 to 1; net, and 0 below
    /// the base.
    pub gap_closed: f64,
    pub solved: bool,
    /// Iterations that lost a test.
    pub regressions: u32,
    pub zero_regression: bool,
    /// Zero-regression resolution: both of these.
    pub zrr: bool,
    /// Iterations used.
    pub turns: u32,
}

/// The duration of the regressions of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecoveryTime {
    /// Iterations that broke something.
    pub regressions: u32,
    /// Those that were completely repaired before the evolution ended.
    pub repaired: u32,
    /// Mean number of iterations of a repair, from 1; absent without repairs.
    pub average_iterations: Option<f64>,
}

impl RecoveryTime {
    pub fn of(recoveries: &[Recovery]) -> Self {
        let iterations: Vec<f64> = recoveries
            .iter()
            .filter_map(|r| r.after.map(f64::from))
            .collect();
        Self {
            regressions: count(recoveries.len()),
            repaired: count(iterations.len()),
            average_iterations: mean(iterations),
        }
    }
}

impl Entry {
    /// All scores of the run except recovery, which needs the outcomes. Intervals
    /// are those of a leaderboard with this run alone.
    pub fn all_scores(&self, gamma: Gamma, convention: Convention) -> Scores {
        let alone = LeaderboardData {
            entries: vec![self.clone()],
            ..LeaderboardData::default()
        };
        let model = UncertaintyModel::new(&alone);
        let rows = model.rank(&alone, gamma, convention);
        Scores {
            intervals: rows.first().and_then(|row| row.intervals),
            samples: model.samples(self, gamma, convention),
            ..self.scores(gamma, convention)
        }
    }

    /// The scores that are of this run alone: without intervals, samples and
    /// recovery.
    pub fn scores(&self, gamma: Gamma, convention: Convention) -> Scores {
        let row = self.row(&self.scores_by_task(gamma, convention), convention);
        let weights = self.weights(gamma);
        let scored = self.tasks.iter().filter(|_| row.is_some());
        let tasks = scored.flat_map(|task| {
            task.samples.iter().filter_map(|sample| {
                let (series, task_id) = (sample.series(convention)?, task.task_id().clone());
                Some(EvolutionScore::new(
                    task_id,
                    sample.number,
                    series,
                    &weights,
                ))
            })
        });
        Scores {
            convention,
            gamma,
            max_iterations: self.max_iterations,
            evoscore: row.as_ref().map(|r| r.evoscore),
            solved_rate: row.as_ref().map(|r| r.solved_rate),
            zero_regression_rate: row.as_ref().map(|r| r.zero_regression_rate),
            zrr: row.as_ref().map(|r| r.zrr),
            average_turns: row.as_ref().map(|r| r.average_turns),
            style: self.style(convention),
            effort: row.as_ref().and_then(|r| r.effort),
            generalisation: row.as_ref().and_then(|r| r.generalisation),
            cheating: row.as_ref().and_then(|r| r.cheating),
            intervals: None,
            samples: None,
            profile: self.profile(convention),
            recovery: None,
            tasks: tasks.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;

    #[test]
    fn down_to_the_evolutions() {
        let run = entry("m", &[("r", &[&[1.0], &[0.0]]), ("r", &[&[0.5, 0.5]])]);
        let scores = run.scores(Gamma::ONE, Convention::Reference);
        assert!((scores.evoscore.unwrap() - 0.5).abs() < 1e-12);
        let each: Vec<(&str, u32, bool, u32)> = scores
            .tasks
            .iter()
            .map(|t| (t.task_id.as_str(), t.sample, t.solved, t.turns))
            .collect();
        assert_eq!(
            each,
            [
                ("task-0", 1, true, 1),
                ("task-0", 2, false, 1),
                ("task-1", 1, false, 2)
            ]
        );
        let nothing = entry("m", &[]).scores(Gamma::ONE, Convention::Paper);
        assert_eq!((nothing.evoscore, nothing.tasks.len()), (None, 0));
    }

    #[test]
    fn samples_keep_their_numbers() {
        let mut run = entry("m", &[("r", &[&[1.0], &[0.5], &[0.0]])]);
        // The second one was blocked.
        run.tasks_mut()[0].samples.remove(1);
        let scores = run.scores(Gamma::ONE, Convention::Paper);
        let numbers: Vec<u32> = scores.tasks.iter().map(|score| score.sample).collect();
        assert_eq!(numbers, [1, 3]);
    }

    #[test]
    fn recovery_time() {
        let recovery = |after| Recovery {
            iteration: 1,
            after,
        };
        let time = RecoveryTime::of(&[recovery(Some(1)), recovery(None), recovery(Some(4))]);
        assert_eq!((time.regressions, time.repaired), (3, 2));
        assert!((time.average_iterations.unwrap() - 2.5).abs() < 1e-12);
        assert_eq!(RecoveryTime::of(&[]).average_iterations, None);
    }
}
