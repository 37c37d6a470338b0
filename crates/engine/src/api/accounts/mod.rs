//! Accounts: roles, permissions, and the audit log. `invitations` create
//! accounts; `sign_in`, `identities` and `tokens` authenticate them.

mod identities;
mod invitations;
mod lockouts;
mod passwords;
mod secret;
mod sign_in;
#[cfg(test)]
mod tests;
mod tokens;

use std::time::Duration;

use swe_ci_base::error::{Error, Result};
use swe_ci_store::Whose;
use swe_ci_views::account::{AccountRole, AccountView, Actor, AuditEntry, FirstSteps, Identity};
use swe_ci_views::credentials::account_name;
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::Page;

use crate::Engine;
use crate::api::runs::{PageRequest, page};

pub use identities::{Admission, FollowedInvitation};
pub use lockouts::UnknownNameLockouts;
pub use passwords::Passwords;

const DAY: Duration = Duration::from_hours(24);

#[swe_ci_boxed::boxed]
impl Engine {
    /// All accounts, by name; for administrators.
    pub async fn accounts(&self) -> Result<Vec<AccountView>> {
        self.require(AccountRole::Admin)?;
        self.store.accounts().await
    }

    /// Changes an account's role at once; for administrators.
    ///
    /// # Errors
    /// [`Error::Conflict`] for the last administrator.
    pub async fn set_role(&self, name: &str, role: AccountRole) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let name = known_name(name)?;
        self.store.set_role(&name, role, self.by()).await
    }

    /// Disables an account at once, with all its sessions and tokens, or
    /// enables it again; for administrators.
    ///
    /// # Errors
    /// [`Error::Conflict`] for the last administrator.
    pub async fn set_disabled(&self, name: &str, disabled: bool) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let name = known_name(name)?;
        self.store.set_disabled(&name, disabled, self.by()).await
    }

    /// An account's present identity; none if it is deleted or disabled.
    pub async fn identity(&self, account_id: &str) -> Result<Option<Identity>> {
        self.store.identity(account_id).await
    }

    /// What the account has done on the way to a first result.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] and [`Error::Forbidden`] for actors that
    /// submit no runs.
    pub async fn first_steps(&self) -> Result<FirstSteps> {
        let keys = self.key_names().await?;
        let id = &self.own_account()?.account_id;
        let (own, all) = (Whose::Own(id.clone()), RunFilter::default());
        Ok(FirstSteps {
            key: !keys.is_empty(),
            run: !self.store.runs(&own, &all, "", 1).await?.is_empty(),
            notifications: !self.store.targets(id).await?.is_empty(),
        })
    }

    /// The audit log, newest first; about one run, account, … or about all. For
    /// administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a limit out of range, [`Error::NoSuchPage`] when the page
    /// begins after no id.
    pub async fn audit(
        &self,
        request: &PageRequest,
        subject: Option<&str>,
    ) -> Result<Page<AuditEntry>> {
        self.require(AccountRole::Admin)?;
        let limit = request.limit()?;
        let entries = self
            .store
            .audit(subject, request.after_id()?, limit + 1)
            .await?;
        Ok(page(entries, limit, |entry| entry.entry_id.clone()))
    }

    /// Deletes expired sessions, invitations and tokens; returns their number.
    /// They are invalid from their expiry on, deleted or not.
    pub async fn sweep_accounts(&self) -> Result<u64> {
        self.require(AccountRole::Admin)?;
        self.store.sweep_accounts().await
    }

    pub(crate) fn own_account(&self) -> Result<&Identity> {
        match self.by() {
            Actor::Account(who) => Ok(who),
            Actor::Visitor => Err(Error::Unauthenticated(
                "sign in first; a program sends an API token".into(),
            )),
            Actor::Operator => Err(Error::Forbidden(
                "the command line has no account of its own; sign in on the site".into(),
            )),
        }
    }
}

/// The stored form of a name; an invalid name has no account.
fn known_name(name: &str) -> Result<String> {
    account_name(name).map_err(|_| Error::not_found("account", name))
}

fn disabled() -> Error {
    Error::Unauthenticated("this account is disabled; an administrator can enable it".into())
}

/// Checks a label that a user enters: `least` to `most` characters on one line.
fn one_line(what: &str, text: &str, least: usize, most: usize) -> Result<String> {
    let text = text.trim();
    let fits = (least..=most).contains(&text.chars().count());
    if fits && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(Error::Invalid(format!(
            "{what} has {least} to {most} characters, on one line"
        )))
    }
}
