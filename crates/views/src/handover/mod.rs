//! The handover matrix: what each model makes of code that another wrote. A row
//! is a run that wrote code, a column a model that goes on with it.

mod csv;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use swe_ci_core::handover::{Continuation, HandoverTarget};
use swe_ci_core::metrics::mean;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_core::task::TaskId;
use swe_ci_core::uncertainty::{
    Clusters, Comparison, Difference, Interval, RESAMPLES, Resamples, SEED, compare,
};

use crate::count;

/// A finished handover, and the run whose code it goes on with.
#[derive(Debug, Clone, PartialEq)]
pub struct HandoverRun {
    pub run_id: String,
    pub written_by: Writer,
    pub continued_by: Continuer,
    pub target: HandoverTarget,
    pub after: After,
    /// N: the most iterations of an evolution.
    pub max_iterations: u32,
    /// Evolutions that were not handed over.
    pub left_out: u32,
    /// With at least one scored evolution each.
    pub tasks: Vec<ContinuedTask>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ContinuedTask {
    pub task_id: TaskId,
    pub repo: String,
    /// Its scored evolutions.
    pub samples: Vec<Continuation>,
}

/// The run that wrote the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Writer {
    pub run_id: String,
    pub model: String,
    pub harness: String,
    pub kind: Kind,
    pub mode: Mode,
    /// The model whose code it went on with itself; absent for a run from the
    /// base.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub went_on_with: Option<String>,
}

/// The agents that go on with it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, utoipa::ToSchema,
)]
pub struct Continuer {
    pub model: String,
    pub harness: String,
    pub mode: Mode,
}

/// The iteration after which code was handed over: `last`, the last scored one
/// of each evolution, or a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum After {
    #[default]
    LastScored,
    Iteration(u32),
}

impl After {
    pub fn of(iteration: Option<u32>) -> Self {
        iteration.map_or(Self::LastScored, Self::Iteration)
    }
}

impl fmt::Display for After {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LastScored => f.write_str("last"),
            Self::Iteration(iteration) => write!(f, "{iteration}"),
        }
    }
}

/// The text is neither `last` nor the number of an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("code is handed over after `last`, or after an iteration, from 1")]
pub struct BadAfter;

impl FromStr for After {
    type Err = BadAfter;

    fn from_str(text: &str) -> Result<Self, BadAfter> {
        match text.parse() {
            _ if text == "last" => Ok(Self::LastScored),
            Ok(iteration @ 1..) => Ok(Self::Iteration(iteration)),
            _ => Err(BadAfter),
        }
    }
}

impl Serialize for After {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for After {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Which handovers of a split a matrix shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The first that there is by default.
    pub target: Option<HandoverTarget>,
    /// Likewise, among those towards that target.
    pub after: Option<After>,
}

/// Who wrote the code, by who went on with it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HandoverMatrix {
    pub split: String,
    /// What all cells develop the code towards.
    pub target: HandoverTarget,
    /// Every target that some handover of the split has.
    pub targets: Vec<HandoverTarget>,
    /// The code of all cells was handed over after this iteration.
    #[schema(value_type = String)]
    pub after: After,
    /// Every iteration after which some run of the split was handed over towards
    /// that target.
    #[schema(value_type = Vec<String>)]
    pub choices: Vec<After>,
    /// The last iteration that all cells have.
    pub iterations: u32,
    /// The human baseline first, then by model.
    pub writers: Vec<Writer>,
    /// By model.
    pub continuers: Vec<Continuer>,
    /// The pairs with a finished run, by writer, then by continuer.
    pub cells: Vec<HandoverCell>,
}

/// One model that went on with the code of one run: the newest such run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct HandoverCell {
    /// Index in `writers`.
    pub writer: u32,
    /// Index in `continuers`.
    pub continuer: u32,
    pub run_id: String,
    /// Tasks with a scored evolution.
    pub tasks: u32,
    /// Evolutions that were not handed over, most often because nothing was left
    /// to close.
    pub left_out: u32,
    /// From the first iteration after the handover to the last.
    pub by_iteration: Vec<AfterIteration>,
}

/// A cell after an iteration, counted from the handover. Values are means over
/// the tasks; within a task, over its evolutions first. An evolution that ended
/// earlier stays where it ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AfterIteration {
    /// From 1.
    pub iteration: u32,
    /// Share of the tests of T not passing at the start that pass now, 0 to 1.
    pub closed_gap: f64,
    /// 95 % cluster bootstrap; absent with fewer than two repositories.
    pub closed_gap_interval: Option<Interval>,
    /// Share of the tests of T passing at the start that do not pass now, 0 to
    /// 1.
    pub lost: f64,
    pub lost_interval: Option<Interval>,
    /// Input and output tokens of an evolution up to here, over those with a
    /// tested iteration; absent unless all were counted.
    pub tokens: Option<f64>,
    /// US dollars, likewise.
    pub usd: Option<f64>,
    /// Its closed gap minus that of the same model on its own code, by task;
    /// absent for that cell itself, and without one.
    pub against_own: Option<Comparison>,
    /// Its closed gap minus that of the same model on the human's code.
    pub against_human: Option<Comparison>,
}

impl Writer {
    /// "B on the code of A", or "B".
    pub fn name(&self) -> String {
        match &self.went_on_with {
            Some(before) => format!("{} on the code of {before}", self.model),
            None => self.model.clone(),
        }
    }

    /// Whether these agents wrote all of the code themselves.
    pub fn is_own(&self, by: &Continuer) -> bool {
        self.kind != Kind::Human
            && self.went_on_with.is_none()
            && (&self.model, &self.harness, self.mode) == (&by.model, &by.harness, by.mode)
    }
}

impl HandoverMatrix {
    /// The matrix of those finished handovers over a split, oldest first.
    pub fn new(split: &str, runs: &[HandoverRun], wanted: Wanted) -> Self {
        let targets: BTreeSet<HandoverTarget> = runs.iter().map(|run| run.target).collect();
        let target = wanted.target.or(targets.first().copied());
        let target = target.unwrap_or_default();
        let runs = runs.iter().filter(|run| run.target == target);
        let choices: BTreeSet<After> = runs.clone().map(|run| run.after).collect();
        let after = wanted.after.or(choices.first().copied());
        let after = after.unwrap_or_default();
        let runs = runs.filter(|run| run.after == after && !run.tasks.is_empty());
        // A later run of a pair takes the place of an earlier one.
        let mut pairs: BTreeMap<(bool, &str, &str, &Continuer), &HandoverRun> = BTreeMap::new();
        for run in runs {
            let Writer {
                run_id,
                model,
                kind,
                ..
            } = &run.written_by;
            let is_model = *kind != Kind::Human;
            pairs.insert((is_model, model, run_id, &run.continued_by), run);
        }
        let mut writers: Vec<Writer> = pairs.values().map(|run| run.written_by.clone()).collect();
        writers.dedup();
        let continuers: BTreeSet<&Continuer> = pairs.keys().map(|pair| pair.3).collect();
        let continuers: Vec<Continuer> = continuers.into_iter().cloned().collect();
        let pairs: Vec<&HandoverRun> = pairs.into_values().collect();
        let iterations = pairs.iter().map(|run| run.max_iterations).min();
        let iterations = iterations.unwrap_or_default();
        let draws = Draws::new(&pairs);
        let cells = pairs.iter().filter_map(|run| {
            let (own, human) = controls(run, &pairs);
            let after = |iteration| draws.after(run, own, human, iteration);
            Some(HandoverCell {
                writer: place(&writers, &run.written_by)?,
                continuer: place(&continuers, &run.continued_by)?,
                run_id: run.run_id.clone(),
                tasks: count(run.tasks.len()),
                left_out: run.left_out,
                by_iteration: (1..=iterations).filter_map(after).collect(),
            })
        });
        Self {
            split: split.to_owned(),
            target,
            targets: targets.into_iter().collect(),
            after,
            choices: choices.into_iter().collect(),
            iterations,
            cells: cells.collect(),
            writers,
            continuers,
        }
    }

    /// The cell of a pair, by their indices.
    pub fn cell(&self, writer: usize, continuer: usize) -> Option<&HandoverCell> {
        let pair = (count(writer), count(continuer));
        let mut cells = self.cells.iter();
        cells.find(|cell| (cell.writer, cell.continuer) == pair)
    }
}

impl HandoverCell {
    /// After an iteration, from 1.
    pub fn at(&self, iteration: u32) -> Option<&AfterIteration> {
        self.by_iteration.get(iteration.checked_sub(1)? as usize)
    }
}

fn place<T: PartialEq>(all: &[T], one: &T) -> Option<u32> {
    all.iter().position(|other| other == one).map(count)
}

/// The same model on its own code, and on the human's; neither is the run itself.
fn controls<'a>(
    run: &HandoverRun,
    all: &[&'a HandoverRun],
) -> (Option<&'a HandoverRun>, Option<&'a HandoverRun>) {
    let of = |wanted: &dyn Fn(&Writer) -> bool| {
        let mut others = all
            .iter()
            .filter(|other| other.continued_by == run.continued_by && other.run_id != run.run_id);
        others.find(|other| wanted(&other.written_by)).copied()
    };
    let own = match run.written_by.is_own(&run.continued_by) {
        true => None,
        false => of(&|writer| writer.is_own(&run.continued_by)),
    };
    let human = match run.written_by.kind {
        Kind::Human => None,
        _ => of(&|writer| writer.kind == Kind::Human),
    };
    (own, human)
}

/// The repositories of a matrix and their resamples, the same for all cells.
struct Draws<'a> {
    repositories: BTreeMap<&'a str, usize>,
    resamples: Resamples,
}

impl<'a> Draws<'a> {
    fn new(runs: &[&'a HandoverRun]) -> Self {
        let tasks = runs.iter().flat_map(|run| &run.tasks);
        let names: BTreeSet<&str> = tasks.map(|task| task.repo.as_str()).collect();
        Self {
            resamples: Resamples::new(names.len(), RESAMPLES, SEED),
            repositories: names.into_iter().zip(0..).collect(),
        }
    }

    /// A run after an iteration, against its controls; `None` without a task.
    fn after(
        &self,
        run: &HandoverRun,
        own: Option<&HandoverRun>,
        human: Option<&HandoverRun>,
        iteration: u32,
    ) -> Option<AfterIteration> {
        let closed = |task: &ContinuedTask| task.mean_of(|e| Some(e.closed_gap(iteration)));
        let lost = |task: &ContinuedTask| task.mean_of(|e| Some(e.lost(iteration)));
        let (closed_gap, closed_gap_interval) = self.estimate(run, closed)?;
        let (lost, lost_interval) = self.estimate(run, lost)?;
        let cost = |of: fn(&Continuation, u32) -> Option<u64>| run.cost(of, iteration);
        let against = |other: &HandoverRun| self.difference(run, other, closed);
        Some(AfterIteration {
            iteration,
            closed_gap,
            closed_gap_interval,
            lost,
            lost_interval,
            tokens: cost(Continuation::tokens),
            usd: cost(Continuation::micro_usd).map(|micro| micro / 1e6),
            against_own: own.and_then(against),
            against_human: human.and_then(against),
        })
    }

    fn estimate(
        &self,
        run: &HandoverRun,
        value: impl Fn(&ContinuedTask) -> Option<f64>,
    ) -> Option<(f64, Option<Interval>)> {
        let mut clusters = Clusters::new(self.repositories.len());
        let values = run.tasks.iter().filter_map(|task| {
            let value = value(task)?;
            clusters.add(self.repositories[task.repo.as_str()], value);
            Some(value)
        });
        let mean = mean(values)?;
        Some((mean, self.resamples.interval(&clusters)))
    }

    /// First minus second, on the tasks both have.
    fn difference(
        &self,
        first: &HandoverRun,
        second: &HandoverRun,
        value: impl Fn(&ContinuedTask) -> Option<f64>,
    ) -> Option<Comparison> {
        let differences = first.tasks.iter().filter_map(|task| {
            let mut others = second.tasks.iter();
            let other = others.find(|other| other.task_id == task.task_id)?;
            Some(Difference {
                repository: self.repositories[task.repo.as_str()],
                value: value(task)? - value(other)?,
            })
        });
        let differences: Vec<Difference> = differences.collect();
        compare(&differences, self.repositories.len())
    }
}

impl ContinuedTask {
    fn mean_of(&self, value: impl Fn(&Continuation) -> Option<f64>) -> Option<f64> {
        mean(self.samples.iter().filter_map(value))
    }
}

impl HandoverRun {
    /// What an evolution took up to an iteration, over those with a tested one;
    /// `None` unless it is known for all of them.
    fn cost(&self, of: fn(&Continuation, u32) -> Option<u64>, iteration: u32) -> Option<f64> {
        let evolutions = self.tasks.iter().flat_map(|task| &task.samples);
        let mut tested = evolutions.filter(|evolution| !evolution.points.is_empty());
        if tested.any(|evolution| of(evolution, iteration).is_none()) {
            return None;
        }
        let by_task = self
            .tasks
            .iter()
            .filter_map(|task| task.mean_of(|e| of(e, iteration).map(|n| n as f64)));
        mean(by_task)
    }
}
