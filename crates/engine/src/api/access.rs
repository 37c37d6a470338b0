//! Access: the actor the façade serves, and what that actor may do.
//!
//! Data an actor may not see does not exist for it: the answer is "not found",
//! which discloses nothing. A change of data it only may see is forbidden.

use std::sync::Arc;

use swe_ci_base::error::{Error, Result};
use swe_ci_store::{EvolutionRow, Whose};
use swe_ci_views::account::{AccountRole, Actor};
use swe_ci_views::view::RunSummary;

use crate::Engine;

impl Engine {
    /// The same engine for another actor.
    #[must_use]
    pub fn acting_for(&self, by: Actor) -> Self {
        Self {
            parts: self.parts.clone(),
            by: Arc::new(by),
        }
    }

    pub fn by(&self) -> &Actor {
        &self.by
    }

    /// Requires this role of the actor.
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

    /// A run, if the actor may see it.
    pub(crate) async fn visible_run(&self, id: &str) -> Result<RunSummary> {
        let standing = self.store.standing(id).await?;
        if !self.by.may_see(&standing) {
            return Err(Error::not_found("run", id));
        }
        self.store.run(id).await
    }

    /// An evolution, if the actor may see its run.
    pub(crate) async fn visible_evolution(&self, id: &str) -> Result<EvolutionRow> {
        let row = self.store.evolution(id).await?;
        let standing = self.store.standing(&row.run_id).await?;
        if !self.by.may_see(&standing) {
            return Err(Error::not_found("evolution", id));
        }
        Ok(row)
    }

    /// A run, if the actor may see and steer it.
    pub(crate) async fn steerable_run(&self, id: &str) -> Result<RunSummary> {
        let run = self.visible_run(id).await?;
        self.require(AccountRole::Submitter)?;
        let standing = self.store.standing(id).await?;
        if !self.by.may_steer(&standing) {
            return Err(Error::Forbidden(
                "only the submitter of this run and administrators may do that".into(),
            ));
        }
        Ok(run)
    }

    /// The runs that lists show the actor.
    pub(crate) fn visible_runs(&self) -> Whose {
        if self.by.is(AccountRole::Admin) {
            return Whose::All;
        }
        let who = self.by.identity();
        who.map_or(Whose::Public, |who| Whose::Of(who.account_id.clone()))
    }
}
