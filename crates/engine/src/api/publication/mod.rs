//! Publication of runs: publishing for everybody, and withdrawing with a
//! reason.

use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::{AccountRole, Visibility};

use crate::Engine;

/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Publishes a run, for its submitter and administrators; a withdrawn one,
    /// for administrators only. Idempotent.
    ///
    /// # Errors
    /// [`Error::Conflict`] for a handover from a run that is not public.
    pub async fn publish(&self, run_id: &str) -> Result<()> {
        let run = self.steerable_run(run_id).await?;
        match run.visibility {
            Visibility::Public => return Ok(()),
            // Otherwise the owner could publish a run again that was withdrawn
            // for its faults.
            Visibility::Withdrawn if !self.by().is(AccountRole::Admin) => {
                return Err(Error::Forbidden(
                    "this run was withdrawn; an administrator can publish it again".into(),
                ));
            }
            Visibility::Withdrawn | Visibility::Private => {}
        }
        if let Some(submitted) = self.store.submitted_run(run_id).await?
            && submitted
                .decision
                .is_none_or(|decision| !decision.published)
        {
            return Err(Error::Conflict(
                "this run was submitted from elsewhere; only its review publishes it".into(),
            ));
        }
        if let Some(handover) = &run.config.handover {
            let earlier = self.store.standing(&handover.run).await?;
            if earlier.visibility != Visibility::Public {
                return Err(Error::Conflict(format!(
                    "this run goes on with the code of run {}, which is not public; publish that one first",
                    handover.run
                )));
            }
        }
        self.store.publish(run_id, self.by()).await
    }

    /// Withdraws a published run, with a reason of 1 to 500 characters for
    /// those who may still see it: its submitter and administrators. A run that
    /// is already withdrawn stays as it is.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the reason; [`Error::Conflict`] when it was never
    /// published.
    pub async fn unpublish(&self, run_id: &str, reason: &str) -> Result<()> {
        let run = self.steerable_run(run_id).await?;
        let reason = reason_for("it is withdrawn", reason)?;
        match run.visibility {
            Visibility::Withdrawn => Ok(()),
            Visibility::Private => Err(Error::Conflict(
                "this run is private; there is nothing to withdraw".into(),
            )),
            Visibility::Public => self.store.withdraw(run_id, reason, self.by()).await,
        }
    }
}

/// A reason without the space around it.
pub(super) fn reason_for<'a>(what: &str, reason: &'a str) -> Result<&'a str> {
    let reason = reason.trim();
    match (1..=LONGEST_REASON).contains(&reason.chars().count()) {
        true => Ok(reason),
        false => Err(Error::Invalid(format!(
            "say why {what}, in 1 to {LONGEST_REASON} characters"
        ))),
    }
}

#[cfg(test)]
mod tests;
