//! The façade's accounts: who may do what, and who did. How one comes by an
//! account is in `invitations`, how one gets in by it in `signing_in`,
//! `identities`, `sessions` and `tokens`.

mod identities;
mod invitations;
mod passwords;
mod secret;
mod sessions;
mod signing_in;
mod strangers;
#[cfg(test)]
mod tests;
mod tokens;

use std::time::Duration;

use swe_ci_core::account::{AccountRole, AccountView, Actor, AuditEntry, Identity};
use swe_ci_core::credentials::account_name;
use swe_ci_core::view::Page;

use crate::Engine;
use crate::clock::now_ms;
use crate::error::{Error, Result};
use crate::read::{PageRequest, page};

pub use identities::{Admission, FollowedInvitation};
pub use passwords::Passwords;
pub use strangers::Strangers;

const DAY: Duration = Duration::from_hours(24);

impl Engine {
    /// All accounts, by name; for administrators.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn accounts(&self) -> Result<Vec<AccountView>> {
        self.require(AccountRole::Admin)?;
        self.inner.store.accounts().await
    }

    /// Gives an account another role, at once; for administrators.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] for the last administrator;
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn set_role(&self, name: &str, role: AccountRole) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let name = known_name(name)?;
        self.inner.store.set_role(&name, role, self.by()).await
    }

    /// Shuts an account out, at once and with all its sessions and tokens, or
    /// lets it in again; for administrators.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] for the last administrator;
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn set_disabled(&self, name: &str, disabled: bool) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let name = known_name(name)?;
        let store = &self.inner.store;
        store.set_disabled(&name, disabled, self.by()).await
    }

    /// Who an account is now; none where it is gone or disabled.
    pub async fn identity(&self, account_id: &str) -> Result<Option<Identity>> {
        self.inner.store.identity(account_id).await
    }

    /// Who did what, newest first; about one run, account, … or about all. For
    /// administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a limit out of range; [`Error::Unauthenticated`],
    /// [`Error::Forbidden`].
    pub async fn audit(
        &self,
        request: &PageRequest,
        subject: Option<&str>,
    ) -> Result<Page<AuditEntry>> {
        self.require(AccountRole::Admin)?;
        let limit = request.limit()?;
        let entries = self
            .inner
            .store
            .audit(subject, request.after(), limit + 1)
            .await?;
        Ok(page(entries, limit, |entry| entry.entry_id.clone()))
    }

    /// Forgets sessions, invitations and tokens that have expired; returns how
    /// many. They are good for nothing before that as well.
    pub async fn sweep_accounts(&self) -> Result<u64> {
        self.inner.store.sweep_accounts().await
    }

    /// The account it acts for.
    pub(crate) fn own_account(&self) -> Result<&Identity> {
        match self.by() {
            Actor::Account(who) => Ok(who),
            Actor::Visitor => Err(Error::Unauthenticated(
                "sign in first, or send an API token".into(),
            )),
            Actor::Operator => Err(Error::Forbidden(
                "the command line has no account of its own; sign in on the site".into(),
            )),
        }
    }
}

/// As it is kept; what cannot be a name is nobody's.
fn known_name(name: &str) -> Result<String> {
    account_name(name).map_err(|_| Error::not_found("account", name))
}

/// The moment after so much time, in unix milliseconds.
fn after(time: Duration) -> i64 {
    let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    now_ms().saturating_add(ms)
}

/// What somebody calls something: `least` to `most` characters on one line.
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
