//! The leaderboard: per run and task what was counted ([`Sheet`], sent to the
//! browser once), the rows for one γ and convention ([`Sheet::rank`]), and
//! how sure one can be of them ([`Judge`]). All of it is computed on either
//! side.

mod judge;

mod published;

mod rank;

mod scores;

mod on_task;

mod matrix;

mod strengths;

mod style;

mod versus;

mod words;

mod view;

mod unseen;

pub mod export;

use serde::{Deserialize, Serialize};

pub use judge::{Intervals, Judge};
pub use matrix::{Absence, Matrix, MatrixCell, MatrixRun, MatrixTask, TaskKey, TaskOrder};
pub use on_task::{TaskResult, TaskScore};
pub use published::{Published, PublishedRow};
pub use rank::Row;
pub use scores::{EvolutionScore, RecoveryTime, Scores};
pub use strengths::{
    Common, FEW, Group, ModelDetail, ModelRun, Standing, Strengths, Trend, strengths,
};
pub use style::{StyleIntervals, StyleRates, WinIntervals, WinRates};
pub use unseen::{LeftOut, Unseen};
pub use versus::{Course, Incomparable, Pair, SharedResult, SharedTask, TaskCourses, Versus};
pub use view::{BadSort, Column, Columns, Sort, View};
pub use words::in_words;

use crate::metrics::{Convention, Gamma, Profile, Series, Weights, mean};
use crate::run::{Kind, Progress};
use crate::style::Beside;
use crate::task::TaskId;
use crate::usage::Usage;
use crate::verification::Mark;

/// Everything a leaderboard of one split needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    pub split: String,
    pub entries: Vec<Entry>,
    /// Results known only as they were published; never ranked.
    pub published: Published,
}

/// A run with at least one scored task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub harness_version: String,
    /// `YYYY-MM-DD`.
    pub release_date: Option<String>,
    pub kind: Kind,
    /// How far it is to be trusted, where that is to be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<Mark>,
    pub progress: Progress,
    /// Version of the metric definitions its verdicts were counted by.
    pub metric_version: u32,
    /// When it was over, RFC 3339; absent while it is not.
    pub finished_at: Option<String>,
    /// What all its evolutions took of the model; absent where that was
    /// not counted.
    pub usage: Option<Usage>,
    /// What they cost, in millionths of a US dollar; absent where that is not
    /// known of all of them.
    #[serde(default)]
    pub micro_usd: Option<u64>,
    /// Iterations that changed what steers the tests.
    pub findings: u32,
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
    /// The day its target was committed, `YYYY-MM-DD`, where that is known.
    pub target_date: Option<String>,
    pub samples: Vec<Sample>,
}

/// One evolution in both conventions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Absent when only counts are known.
    pub paper: Option<Series>,
    pub reference: Series,
    /// Its code beside the oracle's, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<Beside>,
}

impl Sample {
    #[must_use]
    pub fn series(&self, convention: Convention) -> Option<&Series> {
        match convention {
            Convention::Paper => self.paper.as_ref(),
            Convention::Reference => Some(&self.reference),
        }
    }
}

impl ScoredTask {
    fn series(&self, convention: Convention) -> impl Iterator<Item = &Series> {
        self.samples
            .iter()
            .filter_map(move |sample| sample.series(convention))
    }
}

impl Entry {
    /// Of a run nothing of which is scored yet.
    #[must_use]
    pub fn none(max_iterations: u32) -> Self {
        Self {
            run_id: String::new(),
            model: String::new(),
            provider: String::new(),
            harness: String::new(),
            harness_version: String::new(),
            release_date: None,
            kind: Kind::Measured,
            mark: None,
            progress: Progress::Queued,
            metric_version: 0,
            finished_at: None,
            usage: None,
            micro_usd: None,
            findings: 0,
            max_iterations,
            tasks_total: 0,
            tasks_blocked: 0,
            tasks: Vec::new(),
        }
    }

    /// Whether it can be scored in the reference convention alone: a run is
    /// counts-only when one of its evolutions is, so that no score is of
    /// other tasks than it seems.
    #[must_use]
    pub fn counts_only(&self) -> bool {
        let mut samples = self.tasks.iter().flat_map(|task| &task.samples);
        samples.any(|sample| sample.paper.is_none())
    }

    /// Whether it has scores in a convention.
    #[must_use]
    pub fn is_scored(&self, convention: Convention) -> bool {
        !self.tasks.is_empty() && (convention == Convention::Reference || !self.counts_only())
    }

    /// EvoScore of the run; `None` before its first scored task.
    #[must_use]
    pub fn evoscore(&self, gamma: Gamma, convention: Convention) -> Option<f64> {
        let weights = Weights::new(gamma, self.max_iterations);
        mean(self.by_task(convention, |series| weights.evoscore(series.changes())))
    }

    /// How it behaves over its iterations.
    #[must_use]
    pub fn profile(&self, convention: Convention) -> Profile {
        let tasks = self.tasks.iter().map(|t| t.series(convention).collect());
        Profile::of(&tasks.collect::<Vec<_>>(), self.max_iterations)
    }

    /// A value of its evolutions, averaged as every score of a run is: over
    /// the samples of a task first.
    #[must_use]
    pub fn mean_of(&self, convention: Convention, value: impl Fn(&Series) -> f64) -> Option<f64> {
        mean(self.by_task(convention, value))
    }

    /// A value for each of its tasks: the mean over its samples.
    fn by_task(
        &self,
        convention: Convention,
        value: impl Fn(&Series) -> f64,
    ) -> impl Iterator<Item = f64> {
        let scored = self.is_scored(convention);
        let tasks = self.tasks.iter().filter(move |_| scored);
        // A scored task has at least one sample.
        tasks.map(move |task| mean(task.series(convention).map(&value)).unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;

    #[test]
    fn counts_only_runs_have_no_paper_score() {
        let mut run = entry("m", &[("r", &[&[0.5]]), ("r", &[&[1.0]])]);
        assert!(!run.counts_only());
        run.tasks[1].samples[0].paper = None;
        assert!(run.counts_only());
        assert_eq!(run.evoscore(Gamma::ONE, Convention::Paper), None);
        let score = run.evoscore(Gamma::ONE, Convention::Reference).unwrap();
        assert!((score - 0.75).abs() < 1e-12);
    }
}
