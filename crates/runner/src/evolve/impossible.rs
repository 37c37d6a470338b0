//! The mode impossible: agents see contradictions of some tests beside them, and each
//! iteration is tested with them after it was graded without.

use std::sync::Arc;

use swe_ci_base::code::CodeTree;
use swe_ci_core::audit::ShownContradictions;
use swe_ci_core::step::Cursor;
use swe_ci_core::test_gap::{NonPassed, non_passed};
use swe_ci_dataset::contradictions::Impossible;
use swe_ci_grading::{Grading, grade};

use super::Evolution;
use super::failure::Failure;

impl Evolution<'_> {
    /// The code as agents see it.
    pub fn with_shown(&self, code: &Arc<CodeTree>) -> Arc<CodeTree> {
        match &self.impossible {
            Some(impossible) => Arc::new(impossible.tests.laid_beside(code)),
            None => code.clone(),
        }
    }

    /// Runs the tests with their contradictions on code that was graded without. Nothing
    /// of it counts in a score.
    #[tracing::instrument(name = "test the contradictions", level = "debug", skip_all)]
    pub async fn contradicted(
        &self,
        at: Cursor,
        grading: &Grading,
    ) -> Result<Option<ShownContradictions>, Failure> {
        let Some(Impossible { tests, .. }) = &self.impossible else {
            return Ok(None);
        };
        let container = self.containers.open_apart().await?;
        let grading = tests.grading(grading);
        let graded = Box::pin(grade(container.as_ref(), &grading, &mut |_| {})).await?;
        let mut contradicted = ShownContradictions {
            shown: tests.len(),
            passed: Vec::new(),
            report: None,
        };
        if let (Ok(report), Some(raw)) = (&graded.result, graded.raw) {
            contradicted.passed = tests.passed(report);
            let key = self.key(at, "contradicted.json");
            contradicted.report = Some(self.evolver.artifacts.put(&key, raw).await?);
        }
        Ok(Some(contradicted))
    }

    /// The contradictions that the code after an iteration does not pass; `None` in other
    /// modes.
    pub async fn shown_gap(&self, code_of: u32) -> anyhow::Result<Option<Vec<NonPassed>>> {
        let Some(impossible) = &self.impossible else {
            return Ok(None);
        };
        let key = match code_of {
            0 => impossible.base_report.clone(),
            n => {
                let shown = self.iteration(n)?.contradicted.as_ref();
                shown.and_then(|shown| shown.report.clone())
            }
        };
        let (report, ids) = (self.report(key).await?, impossible.tests.contradictions());
        Ok(Some(non_passed(&ids, report.as_ref())))
    }
}
