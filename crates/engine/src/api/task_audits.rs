//! Audits of tasks: experiments on the tests themselves tell a reader how far scores can
//! be trusted.

use swe_ci_base::error::Result;
use swe_ci_core::audit::{Coverage, CoverageSum};
use swe_ci_core::run::Limits;
use swe_ci_dataset::contradictions::{TaskContradictions, suite_id, suite_of};
use swe_ci_grading::Contradictions;
use swe_ci_store::TaskRow;
use swe_ci_views::account::AccountRole;
use swe_ci_views::preparation::TaskAudit;

use crate::{Engine, Say};

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
        Box::pin(self.task_contradictions().of(task, limits)).await
    }

    pub(super) fn task_contradictions(&self) -> TaskContradictions {
        TaskContradictions {
            store: self.store.clone(),
            artifacts: self.artifacts.clone(),
            sandbox: self.sandbox(),
            folders: self.folders.clone(),
        }
    }
}
