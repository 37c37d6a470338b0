//! How one gets in by name and password, and how passwords are changed.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::account::{AccountRole, Identity};
use swe_ci_core::credentials::{account_name, check_password};

use super::known_name;
use crate::Engine;
use crate::clock::now_ms;
use crate::error::{Error, Result};
use crate::store::{Attempt, Credentials};

impl Engine {
    /// Who has this name and this password.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for everybody else, in the same words and
    /// after the same time whether or not there is such an account, and for
    /// accounts that are disabled; [`Error::TooMany`] after five wrong passwords
    /// in a row, for a minute, then twice as long each time, an hour at most.
    pub async fn sign_in(&self, name: &str, password: &SecretString) -> Result<Identity> {
        let found = self.whose_password(name, password).await?;
        let store = &self.inner.store;
        if !found.disabled && store.let_in(&found).await? {
            return Ok(found.identity);
        }
        // Only who knows the password learns that.
        store
            .note_refusal(&found.identity.name, "the account is disabled", self.by())
            .await?;
        Err(Error::Unauthenticated(
            "this account is disabled; an administrator can enable it".into(),
        ))
    }

    /// Gives the own account another password; all its sessions end, this one
    /// too.
    ///
    /// # Errors
    /// [`Error::Invalid`] when `old` is not the present one, or `new` cannot be
    /// used; [`Error::TooMany`] as for [`Engine::sign_in`];
    /// [`Error::Unauthenticated`] for visitors.
    pub async fn change_password(&self, old: &SecretString, new: &SecretString) -> Result<()> {
        let who = self.own_account()?;
        check(new, &who.name)?;
        let found = self.whose_password(&who.name, old).await;
        found.map_err(|error| match error {
            Error::Unauthenticated(_) => Error::Invalid("this is not the present password".into()),
            other => other,
        })?;
        let hash = self.inner.passwords.hash(new).await?;
        self.inner
            .store
            .set_password(&who.name, &hash, "account.change_password", self.by())
            .await
    }

    /// Gives the own account, which has none, a password; all its sessions end,
    /// this one too. Not for tokens, which may do less than their account: whoever
    /// calls makes sure of that.
    ///
    /// # Errors
    /// [`Error::Invalid`] when `new` cannot be used; [`Error::Conflict`] where
    /// there is a password; [`Error::Unauthenticated`] for visitors.
    pub async fn set_first_password(&self, new: &SecretString) -> Result<()> {
        let who = self.own_account()?;
        check(new, &who.name)?;
        let hash = self.inner.passwords.hash(new).await?;
        let store = &self.inner.store;
        store
            .set_first_password(&who.account_id, &hash, self.by())
            .await
    }

    /// Gives an account another password, ends all its sessions, and lets it
    /// in again where it is locked; for administrators.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Invalid`] when `new` cannot be used;
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn reset_password(&self, name: &str, new: &SecretString) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let name = known_name(name)?;
        check(new, &name)?;
        let hash = self.inner.passwords.hash(new).await?;
        self.inner
            .store
            .set_password(&name, &hash, "account.reset_password", self.by())
            .await
    }

    async fn whose_password(&self, name: &str, password: &SecretString) -> Result<Credentials> {
        let found = self.attempt(name).await?;
        let hash = found.as_ref().map(|found| found.password.clone());
        // One who always came by another site has no password to be right.
        let hash = hash.filter(|hash| !hash.is_empty());
        let right = self.inner.passwords.verify(password, hash).await?;
        let (who, why) = match found {
            Some(found) if right => return Ok(found),
            Some(found) if found.locks_for > 0 => {
                let why = format!("wrong password; locked for {} s", found.locks_for);
                (found.identity.name, why)
            }
            Some(found) => (found.identity.name, "wrong password".into()),
            // What was typed in the place of a name may be a password.
            None => (String::new(), "unknown name".into()),
        };
        self.inner.store.note_refusal(&who, &why, self.by()).await?;
        Err(Error::Unauthenticated(
            "name or password is wrong; mind capital letters".into(),
        ))
    }

    /// What a password is held against; none where nobody has this name.
    async fn attempt(&self, name: &str) -> Result<Option<Credentials>> {
        let Ok(name) = account_name(name) else {
            return Ok(None);
        };
        let until = match self.inner.store.attempt(&name).await? {
            Attempt::Open(found) => return Ok(Some(found)),
            Attempt::Locked { until } => Some(until),
            Attempt::Unknown => self.inner.strangers.locked(&name, now_ms()),
        };
        match until {
            None => Ok(None),
            Some(until) => Err(Error::TooMany {
                retry_after: Duration::from_millis(
                    u64::try_from(until.saturating_sub(now_ms())).unwrap_or_default(),
                ),
            }),
        }
    }
}

fn check(password: &SecretString, name: &str) -> Result<()> {
    check_password(password.expose_secret(), name).map_err(|e| Error::Invalid(e.into()))
}
