//! Verification of runs: runs the tests of their iterations again in fresh
//! containers, on the stored code with the oracle's tests, and compares the
//! outcomes with the recorded ones. The last code of each evolution is tested
//! with moved clues too.

use std::cmp::Reverse;

use anyhow::Context;
use futures::StreamExt;
use sha2::{Digest, Sha256};
use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::{Finding, FindingKind, Grade};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::{Outcomes, TestList};
use swe_ci_core::run::Limits;
use swe_ci_core::task::TaskId;
use swe_ci_grading::{Graded, Grading, grade, owed_to_clues};
use swe_ci_sandbox::ContainerSpec;
use swe_ci_store::{EvolutionRow, IterationRow, TaskRow};
use swe_ci_views::account::AccountRole;
use swe_ci_views::background::{BackgroundWork, WorkKind};
use swe_ci_views::verification::{
    Difference, GradedIteration, NewFinding, Otherwise, Verification, Verified, compare,
};

use crate::background::{Reporter, Work};
use crate::{Engine, as_u32};

#[derive(Debug, Clone)]
pub struct Checked {
    /// Iterations checked, and all to check.
    pub done: u32,
    pub of: u32,
    /// The difference in this iteration, if any.
    pub difference: Option<Difference>,
    /// Findings about it that are not recorded.
    pub findings: Vec<NewFinding>,
}

/// Iterations that a verification in the background tests at the same time.
const AT_ONCE: usize = 2;

/// An iteration to check.
#[derive(Debug)]
struct Case {
    evolution: EvolutionRow,
    row: IterationRow,
    /// Whether no later iteration of its evolution was scored.
    is_last: bool,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Runs the tests of a run's iterations again, `at_once` at a time, and
    /// stores the result with the run; for administrators. Of many iterations
    /// only `most`: a random sample that is the same each time.
    ///
    /// # Errors
    /// [`Error::Conflict`] while the run is active, or when none of its code is
    /// stored; [`Error::Unavailable`] when the container engine fails. A
    /// difference or a finding is no error.
    pub async fn verify(
        &self,
        run_id: &str,
        most: Option<u32>,
        at_once: usize,
        tell: &(dyn Fn(Checked) + Send + Sync),
    ) -> Result<Verification> {
        let (limits, all) = self.verifiable(run_id).await?;
        self.ready().await?;
        let iterations = as_u32(all.len());
        let cases = sample(run_id, all, most);
        let of = as_u32(cases.len());
        let mut checks = futures::stream::iter(cases)
            .map(|case| self.check(case, limits))
            .buffer_unordered(at_once.max(1));
        let (mut done, mut differences, mut findings) = (0, Vec::new(), Vec::new());
        while let Some(check) = checks.next().await {
            let (difference, new) = check?;
            done += 1;
            differences.extend(difference.clone());
            findings.extend(new.iter().cloned());
            tell(Checked {
                done,
                of,
                difference,
                findings: new,
            });
        }
        drop(checks);
        // The order of the run's page: no suspicion is listed behind notes.
        let order = |at: &GradedIteration| (at.task_id.clone(), at.sample, at.iteration);
        differences.sort_by_cached_key(|difference: &Difference| order(&difference.at));
        findings
            .sort_by_cached_key(|new: &NewFinding| (Reverse(new.finding.grade), order(&new.at)));
        let verification = Verification {
            at: rfc3339(now_ms()),
            by: self.by().name().to_owned(),
            platform_version: env!("CARGO_PKG_VERSION").into(),
            checked: done,
            iterations,
            differences,
            findings,
        };
        self.store
            .put_verification(run_id, &verification, self.by())
            .await?;
        Ok(verification)
    }

    /// Runs the tests of one iteration again, as [`Engine::verify`] does, and stores
    /// nothing; for administrators.
    ///
    /// # Errors
    /// As there; [`Error::NotFound`] when it has no stored code.
    pub async fn verify_iteration(
        &self,
        run_id: &str,
        task: &TaskId,
        sample: u32,
        iteration: u32,
    ) -> Result<Checked> {
        let (limits, cases) = self.verifiable(run_id).await?;
        let wanted = (task, sample, iteration);
        let of = |case: &Case| {
            let Case { evolution, row, .. } = case;
            (&evolution.task_id, evolution.sample, row.iteration) == wanted
        };
        let case = cases.into_iter().find(of);
        let case = case.ok_or_else(|| Error::not_found("iteration with code", iteration))?;
        let (difference, findings) = self.check(case, limits).await?;
        Ok(Checked {
            done: 1,
            of: 1,
            difference,
            findings,
        })
    }

    /// Queues [`Engine::verify`] for a worker.
    ///
    /// # Errors
    /// [`Error::Conflict`] as there, and while the run is being verified.
    pub async fn start_verification(&self, run_id: &str, most: Option<u32>) -> Result<()> {
        self.verifiable(run_id).await?;
        let run = run_id.to_owned();
        self.queue_work(&Work::Verification { run, most }).await
    }

    pub(crate) async fn verify_in_background(
        &self,
        run_id: &str,
        most: Option<u32>,
        reporter: &Reporter,
    ) -> Result<String> {
        reporter.say("starting containers".into());
        let tell = |news: Checked| {
            reporter.say(format!("{} of {} iterations", news.done, news.of));
        };
        let found = self.verify(run_id, most, AT_ONCE, &tell).await?;
        Ok(found.to_string())
    }

    /// The verification of a run that a page started last; none for all but
    /// administrators.
    pub(crate) async fn verification_work(&self, run_id: &str) -> Result<Option<BackgroundWork>> {
        match self.by().is(AccountRole::Admin) {
            true => self.last_work(WorkKind::Verification, run_id).await,
            false => Ok(None),
        }
    }

    /// The limits of a run's containers, and the iterations that can be checked.
    async fn verifiable(&self, run_id: &str) -> Result<(Limits, Vec<Case>)> {
        self.require(AccountRole::Admin)?;
        let run = self.visible_run(run_id).await?;
        if !run.progress.is_over() {
            return Err(Error::Conflict(format!(
                "run {run_id} is {}; it can be checked when it is over",
                run.progress.name()
            )));
        }
        let cases = self.cases(run_id).await?;
        if cases.is_empty() {
            return Err(Error::Conflict(format!(
                "no code of run {run_id} is stored, so its tests cannot be run again"
            )));
        }
        Ok((run.config.limits, cases))
    }

    /// Marks a run as verified: its tests, run again, had the recorded
    /// outcomes. For administrators; idempotent.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless the run was checked and its last check found
    /// no differences.
    pub async fn mark_verified(&self, run_id: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.visible_run(run_id).await?;
        let verified = Verified {
            at: rfc3339(now_ms()),
            by: self.by().name().to_owned(),
        };
        self.store.mark_verified(run_id, &verified, self.by()).await
    }

    /// Removes that mark, for administrators; no effect where there is none. A
    /// check that finds differences removes it too.
    pub async fn unmark(&self, run_id: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.visible_run(run_id).await?;
        self.store.unmark(run_id, self.by()).await
    }

    /// Every iteration with stored code.
    async fn cases(&self, run_id: &str) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for evolution in self.store.evolutions_of_run(run_id).await? {
            let rows = self.store.iterations(&evolution.id).await?;
            let scored = |row: &&IterationRow| matches!(row.verdict, Verdict::Scored { .. });
            let last = rows.iter().rfind(scored).map(|row| row.iteration);
            let stored = rows.into_iter().filter(|row| !row.code.is_empty());
            cases.extend(stored.map(|row| Case {
                evolution: evolution.clone(),
                is_last: Some(row.iteration) == last,
                row,
            }));
        }
        Ok(cases)
    }

    /// The difference in an iteration, and findings of kinds that are not recorded.
    async fn check(
        &self,
        case: Case,
        limits: Limits,
    ) -> Result<(Option<Difference>, Vec<NewFinding>)> {
        let Case {
            evolution,
            row,
            is_last,
        } = case;
        let task = self.store.task_of_evolution(&evolution).await?;
        let tests = &task.suite.tests;
        let code = self.artifacts.get_code(&row.code).await?;
        let again = self.repetition(&task, code, limits, &evolution.id).await?;
        let graded = self.graded_again(&again).await?;
        let outcomes = graded.result.map(|report| Outcomes::of(tests, &report));
        let scored = matches!(row.verdict, Verdict::Scored { .. });
        let recorded = scored.then_some(&row.outcomes);
        let mut what = compare(tests, recorded, outcomes.as_ref().map_err(String::as_str));
        // Code that an audit accused runs as it did before.
        let accused = |finding: &Finding| {
            (finding.grade, finding.kind) == (Grade::Tampered, FindingKind::Contradiction)
        };
        if row.findings.iter().any(accused) {
            what = what.filter(|what| *what != Otherwise::Ran);
        }
        let mut findings = graded.findings;
        if let (None, Ok(outcomes), true) = (&what, &outcomes, is_last) {
            let passed = tests.gained(&task.suite.base_outcomes, outcomes);
            let sandbox = self.sandbox();
            let found = owed_to_clues(sandbox.as_ref(), &again.spec, &again.grading, &passed);
            match Box::pin(found).await.with_context(|| again.failed())? {
                Some(finding) if finding.grade > Grade::Note => {
                    what = Some(Otherwise::Clues {
                        finding: finding.text,
                    });
                }
                note => findings.extend(note),
            }
        }
        let at = place(&evolution, &row);
        let alike =
            |one: &Finding, other: &Finding| (one.grade, one.kind) == (other.grade, other.kind);
        findings.retain(|new| !row.findings.iter().any(|old| alike(old, new)));
        let new = findings.into_iter().map(|finding| NewFinding {
            at: at.clone(),
            finding,
        });
        let new = new.collect();
        Ok((what.map(|what| Difference { at, what }), new))
    }

    /// Runs these tests of a task on some code, with the oracle's tests, in a
    /// fresh container; inside is why the code counts as collapsed. `what_for`
    /// is the container's label.
    pub(crate) async fn run_tests_again(
        &self,
        task: &TaskRow,
        tests: &TestList,
        code: CodeTree,
        limits: Limits,
        what_for: &str,
    ) -> Result<std::result::Result<Outcomes, String>> {
        let again = self.repetition(task, code, limits, what_for).await?;
        let graded = self.graded_again(&again).await?;
        Ok(graded.result.map(|report| Outcomes::of(tests, &report)))
    }

    pub(crate) async fn repetition(
        &self,
        task: &TaskRow,
        code: CodeTree,
        limits: Limits,
        what_for: &str,
    ) -> Result<Repetition> {
        let (spec, grading) = self.folders.graded(task, code, limits, what_for).await?;
        Ok(Repetition {
            task: task.id.clone(),
            spec,
            grading,
        })
    }

    async fn graded_again(&self, again: &Repetition) -> Result<Graded> {
        let run = async {
            let container = self.sandbox().open(&again.spec).await?;
            grade(container.as_ref(), &again.grading, &mut |_| {}).await
        };
        Ok(run.await.with_context(|| again.failed())?)
    }
}

/// Some code of a task, to be tested again in fresh containers.
#[derive(Debug)]
pub(crate) struct Repetition {
    task: TaskId,
    pub spec: ContainerSpec,
    pub grading: Grading,
}

impl Repetition {
    fn failed(&self) -> String {
        format!("the tests of {} could not be run again", self.task)
    }
}

/// Names an iteration: its evolution, task, sample and number.
pub(super) fn place(evolution: &EvolutionRow, row: &IterationRow) -> GradedIteration {
    GradedIteration {
        evolution_id: evolution.id.clone(),
        task_id: evolution.task_id.clone(),
        sample: evolution.sample,
        iteration: row.iteration,
    }
}

/// A reproducible random choice: by the digest of run, evolution and iteration.
fn sample(run_id: &str, mut cases: Vec<Case>, most: Option<u32>) -> Vec<Case> {
    if let Some(most) = most {
        cases.sort_by_cached_key(|Case { evolution, row, .. }| {
            let lot = format!("{run_id}/{}/{}", evolution.id, row.iteration);
            Sha256::digest(lot).to_vec()
        });
        cases.truncate(most as usize);
    }
    cases
}
