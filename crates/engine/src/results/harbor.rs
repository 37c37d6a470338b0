//! The layout of Harbor: a job's folder has a folder for each trial, with
//! `result.json`, with `swe-ci.json` of the verifier of our tasks, and with
//! `trajectory.json` of most agents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;

use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::report::{Outcome, Report, TestResult};
use swe_ci_core::results::harbor::{
    Trial, TrialOf, VerifierReport, is_of_job, trial, verifier_report,
};
use swe_ci_core::results::{Record, Recorded};
use swe_ci_core::usage::Usage;
use swe_ci_dataset::TaskLine;
use swe_ci_store::Suite;

use super::folder::{Folder, Unread, holds_files};
use super::reference::PerTest;
use super::{Evolution, Found};
use crate::as_u32;

const MAX_BYTES: u64 = 64 << 20;
const MAX_REPORT_BYTES: u64 = 256 << 20;

/// A job, before the results of its trials are read.
#[derive(Debug, Default)]
pub struct Job {
    /// Names of the trials' folders by task; folders of other tasks under their
    /// own names.
    pub trials: BTreeMap<String, Vec<String>>,
    pub length: JobLength,
}

/// How many iterations the trials of a job have: all evolutions of an export
/// have the same number, and a step has one.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobLength {
    /// Of the trials that ran to their end.
    whole: Option<u32>,
}

impl JobLength {
    fn add(&mut self, trial: &Trial) {
        let iterations = match trial.task {
            TrialOf::Step(_) => 1,
            TrialOf::Evolution(_) if trial.exception.is_none() => as_u32(trial.steps.len()),
            TrialOf::Evolution(_) | TrialOf::Foreign(_) => 0,
        };
        if iterations > 0 {
            self.whole = self.whole.max(Some(iterations));
        }
    }

    /// N: the wanted one, which may leave later iterations out, else that of the
    /// job.
    ///
    /// # Errors
    /// Why there is no such N.
    pub fn max_iterations(self, wanted: Option<u32>) -> Result<u32, String> {
        match (wanted, self.whole) {
            (None, Some(iterations)) => Ok(iterations),
            (None, None) => Err(
                "no trial of this job ran to its end, which would tell how many iterations an \
                 evolution has; name their number with --max-iterations"
                    .into(),
            ),
            (Some(wanted), Some(iterations)) if wanted > iterations => Err(format!(
                "max_iterations: {wanted} is more than this job has; its trials have {iterations}, \
                 which holds when the option is absent"
            )),
            (Some(wanted), _) => Ok(wanted),
        }
    }
}

/// Looks at every trial of a job.
///
/// # Errors
/// Why the folder is no job of one agent.
pub fn job(folder: &Folder, names: Vec<(String, FileType)>) -> Result<Job, String> {
    let mut folder = folder.unread();
    let mut agents = BTreeSet::new();
    let mut job = Job::default();
    for (name, kind) in names {
        if !holds_files(kind) || !folder.has_file(&result_of(&name)).unwrap_or(true) {
            continue;
        }
        let trial = read_trial(&mut folder, &name)?;
        job.length.add(&trial);
        let task = match trial.task {
            TrialOf::Step(task) | TrialOf::Evolution(task) => {
                agents.insert(trial.agent);
                task
            }
            TrialOf::Foreign(_) => name.clone(),
        };
        job.trials.entry(task).or_default().push(name);
    }
    if agents.len() > 1 {
        let agents: Vec<String> = agents.into_iter().collect();
        return Err(format!(
            "this job has trials of several agents, `agent_info` says ({}); a run is of one: \
             put the trials of each into a folder of their own",
            agents.join(", ")
        ));
    }
    Ok(job)
}

/// The trials of a task as its samples, by the names of their folders.
pub fn find(folder: &mut Folder, line: &TaskLine, names: &[String]) -> Vec<Found> {
    if names.is_empty() {
        let why = format!(
            "there is no trial of `{}`: it was never started",
            line.task_id
        );
        return vec![Found::Missing(why)];
    }
    let mut kinds = BTreeSet::new();
    let samples: Vec<Found> = names
        .iter()
        .map(|name| match read_trial(folder, name) {
            Ok(trial) => {
                kinds.insert(matches!(trial.task, TrialOf::Evolution(_)));
                evolution(folder, line, name, &trial).unwrap_or_else(|found| found)
            }
            Err(why) => Found::Bad(why),
        })
        .collect();
    if kinds.len() > 1 {
        return vec![Found::Bad(format!(
            "this job has trials of `{0}` as a step and as an evolution; import a job of one kind",
            line.task_id
        ))];
    }
    samples
}

fn result_of(name: &str) -> String {
    format!("{name}/result.json")
}

fn read_trial(folder: &mut Folder, name: &str) -> Result<Trial, String> {
    let path = result_of(name);
    let bytes = folder.read(&path, MAX_BYTES);
    let bytes = bytes.map_err(|unread| unread.why(|| format!("{path} has gone")))?;
    trial(&bytes).map_err(|bad| match is_of_job(&bytes) {
        true => format!(
            "{path} is of a whole job: this is a folder of jobs; name one job, such as its `{name}`"
        ),
        false => format!("{path}, {bad}"),
    })
}

/// One trial; the error is the reason why there is no evolution.
fn evolution(
    folder: &mut Folder,
    line: &TaskLine,
    name: &str,
    trial: &Trial,
) -> Result<Found, Found> {
    let steps: Vec<(String, Option<Usage>)> = match trial.task {
        TrialOf::Evolution(_) => trial
            .steps
            .iter()
            .map(|step| (format!("{name}/steps/{}", step.name), step.usage))
            .collect(),
        _ => vec![(name.to_owned(), trial.usage)],
    };
    let mut graded: Vec<(VerifierReport, Option<Usage>)> = Vec::new();
    let mut notes = Vec::new();
    let mut trajectories = BTreeMap::new();
    for (iteration, (step, usage)) in (1..).zip(steps) {
        let path = format!("{step}/verifier/swe-ci.json");
        match folder.read(&path, MAX_REPORT_BYTES) {
            Ok(bytes) => {
                let seen = verifier_report(&bytes);
                let seen = seen.map_err(|e| Found::Bad(format!("{path}, {e}")))?;
                check(line, &path, &seen, graded.first())?;
                graded.push((seen, usage));
                let trajectory = format!("{step}/agent/trajectory.json");
                match folder.has_file(&trajectory) {
                    Ok(true) => drop(trajectories.insert(iteration, trajectory)),
                    Ok(false) => {}
                    Err(why) => notes.push(why),
                }
            }
            Err(Unread::Refused(why)) => return Err(Found::Bad(why)),
            // The agent had not begun: it was its environment that failed.
            Err(Unread::Missing) if usage.is_none() && trial.exception.is_some() => {
                let why = trial.exception.as_deref().unwrap_or_default();
                let why = format!("the trial {name} ended in iteration {iteration}: {why}");
                return Err(Found::Missing(why));
            }
            Err(Unread::Missing) => {
                notes.push(format!(
                    "`{name}`: there is no {path}; the evolution ends before"
                ));
                break;
            }
        }
    }
    let Some((first, _)) = graded.first() else {
        let why = trial.exception.as_deref().unwrap_or("it has no exception");
        let why = format!("the trial {name} was not graded: {why}");
        return Err(Found::Missing(why));
    };
    let silent = |(_, usage): &(_, Option<Usage>)| usage.is_some_and(|u| u == Usage::default());
    if let (Some(why), true) = (&trial.exception, graded.iter().all(silent)) {
        // A wrong key, say. Nothing of this is the model's work.
        let why = format!("the trial {name} ended before its agent asked a model: {why}");
        return Err(Found::Missing(why));
    }
    let suite = suite_of(first);
    let mut record = Record {
        base_passed: suite.counts.base_passed,
        gap: suite.counts.gap(),
        iterations: Vec::new(),
    };
    let mut iterations = Vec::new();
    for (seen, programmer) in graded {
        let report = seen.report.ok();
        let report = report
            .map(|text| Report::parse(text.as_bytes()))
            .transpose();
        let report = report.map_err(|error| Found::Bad(format!("{name}: `report`: {error}")))?;
        let outcomes = report
            .as_ref()
            .map(|report| Outcomes::of(&suite.tests, report));
        record.iterations.push(Recorded {
            passed: report.as_ref().map(Report::passed),
            solved: outcomes
                .as_ref()
                .is_some_and(|o| o.passed() == suite.tests.len()),
            architect: None,
            programmer,
        });
        iterations.push(outcomes);
    }
    let tests = Ok(PerTest { suite, iterations });
    Ok(Found::Evolution(Box::new(Evolution {
        record,
        tests,
        notes,
        trajectories,
    })))
}

/// A result of this task, and of the same tests as the first one.
fn check(
    line: &TaskLine,
    path: &str,
    seen: &VerifierReport,
    first: Option<&(VerifierReport, Option<Usage>)>,
) -> Result<(), Found> {
    let fields = [
        ("task_id", seen.task_id.as_str(), line.task_id.as_str()),
        ("current_sha", &seen.current_sha, &line.base_sha),
        ("target_sha", &seen.target_sha, &line.target_sha),
    ];
    for (field, found, expect) in fields {
        if found != expect {
            let found = found.escape_debug();
            return Err(Found::Bad(format!(
                "{path}: `{field}` is `{found}`, and `{expect}` in the metadata file"
            )));
        }
    }
    let same = |first: &VerifierReport| {
        first.tests == seen.tests && first.base_passing == seen.base_passing
    };
    match first {
        Some((first, _)) if !same(first) => Err(Found::Bad(format!(
            "{path}: `tests` or `base_passing` differ from those of the first iteration"
        ))),
        _ => Ok(()),
    }
}

fn suite_of(seen: &VerifierReport) -> Suite {
    let tests = TestList::of_target(&passing(&seen.tests));
    Suite::of(tests, &passing(&seen.base_passing))
}

/// A report in which these tests pass, and no others are.
fn passing(tests: &[String]) -> Report {
    let result = TestResult {
        outcome: Outcome::Passed,
        message: String::new(),
    };
    Report {
        exit_code: 0,
        duration: 0.0,
        tests: tests
            .iter()
            .map(|id| (id.clone(), result.clone()))
            .collect(),
    }
}
