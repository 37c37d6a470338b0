//! Whom the façade acts for, and what that allows.
//!
//! What somebody may not see is not there for them: the answer is "not found",
//! which tells nothing. What they see and may not change is forbidden.

use std::sync::Arc;

use swe_ci_core::account::{AccountRole, Actor};
use swe_ci_core::view::RunSummary;

use crate::Engine;
use crate::error::{Error, Result};
use crate::store::{EvolutionRow, Whose};

impl Engine {
    /// The same engine in the hands of somebody else.
    #[must_use]
    pub fn acting_for(&self, by: Actor) -> Self {
        Self {
            inner: self.inner.clone(),
            by: Arc::new(by),
        }
    }

    /// Whom it acts for.
    #[must_use]
    pub fn by(&self) -> &Actor {
        &self.by
    }

    /// Goes on only for those who have this role.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for visitors, [`Error::Forbidden`] for
    /// accounts with less.
    pub fn require(&self, role: AccountRole) -> Result<()> {
        if self.by.is(role) {
            return Ok(());
        }
        Err(match self.by() {
            Actor::Visitor => Error::Unauthenticated("sign in first, or send an API token".into()),
            _ => Error::Forbidden(format!(
                "this takes the role {}; an administrator can give it to your account",
                role.name()
            )),
        })
    }

    /// A run, for those who may see it.
    pub(crate) async fn seen_run(&self, id: &str) -> Result<RunSummary> {
        let standing = self.inner.store.standing(id).await?;
        if !self.by.may_see(&standing) {
            return Err(Error::not_found("run", id));
        }
        self.inner.store.run(id).await
    }

    /// An evolution of a run, for those who may see that.
    pub(crate) async fn seen_evolution(&self, id: &str) -> Result<EvolutionRow> {
        let row = self.inner.store.evolution(id).await?;
        let standing = self.inner.store.standing(&row.run_id).await?;
        if !self.by.may_see(&standing) {
            return Err(Error::not_found("evolution", id));
        }
        Ok(row)
    }

    /// A run, for those who may change how it goes on and who sees it.
    pub(crate) async fn steered_run(&self, id: &str) -> Result<RunSummary> {
        let run = self.seen_run(id).await?;
        self.require(AccountRole::Submitter)?;
        let standing = self.inner.store.standing(id).await?;
        if !self.by.may_steer(&standing) {
            return Err(Error::Forbidden(
                "only whoever submitted this run and administrators may do that".into(),
            ));
        }
        Ok(run)
    }

    /// Whose runs a list shows.
    pub(crate) fn whose(&self) -> Whose {
        match self.by() {
            by if by.is(AccountRole::Admin) => Whose::All,
            by => by
                .identity()
                .map_or(Whose::Public, |who| Whose::Of(who.account_id.clone())),
        }
    }
}
