//! The leaderboard: the counts per run and task ([`LeaderboardData`]), the rows
//! for one γ and convention ([`LeaderboardData::rank`]), and their uncertainty
//! ([`UncertaintyModel`]).

pub mod citation;
pub mod export;

mod alike;
mod board;
mod cheating;
mod comparison;
mod effort;
mod featured;
mod gate;
mod generalisation;
mod matrix;
mod measure;
mod ranking;
mod rows;
mod samples;
mod scores;
mod sentence;
mod snapshot;
mod strengths;
mod style;
mod task_scores;
mod uncertainty_model;
mod unranked;
mod unseen_tasks;
mod verdict;
mod view;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use alike::{Alike, Same, alike};
pub use board::Board;
pub use cheating::CheatingRate;
pub use comparison::{
    ArmEffect, Course, Incomparable, Loss, Pair, SharedResult, SharedTask, TaskCourses, Versus,
};
pub use effort::{Effort, EffortIntervals, EffortRates, Rate};
pub use featured::{featured, leader};
pub use gate::{GateBound, GateDecision, GateReport, GateRules, GateRun, GateTask};
pub use generalisation::GeneralisationRate;
pub use matrix::{Absence, Matrix, MatrixCell, MatrixRun, MatrixTask, TaskKey, TaskOrder};
pub use measure::{Measure, Unit};
pub use ranking::Ranking;
pub(crate) use rows::positions;
pub use rows::{Intervals, Row};
pub use samples::{Passes, PassesOf, PowerPlans, Samples};
pub use scores::{EvolutionScore, RecoveryTime, Scores};
pub use sentence::{in_words, probability};
pub use snapshot::{ChangedRow, Frozen, Snapshot, changed_rows};
pub use strengths::{
    Common, Extremes, FEW, Group, ModelDetail, ModelRun, Standing, Strengths, TaskMean, Trend,
    extremes, strengths,
};
pub use style::{StyleIntervals, StyleRates, WinIntervals, WinRates};
pub use task_scores::{TaskResult, TaskScore};
pub use uncertainty_model::UncertaintyModel;
pub use unranked::{Extent, UnrankedRun};
pub use unseen_tasks::{LeftOut, Unseen};
pub use verdict::verdict;
pub use view::{BadSort, Column, Columns, Sort, View};

use crate::style::Beside;
use crate::verification::Mark;
use swe_ci_core::audit::Contradicted;
use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma, Profile, Series, Weights, mean};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;

/// The input of one leaderboard.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LeaderboardData {
    pub split: String,
    pub mode: Mode,
    /// The snapshot that this is of; absent for the present.
    pub snapshot: Option<Snapshot>,
    /// The tasks of the split that a run can have scores of.
    pub tasks: u32,
    /// N of the board: its runs are scored over so many iterations.
    pub iterations: u32,
    /// The runs that may take a rank.
    pub entries: Vec<Entry>,
    /// The runs that have scores and yet take no rank, each with its reason.
    /// They stand apart, so that no ranking, figure or mean counts them.
    pub unranked: Vec<Entry>,
    /// Results that are known only from publications; never ranked.
    pub published: Published,
}

// Published results appear beside the ranking, never in it: without the raw data
// there are no ties and no intervals, and no other γ or convention.

/// Published results and their source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Published {
    /// The split of the measurements.
    pub split: String,
    /// Tasks in that split.
    pub tasks: u32,
    /// The location of the figures, and how they were read.
    pub source: String,
    /// Maximum error of `evoscore`.
    pub evoscore_error: f64,
    /// Best first.
    pub rows: Vec<PublishedRow>,
}

/// One published model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PublishedRow {
    pub model: String,
    pub provider: String,
    /// `YYYY-MM-DD`.
    pub release_date: String,
    /// Equation 3 at γ = 1, -1 to 1.
    pub evoscore: f64,
    /// Figure 6, 0 to 1; absent when not published.
    pub zero_regression_rate: Option<f64>,
}

/// A run with at least one scored task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    pub run_id: String,
    pub model: String,
    pub provider: String,
    pub harness: String,
    pub harness_version: String,
    /// `YYYY-MM-DD`.
    pub release_date: Option<String>,
    /// The last day of its training data, `YYYY-MM-DD`.
    pub training_cutoff: Option<String>,
    pub kind: Kind,
    pub mode: Mode,
    /// Its arm, if it is part of an experiment.
    pub arm: Option<String>,
    /// A mark of its trustworthiness, if it has one.
    pub mark: Option<Mark>,
    /// Why it takes no rank; absent for runs that may.
    pub unranked: Option<Unranked>,
    pub progress: Progress,
    /// Version of the metric definitions of its verdicts.
    pub metric_version: u32,
    /// The end of the run, RFC 3339; absent while it is not over.
    pub finished_at: Option<String>,
    /// The model usage of all its evolutions; absent when not counted.
    pub usage: Option<Usage>,
    /// Their cost in millionths of a US dollar; absent unless it is known for
    /// all of them.
    pub micro_usd: Option<u64>,
    /// Iterations with integrity findings.
    pub findings: u32,
    /// Steps whose last answer of the model was cut short.
    pub truncated_steps: u32,
    /// N: shorter evolutions are padded to it.
    pub max_iterations: u32,
    /// Whether its submitter chose some of the split's tasks.
    pub chosen: bool,
    /// Evolutions that were asked for, per task.
    pub samples: u32,
    pub tasks_total: u32,
    /// Tasks without an evolution that can be scored.
    pub tasks_blocked: u32,
    /// Evolutions that the run's budget ended.
    pub out_of_budget: u32,
    /// Evolutions that wait for their audit.
    pub being_audited: u32,
    /// In order of name; shared by the leaderboards of before and after a change.
    #[serde(with = "shared")]
    pub tasks: Arc<Vec<ScoredTask>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredTask {
    /// Shared by the runs of a leaderboard.
    #[serde(with = "shared")]
    pub origin: Arc<Origin>,
    /// A digest of its commits, image, test command and tests in this run; absent where
    /// they are not known, as for results from elsewhere.
    pub revision: Option<String>,
    pub samples: Vec<Sample>,
}

/// Shared values, written as if they were not.
mod shared {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Serialize, S: Serializer>(
        value: &Arc<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        T::serialize(value, serializer)
    }

    pub(super) fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(deserializer).map(Arc::new)
    }
}

/// Where a task comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    pub task_id: TaskId,
    pub repo: String,
    /// The commit date of its target, `YYYY-MM-DD`, if known.
    pub target_date: Option<String>,
}

/// One evolution in both conventions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// From 1; those before it may have no score.
    pub number: u32,
    /// Absent when only counts are known.
    pub paper: Option<Series>,
    pub reference: Series,
    /// Its code style against the oracle's, if measured.
    pub style: Option<Beside>,
    pub effort: Effort,
    /// Of the code of its last state, where changed inputs were asked.
    pub generalisation: Option<Generalised>,
    /// Of the same code, in the mode impossible.
    #[serde(default)]
    pub cheating: Option<Contradicted>,
}

/// The generalisation of an evolution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Generalised {
    /// 0 to 1.
    pub share: f64,
    /// Changed inputs that count.
    pub asked: u32,
}

impl Sample {
    /// Without what came after so many iterations. Style, effort, generalisation and
    /// cheating are known for whole evolutions alone.
    fn first(&self, iterations: u32) -> Self {
        if self.reference.passes().len() <= iterations as usize {
            return self.clone();
        }
        let first = |series: &Series, convention| series.first(iterations, convention);
        let paper = self.paper.as_ref();
        Self {
            number: self.number,
            paper: paper.map(|series| first(series, Convention::Paper)),
            reference: first(&self.reference, Convention::Reference),
            style: None,
            effort: Effort::default(),
            generalisation: None,
            cheating: None,
        }
    }

    pub fn series(&self, convention: Convention) -> Option<&Series> {
        match convention {
            Convention::Paper => self.paper.as_ref(),
            Convention::Reference => Some(&self.reference),
        }
    }
}

impl ScoredTask {
    pub fn task_id(&self) -> &TaskId {
        &self.origin.task_id
    }

    pub fn repo(&self) -> &str {
        &self.origin.repo
    }

    /// Whether a task had the same content in these runs, as far as is known: of another
    /// revision it is another task.
    fn is_one(tasks: &[&Self]) -> bool {
        let mut known = tasks.iter().filter_map(|task| task.revision.as_ref());
        known
            .next()
            .is_none_or(|first| known.all(|other| other == first))
    }

    /// Its origin to change, in a copy of its own if others share it.
    pub fn origin_mut(&mut self) -> &mut Origin {
        Arc::make_mut(&mut self.origin)
    }

    fn series(&self, convention: Convention) -> impl Iterator<Item = &Series> {
        self.samples
            .iter()
            .filter_map(move |sample| sample.series(convention))
    }

    /// The mean of a value of its samples; `None` without a scored one.
    fn mean_of(&self, convention: Convention, value: impl Fn(&Series) -> f64) -> Option<f64> {
        mean(self.series(convention).map(value))
    }
}

impl Entry {
    pub fn none(max_iterations: u32) -> Self {
        Self {
            max_iterations,
            ..Self::default()
        }
    }

    /// The run as if it had asked for no more than so many iterations.
    fn first(self, iterations: u32) -> Self {
        if self.max_iterations <= iterations {
            return self;
        }
        let first = |task: &ScoredTask| ScoredTask {
            origin: task.origin.clone(),
            revision: task.revision.clone(),
            samples: task.samples.iter().map(|s| s.first(iterations)).collect(),
        };
        Self {
            max_iterations: iterations,
            tasks: Arc::new(self.tasks.iter().map(first).collect()),
            ..self
        }
    }

    /// The run over some of its tasks. Without its totals, which are known only
    /// for all tasks together.
    fn only(&self, chosen: impl Fn(&ScoredTask) -> bool) -> Self {
        if self.tasks.iter().all(&chosen) {
            return self.clone();
        }
        let tasks = self.tasks.iter().filter(|task| chosen(task));
        Self {
            tasks: Arc::new(tasks.cloned().collect()),
            usage: None,
            micro_usd: None,
            ..self.clone()
        }
    }

    /// Its tasks to change, in a copy of its own if others share them.
    pub fn tasks_mut(&mut self) -> &mut Vec<ScoredTask> {
        Arc::make_mut(&mut self.tasks)
    }

    /// Whether it has scores only in the reference convention: one counts-only
    /// evolution makes the whole run counts-only, so that a score never
    /// silently omits tasks.
    pub fn counts_only(&self) -> bool {
        let mut samples = self.tasks.iter().flat_map(|task| &task.samples);
        samples.any(|sample| sample.paper.is_none())
    }

    pub fn is_scored(&self, convention: Convention) -> bool {
        !self.tasks.is_empty() && (convention == Convention::Reference || !self.counts_only())
    }

    /// EvoScore of the run; `None` before its first scored task.
    pub fn evoscore(&self, gamma: Gamma, convention: Convention) -> Option<f64> {
        let weights = Weights::new(gamma, self.max_iterations);
        self.mean_of(convention, |series| weights.evoscore(series.changes()))
    }

    pub fn profile(&self, convention: Convention) -> Profile {
        let tasks = self.tasks.iter().map(|t| t.series(convention).collect());
        Profile::from_tasks(&tasks.collect::<Vec<_>>(), self.max_iterations)
    }

    /// The mean of a value of its evolutions, like every score of a run: over
    /// the samples of a task first.
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
        tasks.map(move |task| task.mean_of(convention, &value).unwrap_or(0.0))
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
        run.tasks_mut()[1].samples[0].paper = None;
        assert!(run.counts_only());
        assert_eq!(run.evoscore(Gamma::ONE, Convention::Paper), None);
        let score = run.evoscore(Gamma::ONE, Convention::Reference).unwrap();
        assert!((score - 0.75).abs() < 1e-12);
    }
}
