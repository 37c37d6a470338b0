//! What a received run must be, before anything of it is stored or run.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use swe_ci_base::error::{Error, Result};
use swe_ci_base::files::read_limited;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_core::report::Report;
use swe_ci_core::step::{Ending, Plan};
use swe_ci_store::TaskRow;
use swe_ci_views::view::TaskState;

use super::{DescribedEvolution, Description, FORMAT, MOST_FILE, suite_digest};
use crate::api::inspection::report_of;
use crate::api::rescore::recount_by_test;

/// What a site knows of a split.
#[derive(Debug)]
pub(super) struct SiteSplit {
    pub tasks: Vec<TaskRow>,
    /// The N that it declares, if it does.
    pub iterations: Option<u32>,
}

impl Description {
    /// Compares it with the split of this site.
    ///
    /// # Errors
    /// [`Error::Invalid`] with the first reason to refuse it.
    pub fn check(&self, split: &SiteSplit) -> Result<()> {
        if self.format != FORMAT {
            return refuse(format!(
                "its format is {}; this site reads {FORMAT}",
                self.format
            ));
        }
        let name = &self.config.split;
        if split.tasks.is_empty() {
            return refuse(format!("this site has no split `{name}`"));
        }
        let n = split.iterations.unwrap_or(Plan::default().max_iterations);
        let own = self.config.plan.max_iterations;
        if own != n {
            return refuse(format!(
                "its N is {own}; runs on `{name}` have {n} iterations"
            ));
        }
        self.config
            .check()
            .map_err(|bad| Error::Invalid(bad.to_string()))?;
        let mut found = BTreeMap::new();
        for evolution in &self.evolutions {
            if found
                .insert((&evolution.task_id, evolution.sample), evolution)
                .is_some()
            {
                return refuse(format!(
                    "{} sample {} is there twice",
                    evolution.task_id, evolution.sample
                ));
            }
        }
        for task in &split.tasks {
            if task.state != TaskState::Ready {
                return refuse(format!(
                    "the task {} cannot run on this site, so nobody can check it",
                    task.id
                ));
            }
            for sample in 1..=self.config.samples {
                let evolution = found.remove(&(&task.id, sample));
                let missing = || {
                    Error::Invalid(format!(
                        "the task {} is missing (sample {sample} of {})",
                        task.id, self.config.samples
                    ))
                };
                evolution.ok_or_else(missing)?.check_against(task, n)?;
            }
        }
        match found.into_keys().next() {
            Some((task, sample)) => refuse(format!(
                "{task} sample {sample} is not part of `{name}` with {} samples",
                self.config.samples
            )),
            None => Ok(()),
        }
    }
}

impl DescribedEvolution {
    fn check_against(&self, task: &TaskRow, n: u32) -> Result<()> {
        let refuse = |why: String| refuse(format!("{} sample {}: {why}", task.id, self.sample));
        if (&self.base_sha, &self.target_sha) != (&task.base_sha, &task.target_sha)
            || self.suite != suite_digest(&task.suite)?
        {
            return refuse(
                "it was made on another revision of the task, whose commits or tests differ".into(),
            );
        }
        if !self.ending.is_scored() {
            return refuse(format!(
                "it has no score: it ended as {}",
                self.ending.name()
            ));
        }
        let numbers: Vec<u32> = self.iterations.iter().map(|row| row.iteration).collect();
        let in_order =
            numbers.is_sorted_by(|a, b| a < b) && numbers.iter().all(|i| (1..=n).contains(i));
        if !in_order
            || self
                .steps
                .iter()
                .any(|step| !(1..=n).contains(&step.iteration))
        {
            return refuse(format!("its iterations are not 1 to {n}, each once"));
        }
        let last = self.iterations.last();
        let solved = last.is_some_and(|row| row.outcomes.passed() == task.suite.tests.len());
        match self.ending {
            Ending::Solved if !solved => {
                refuse("it ended as solved, and its last code passes not all tests".into())
            }
            Ending::IterationsSpent if last.is_none_or(|row| row.iteration < n) => refuse(format!(
                "it says that it spent its iterations, and has not {n}"
            )),
            _ => self.check_rows(task),
        }
    }

    fn check_rows(&self, task: &TaskRow) -> Result<()> {
        for row in &self.iterations {
            let why = match row.verdict {
                _ if !row.code.starts_with("code/") => "has no code",
                Verdict::Scored { .. } if report_of(&self.steps, row.iteration).is_none() => {
                    "has no test report"
                }
                Verdict::Collapsed { .. } if row.outcomes != Outcomes::none(&task.suite.tests) => {
                    "collapsed, and passes tests"
                }
                _ => continue,
            };
            return refuse(format!(
                "{} sample {}: iteration {} {why}",
                task.id, self.sample, row.iteration
            ));
        }
        Ok(())
    }

    /// Counts its reports, which are in `folder` under these digests.
    ///
    /// # Errors
    /// [`Error::Invalid`] when they say otherwise than its rows.
    pub fn check_reports(
        &self,
        task: &TaskRow,
        files: &BTreeMap<String, String>,
        folder: &Path,
    ) -> Result<()> {
        let mut reports = HashMap::new();
        for row in &self.iterations {
            let Some(digest) =
                report_of(&self.steps, row.iteration).and_then(|key| files.get(&key))
            else {
                continue;
            };
            let bytes = read_limited(&folder.join(digest), MOST_FILE)?;
            let report = Report::parse(&bytes).map_err(|error| {
                Error::Invalid(format!(
                    "{}: the report of iteration {} cannot be read: {error}",
                    task.id, row.iteration
                ))
            })?;
            let counted = (Outcomes::of(&task.suite.tests, &report), report.passed());
            reports.insert(row.iteration, counted);
        }
        let changed = recount_by_test(&task.suite, &self.iterations, &reports);
        let Some(counted) = changed.first() else {
            return Ok(());
        };
        refuse(format!(
            "{} sample {}: iteration {} is not scored as its report counts: {} of {} tests pass there",
            task.id,
            self.sample,
            counted.iteration,
            counted.outcomes.passed(),
            task.suite.tests.len()
        ))
    }
}

fn refuse<T>(why: String) -> Result<T> {
    Err(Error::Invalid(why))
}
