//! Scores results on disk: no store, no data folder, nothing written.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::results::{Layout, MAX_ITERATIONS};
use swe_ci_core::run::{Kind, Progress};
use swe_ci_views::leaderboard::{Effort, Entry, Origin, RecoveryTime, Sample, ScoredTask, Scores};

use super::measurement::Measured;
use super::{Detail, Evolution, Experiment, Found, Skipped, TaskResults, read};
use crate::{METRIC_VERSION, as_u32};

#[derive(Debug, Clone, Copy)]
pub struct ScoreRequest {
    pub layout: Layout,
    /// N, 1 to 1,000: shorter evolutions are padded to it, later iterations are
    /// ignored. When absent that of a job of Harbor, else the paper's.
    pub max_iterations: Option<u32>,
    pub gamma: Gamma,
    pub convention: Convention,
}

#[derive(Debug, Clone, Serialize)]
pub struct Scored {
    /// Over the tasks that could be scored.
    #[serde(flatten)]
    pub scores: Scores,
    /// Tasks, or single samples of them, that could not.
    pub skipped: Vec<Skipped>,
    /// Folders that belong to no task of the metadata file.
    pub ignored: Vec<String>,
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// How evolutions are scored.
#[derive(Debug, Clone, Copy)]
struct Rules {
    /// N.
    max_iterations: u32,
    gamma: Gamma,
    convention: Convention,
}

/// The number of a sample that is scored, from 1, and the sample.
type Counted = (u32, Measured);

/// Scores the results in a folder. Blocks; writes nothing.
///
/// # Errors
/// [`Error::Invalid`] when N is out of range, or the metadata file or the
/// folder is invalid. A task that cannot be scored is no error: it is skipped,
/// with the reason.
pub fn score(folder: &Path, metadata: &Path, request: &ScoreRequest) -> Result<Scored> {
    if let Some(wanted) = request.max_iterations
        && !(1..=MAX_ITERATIONS).contains(&wanted)
    {
        return Err(Error::Invalid(format!(
            "max_iterations: {wanted} is not between 1 and {MAX_ITERATIONS}"
        )));
    }
    let detail = match request.convention {
        Convention::Paper => Detail::Tests,
        Convention::Reference => Detail::Counts,
    };
    let mut experiment = read(request.layout, folder, metadata, detail)?;
    let max_iterations = experiment.max_iterations(request.max_iterations)?;
    let rules = Rules {
        max_iterations,
        gamma: request.gamma,
        convention: request.convention,
    };
    // In the leaderboard's order, so that sums agree to the last digit.
    let by_id = |a: &TaskResults, b: &TaskResults| a.line.task_id.cmp(&b.line.task_id);
    experiment.tasks.sort_by(by_id);
    let (mut skipped, mut notes) = (Vec::new(), Vec::new());
    let counted: Vec<(&TaskResults, Vec<Counted>)> = experiment
        .tasks
        .iter()
        .map(|task| (task, count(task, rules, &mut skipped, &mut notes)))
        .filter(|(_, samples)| !samples.is_empty())
        .collect();
    let scores = scores(&experiment, &counted, rules);
    Ok(Scored {
        scores,
        skipped,
        ignored: experiment.ignored,
        notes,
    })
}

/// The samples of a task that can be scored; notes about the others.
fn count(
    task: &TaskResults,
    rules: Rules,
    skipped: &mut Vec<Skipped>,
    notes: &mut Vec<String>,
) -> Vec<Counted> {
    let mut counted = Vec::new();
    for (sample, found) in (1..).zip(&task.samples) {
        let task_id = task.line.task_id.clone();
        match countable(found, rules.convention) {
            Ok(evolution) => {
                notes.extend(evolution.notes_up_to(&task_id, rules.max_iterations));
                counted.push((sample, evolution.measured(rules.max_iterations)));
            }
            Err(reason) => skipped.push(Skipped { task_id, reason }),
        }
    }
    counted
}

/// An evolution that a convention can count; the error is the reason why not.
fn countable(found: &Found, convention: Convention) -> std::result::Result<&Evolution, String> {
    let evolution = match found {
        Found::Evolution(evolution) => evolution,
        Found::Missing(why) | Found::Bad(why) => return Err(why.clone()),
    };
    match (convention, &evolution.tests) {
        (Convention::Paper, Err(why)) => Err(format!("it is known by counts alone: {why}")),
        _ => Ok(evolution),
    }
}

fn scores(
    experiment: &Experiment,
    counted: &[(&TaskResults, Vec<Counted>)],
    rules: Rules,
) -> Scores {
    let entry = entry(experiment, counted, rules.max_iterations);
    let mut scores = entry.all_scores(rules.gamma, rules.convention);
    scores.recovery = recovery(counted);
    scores
}

/// How long regressions lasted; unknown by count alone.
fn recovery(counted: &[(&TaskResults, Vec<Counted>)]) -> Option<RecoveryTime> {
    let samples = counted.iter().flat_map(|(_, samples)| samples);
    let each: Option<Vec<_>> = samples.map(|(_, measured)| measured.recoveries()).collect();
    let all = each.filter(|each| !each.is_empty())?.concat();
    Some(RecoveryTime::of(&all))
}

fn entry(
    experiment: &Experiment,
    counted: &[(&TaskResults, Vec<Counted>)],
    max_iterations: u32,
) -> Entry {
    let tasks: Vec<ScoredTask> = counted
        .iter()
        .map(|(task, samples)| ScoredTask {
            origin: Arc::new(Origin {
                task_id: task.line.task_id.clone(),
                repo: task.line.repo(),
                target_date: None,
            }),
            revision: None,
            samples: samples.iter().filter_map(sample).collect(),
        })
        .collect();
    let total = experiment.tasks.len();
    Entry {
        model: experiment.name.clone(),
        kind: Kind::Imported,
        progress: Progress::Finished,
        metric_version: METRIC_VERSION,
        tasks_total: as_u32(total),
        tasks_blocked: as_u32(total - tasks.len()),
        tasks: Arc::new(tasks),
        ..Entry::none(max_iterations)
    }
}

fn sample((number, measured): &Counted) -> Option<Sample> {
    Some(Sample {
        number: *number,
        paper: measured.series(Convention::Paper),
        reference: measured.series(Convention::Reference)?,
        style: None,
        effort: Effort::default(),
        generalisation: None,
        cheating: None,
    })
}
