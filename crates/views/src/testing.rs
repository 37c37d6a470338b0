//! Small runs for the tests of this crate and the crates above, built from
//! normalized changes only.

use std::sync::Arc;

use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::{Convention, Series, Verdict};
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;

use crate::account::Visibility;
use crate::count;
use crate::leaderboard::{Effort, Entry, LeaderboardData, Origin, Sample, ScoredTask};
use crate::steering::Steering;
use crate::style::{Beside, Erosion, StylePoint};
use crate::view::{EvolutionView, Provenance, RunDetail, RunSummary};

/// An evolution with these normalized changes, each -1 to 1 in hundredths:
/// the base passes 100 tests, the target 200.
pub fn series(changes: &[f64]) -> Series {
    let suite = SuiteCounts::counts_only(100, 100);
    let passed = |change: &f64| Some((100.0 + change * 100.0).round() as u32);
    let verdicts = Verdict::by_count(suite, changes.iter().map(passed));
    let series = Series::count(Convention::Reference, suite, 1_000, &verdicts);
    series.expect("counts are enough")
}

/// The same in both conventions.
pub fn sample(changes: &[f64]) -> Sample {
    let series = series(changes);
    Sample {
        number: 1,
        paper: Some(series.clone()),
        reference: series,
        style: None,
        effort: Effort::default(),
        generalisation: None,
        cheating: None,
    }
}

/// The style of an evolution, its own first, then the oracle's: maintainability
/// index, Pylint's score, changed lines. The base has 70, 7 and a mean
/// complexity of 3.
pub fn beside(mi: [f64; 2], pylint: [f64; 2], lines: [u32; 2]) -> Beside {
    let point = |mi, pylint| StylePoint {
        mi: Some(mi),
        pylint: Some(pylint),
        complexity: Some(3.0),
        erosion: Erosion::default(),
    };
    Beside {
        base: point(70.0, 7.0),
        own: point(mi[0], pylint[0]),
        oracle: point(mi[1], pylint[1]),
        own_lines: lines[0],
        oracle_lines: lines[1],
        course: Vec::new(),
    }
}

/// The run with a style for each evolution; `style` gets the indices of the
/// task and of the sample, from 0.
pub fn styled(mut run: Entry, style: impl Fn(usize, usize) -> Option<Beside>) -> Entry {
    for (task_index, task) in run.tasks_mut().iter_mut().enumerate() {
        for (sample_index, sample) in task.samples.iter_mut().enumerate() {
            sample.style = style(task_index, sample_index);
        }
    }
    run
}

/// The run with what each evolution took; `effort` gets the indices of the task
/// and of the sample, from 0.
pub fn with_effort(mut run: Entry, effort: impl Fn(usize, usize) -> Effort) -> Entry {
    for (task_index, task) in run.tasks_mut().iter_mut().enumerate() {
        for (sample_index, sample) in task.samples.iter_mut().enumerate() {
            sample.effort = effort(task_index, sample_index);
        }
    }
    run
}

/// A task of a repository, its target of an unknown day.
pub fn origin(task: impl Into<String>, repo: impl Into<String>) -> Arc<Origin> {
    Arc::new(Origin {
        task_id: TaskId::new(task).expect("a plain name"),
        repo: repo.into(),
        target_date: None,
    })
}

/// A finished run over these tasks.
pub fn run(model: &str, max_iterations: u32, tasks: Vec<ScoredTask>) -> Entry {
    Entry {
        run_id: format!("run-{model}"),
        model: model.to_owned(),
        harness: "replay".to_owned(),
        harness_version: "1".to_owned(),
        progress: Progress::Finished,
        metric_version: 1,
        tasks_total: count(tasks.len()),
        tasks: Arc::new(tasks),
        ..Entry::none(max_iterations)
    }
}

/// A finished run over tasks, each with its repository and its samples; a
/// sample is a list of changes. N is the length of the longest.
pub fn entry(model: &str, tasks: &[(&str, &[&[f64]])]) -> Entry {
    let lengths = tasks.iter().flat_map(|(_, samples)| *samples);
    let longest = lengths.map(|changes| changes.len()).max().unwrap_or(1);
    let numbered = |(number, changes): (u32, &&[f64])| Sample {
        number,
        ..sample(changes)
    };
    let task = |(number, (repo, samples)): (usize, &(&str, &[&[f64]]))| ScoredTask {
        origin: origin(format!("task-{number}"), *repo),
        revision: None,
        samples: (1..).zip(*samples).map(numbered).collect(),
    };
    let tasks = tasks.iter().enumerate().map(task).collect();
    run(model, count(longest), tasks)
}

/// A finished run with one evolution for each list of changes, each with its
/// own task and repository.
pub fn spread_run(model: &str, evolutions: &[&[f64]]) -> Entry {
    let repos: Vec<String> = (0..evolutions.len()).map(|n| format!("r{n}")).collect();
    let samples = evolutions.iter().map(std::slice::from_ref);
    let tasks: Vec<(&str, &[&[f64]])> = repos.iter().map(String::as_str).zip(samples).collect();
    entry(model, &tasks)
}

/// The leaderboard of a split named `s`. No run is unranked for having done less
/// than the others.
pub fn leaderboard(entries: Vec<Entry>) -> LeaderboardData {
    let most = |value: fn(&Entry) -> u32| entries.iter().map(value).max().unwrap_or(0);
    let (tasks, iterations) = (most(|run| run.tasks_total), most(|run| run.max_iterations));
    let (unranked, entries) = entries.into_iter().partition(|run| run.unranked.is_some());
    LeaderboardData {
        split: "s".into(),
        tasks,
        iterations,
        entries,
        unranked,
        ..LeaderboardData::default()
    }
}

/// A public run of the human baseline that nothing more is known of.
pub fn run_summary(progress: Progress) -> RunSummary {
    RunSummary {
        run_id: "r".into(),
        config: RunConfig::human("demo"),
        visibility: Visibility::Public,
        withdrawn: None,
        mark: None,
        regraded_from: None,
        cleared: None,
        set_aside: None,
        progress,
        preflight: None,
        steering: Steering::default(),
        created_at: String::new(),
        started_at: None,
        finished_at: None,
        evolutions: 0,
        evolutions_over: 0,
        evolutions_scored: 0,
        evolutions_blocked: 0,
        evolutions_solved: 0,
        evolutions_gave_up: 0,
        iterations: 0,
    }
}

/// The same with these evolutions; the caller may steer it.
pub fn run_detail(progress: Progress, evolution_list: Vec<EvolutionView>) -> RunDetail {
    RunDetail {
        summary: RunSummary {
            evolutions: count(evolution_list.len()),
            ..run_summary(progress)
        },
        may_steer: true,
        unranked: None,
        verified: None,
        verification: None,
        verifying: None,
        regraded_as: Vec::new(),
        provenance: Provenance::default(),
        spent: None,
        elapsed_seconds: None,
        eta_seconds: None,
        host: None,
        unmet_needs: None,
        evolution_list,
    }
}
