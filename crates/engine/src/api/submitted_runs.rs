//! The review queue: runs that others submitted, what the checks say about them,
//! and the decisions of administrators.

use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::AccountRole;
use swe_ci_views::background::{WorkKind, WorkState};
use swe_ci_views::submitted::{
    CheckState, CheckVerdict, ReviewDecision, ReviewState, SubmissionCheck, SubmittedRun,
};

use super::publication::reason_for;
use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The submitted runs, the latest first: all for administrators, for others
    /// their own.
    pub async fn submitted_runs(&self) -> Result<Vec<SubmittedRun>> {
        self.require(AccountRole::Submitter)?;
        match self.by().is(AccountRole::Admin) {
            true => self.checked(self.store.submitted_runs(None).await?).await,
            false => self.submitted_by(self.by().name()).await,
        }
    }

    pub(crate) async fn submitted_by(&self, account: &str) -> Result<Vec<SubmittedRun>> {
        self.checked(self.store.submitted_runs(Some(account)).await?)
            .await
    }

    /// A submitted run with the verdicts about it.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run that was made here too.
    pub async fn submitted_run(&self, run_id: &str) -> Result<SubmittedRun> {
        self.visible_run(run_id).await?;
        let run = self.store.submitted_run(run_id).await?;
        let run = run.ok_or_else(|| Error::not_found("submission", run_id))?;
        let verdicts = self.verdicts(&run).await?;
        Ok(run.with_verdicts(verdicts))
    }

    /// Publishes a submitted run that passed its checks, with the mark of a verified
    /// one; for administrators.
    ///
    /// # Errors
    /// [`Error::Conflict`] for one that has not passed them, or is decided.
    pub async fn publish_submission(&self, run_id: &str) -> Result<SubmittedRun> {
        self.require(AccountRole::Admin)?;
        let run = self.submitted_run(run_id).await?;
        let why = match run.state {
            ReviewState::InReview => None,
            ReviewState::Checking => Some("its checks are not over".to_owned()),
            ReviewState::Published => Some("it is published already".to_owned()),
            ReviewState::Refused => Some(run.refusal().unwrap_or_default()),
        };
        if let Some(why) = why {
            return Err(Error::Conflict(format!(
                "run {run_id} cannot be published: {why}"
            )));
        }
        self.mark_verified(run_id).await?;
        self.decide(run_id, true, "").await?;
        self.submitted_run(run_id).await
    }

    /// Refuses a submitted run, with a reason of 1 to 500 characters for its
    /// submitter; for administrators.
    ///
    /// # Errors
    /// [`Error::Conflict`] for one that is decided.
    pub async fn refuse_submission(&self, run_id: &str, reason: &str) -> Result<SubmittedRun> {
        self.require(AccountRole::Admin)?;
        self.submitted_run(run_id).await?;
        let reason = reason_for("it is refused", reason)?;
        self.decide(run_id, false, reason).await?;
        self.submitted_run(run_id).await
    }

    async fn decide(&self, run_id: &str, published: bool, reason: &str) -> Result<()> {
        let decision = ReviewDecision {
            published,
            by: self.by().name().to_owned(),
            reason: reason.to_owned(),
        };
        self.store
            .decide_submission(run_id, &decision, self.by())
            .await
    }

    async fn checked(&self, runs: Vec<SubmittedRun>) -> Result<Vec<SubmittedRun>> {
        let mut checked = Vec::with_capacity(runs.len());
        for run in runs {
            let verdicts = self.verdicts(&run).await?;
            checked.push(run.with_verdicts(verdicts));
        }
        Ok(checked)
    }

    async fn verdicts(&self, run: &SubmittedRun) -> Result<Vec<CheckVerdict>> {
        let id = &run.run_id;
        let archive = format!(
            "complete, counted as its reports say, signed by {}",
            run.signer
        );
        let found = self.store.verification(id).await?;
        let mut grading = CheckVerdict::of_grading(found.as_ref());
        let work = self.last_work(WorkKind::Verification, id).await?;
        // It can be started again from the run's page.
        if let (None, Some(WorkState::Failed { reason })) = (&found, work.map(|work| work.state)) {
            grading.text = format!("its tests could not run again: {reason}");
        }
        let audits = self.store.audits_of_run(id).await?;
        let audits = audits.iter().map(|(_, audit)| audit);
        Ok(vec![
            CheckVerdict::new(SubmissionCheck::Archive, CheckState::Passed, archive),
            grading,
            CheckVerdict::of_audits(self.pending_audits(id).await?, audits),
        ])
    }
}
