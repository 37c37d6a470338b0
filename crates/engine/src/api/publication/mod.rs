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
        let reason = reason.trim();
        if !(1..=LONGEST_REASON).contains(&reason.chars().count()) {
            return Err(Error::Invalid(format!(
                "say why it is withdrawn, in 1 to {LONGEST_REASON} characters"
            )));
        }
        match run.visibility {
            Visibility::Withdrawn => Ok(()),
            Visibility::Private => Err(Error::Conflict(
                "this run is private; there is nothing to withdraw".into(),
            )),
            Visibility::Public => self.store.withdraw(run_id, reason, self.by()).await,
        }
    }
}

#[cfg(test)]
mod tests;
