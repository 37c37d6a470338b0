//! Findings: those of a run, those that wait for a decision, and the decisions.

use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::{Decision, Unranked};
use swe_ci_store::FindingDecision;
use swe_ci_views::account::AccountRole;
use swe_ci_views::finding::{FindingId, RunFinding, unranked};
use swe_ci_views::view::RunSummary;

use crate::Engine;

/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The findings of a run, by task, sample and iteration.
    pub async fn findings(&self, run_id: &str) -> Result<Vec<RunFinding>> {
        self.visible_run(run_id).await?;
        self.store.findings_of_run(run_id).await
    }

    /// Why a run takes no rank, as far as that is known before it is over.
    pub(crate) async fn unranked(&self, run: &RunSummary) -> Result<Option<Unranked>> {
        let findings = self.store.findings_of_run(&run.run_id).await?;
        Ok(unranked(&run.config, run.set_aside.as_ref(), &findings))
    }

    /// The findings of all runs that wait for a decision; for administrators.
    pub async fn open_findings(&self) -> Result<Vec<RunFinding>> {
        self.require(AccountRole::Admin)?;
        self.store.open_findings().await
    }

    /// Clears or confirms a suspicious finding of a run, with a reason of 1 to
    /// 500 characters; for administrators, who may have submitted the run
    /// themselves. Another decision replaces it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the reason; [`Error::Conflict`] when the finding
    /// is not suspicious.
    pub async fn review_finding(
        &self,
        run_id: &str,
        finding: &FindingId,
        decision: Decision,
        reason: &str,
    ) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.visible_run(run_id).await?;
        let reason = reason.trim();
        if !(1..=LONGEST_REASON).contains(&reason.chars().count()) {
            return Err(Error::Invalid(format!(
                "say why, in 1 to {LONGEST_REASON} characters"
            )));
        }
        let decided = FindingDecision { decision, reason };
        self.store
            .review_finding(run_id, finding, decided, self.by())
            .await
    }
}
