//! Audits of tasks: experiments on the tests themselves tell a reader how far scores can
//! be trusted.

use std::time::Duration;

use anyhow::Context;
use sha2::{Digest, Sha256};
use swe_ci_base::code::CodeTree;
use swe_ci_base::digest::hex;
use swe_ci_base::error::Result;
use swe_ci_core::audit::{Coverage, CoverageSum};
use swe_ci_core::run::Limits;
use swe_ci_core::task::TestCommand;
use swe_ci_grading::{Contradictions, Grading, contradictions_of, passing_on_empty_functions};
use swe_ci_store::{ContradictedSuite, TaskRow};
use swe_ci_views::account::AccountRole;
use swe_ci_views::preparation::TaskAudit;

use super::evolution_audits::{LEAST_TIME, bounded};
use super::verification::Repetition;
use crate::{Engine, Say};

/// The most vacuous tests that are named.
const LISTED: usize = 50;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Audits the tests of a split's tasks that have not been audited yet; for
    /// administrators. Tasks that cannot be run are left out.
    pub async fn audit_tasks(&self, split: &str, say: Say<'_>) -> Result<Vec<TaskAudit>> {
        self.require(AccountRole::Admin)?;
        let mut audits = Vec::new();
        for task in self.ready_tasks(split).await? {
            let known = self.contradicted(&task).await?;
            if known.is_none() {
                say(format!(
                    "{}: auditing {} tests",
                    task.id,
                    task.suite.tests.len()
                ));
                // This puts the coverage into the store.
                let _ = self.contradictions(&task, Limits::default()).await?;
            }
            let coverage = self.contradicted(&task).await?.unwrap_or_default();
            audits.push(TaskAudit::of(task.id, &task.preparation, coverage));
        }
        Ok(audits)
    }

    /// The sum over the tasks of a split that are audited.
    pub(super) async fn audited(&self, split: &str) -> Result<CoverageSum> {
        let coverages = self.coverages(Some(split)).await?;
        let audited = coverages.iter().map(|(_, coverage)| coverage);
        Ok(audited.filter(|of| of.reason.is_none()).collect())
    }

    /// The tasks of a split that are audited, or of all as they were imported last,
    /// each with how far its tests are contradicted.
    pub(super) async fn coverages(&self, split: Option<&str>) -> Result<Vec<(String, Coverage)>> {
        let known = self.store.coverages().await?;
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let tasks = self.store.targets_of_tasks(split).await?.into_iter();
        let audited = tasks.filter_map(|(id, target, image, command)| {
            let coverage = known.get(&suite_id(&target, &image, &command))?;
            Some((id, coverage.clone()))
        });
        Ok(audited.collect())
    }

    /// How many tests of a task have a contradiction; `None` before the first
    /// audit.
    pub(crate) async fn contradicted(&self, task: &TaskRow) -> Result<Option<Coverage>> {
        let suite = self.store.contradictions(&suite_of(task)).await?;
        Ok(suite.map(|suite| suite.coverage))
    }

    /// The contradictions of a task's suite, made once; inside is why it has none.
    pub(super) async fn contradictions(
        &self,
        task: &TaskRow,
        limits: Limits,
    ) -> Result<std::result::Result<Contradictions, String>> {
        let suite = suite_of(task);
        if let Some(made) = self.store.contradictions(&suite).await? {
            if let Some(why) = made.coverage.reason {
                return Ok(Err(why));
            }
            let json = self.artifacts.get(&made.artifact).await?;
            let read = serde_json::from_slice(&json);
            return Ok(Ok(read.context("contradictions cannot be read")?));
        }
        let oracle = CodeTree::default();
        // Code with empty functions may never end.
        let seconds = Duration::from_secs_f64(10.0 * task.suite_seconds) + LEAST_TIME;
        let limits = bounded(limits, seconds);
        let Repetition { spec, grading, .. } = self
            .repetition(task, oracle, limits, "contradictions")
            .await?;
        let grading = Grading {
            code: grading.oracle.clone(),
            ..grading
        };
        let sandbox = self.sandbox();
        let made = contradictions_of(sandbox.as_ref(), &spec, &grading);
        let made = Box::pin(made).await.map_err(crate::unavailable)?;
        let mut stored = ContradictedSuite {
            artifact: String::new(),
            coverage: Coverage {
                reason: made.as_ref().err().cloned(),
                ..Coverage::default()
            },
        };
        if let Ok(contradictions) = &made {
            let tests = task.suite.tests.node_ids().iter().map(String::as_str);
            stored.coverage = contradictions.coverage(tests);
            let passing = passing_on_empty_functions(sandbox.as_ref(), &spec, &grading);
            if let Some(passing) = Box::pin(passing).await.map_err(crate::unavailable)? {
                let tests = task.suite.tests.node_ids().iter();
                let mut vacuous: Vec<String> =
                    tests.filter(|id| passing.contains(*id)).cloned().collect();
                stored.coverage.vacuous = Some(crate::as_u32(vacuous.len()));
                vacuous.truncate(LISTED);
                stored.coverage.some_vacuous = vacuous;
            }
            let json = serde_json::to_vec(contradictions).context("they have no JSON")?;
            let key = format!("contradictions/{suite}.json");
            stored.artifact = self.artifacts.put(&key, json).await?;
        }
        self.store.put_contradictions(&suite, &stored).await?;
        Ok(made)
    }
}

/// On which the contradictions of a task and its changed inputs depend: the way in
/// which they are made, too.
fn suite_id(target: &str, image: &str, command: &TestCommand) -> String {
    hex(&Sha256::digest(format!("9\n{target}\n{image}\n{command}")))
}

fn suite_of(task: &TaskRow) -> String {
    suite_id(&task.target_sha, &task.image, &task.test_command)
}
