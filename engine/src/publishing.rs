//! Who may see a run: published for everybody, or taken back with a reason.

use swe_ci_core::account::{AccountRole, Visibility};

use crate::Engine;
use crate::error::{Error, Result};

/// The longest reason, in characters.
const LONGEST_REASON: usize = 500;

impl Engine {
    /// Shows a run to everybody, for whoever submitted it and for
    /// administrators; one that was taken back, for administrators alone.
    /// Publishing twice is the same as once.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn publish(&self, run_id: &str) -> Result<()> {
        let run = self.steered_run(run_id).await?;
        match run.visibility {
            Visibility::Public => return Ok(()),
            // Else a run that was taken back for its faults would come again.
            Visibility::Withdrawn if !self.by().is(AccountRole::Admin) => {
                return Err(Error::Forbidden(
                    "this run was taken back; an administrator can publish it again".into(),
                ));
            }
            Visibility::Withdrawn | Visibility::Private => {}
        }
        self.inner.store.publish(run_id, self.by()).await
    }

    /// Takes a published run back, with a reason of 1 to 500 characters that
    /// those are shown who may still see it: whoever submitted it, and
    /// administrators. What was taken back already stays as it is.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the reason; [`Error::Conflict`] when it was never
    /// published; [`Error::NotFound`], [`Error::Unauthenticated`],
    /// [`Error::Forbidden`].
    pub async fn unpublish(&self, run_id: &str, reason: &str) -> Result<()> {
        let run = self.steered_run(run_id).await?;
        let reason = reason.trim();
        if !(1..=LONGEST_REASON).contains(&reason.chars().count()) {
            return Err(Error::Invalid(format!(
                "say why it is taken back, in 1 to {LONGEST_REASON} characters"
            )));
        }
        match run.visibility {
            Visibility::Withdrawn => Ok(()),
            Visibility::Private => Err(Error::Conflict(
                "this run is private; there is nothing to take back".into(),
            )),
            Visibility::Public => self.inner.store.withdraw(run_id, reason, self.by()).await,
        }
    }
}

#[cfg(test)]
mod tests;
