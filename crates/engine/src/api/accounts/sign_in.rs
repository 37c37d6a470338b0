//! Sign-in by name and password, changes of passwords, and sessions of signed-in
//! browsers. The browser holds a session's `id`; only its digest is stored.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_store::{Attempt, Credentials, SessionData};
use swe_ci_views::account::{AccountRole, Identity};
use swe_ci_views::credentials::{account_name, check_password};

use super::secret::digest;
use super::{disabled, known_name};
use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The account with this name and this password.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for a wrong name or password, with the same
    /// text and after the same time whether or not there is such an account,
    /// and for disabled accounts; [`Error::TooMany`] after five wrong passwords
    /// in a row, for a minute, then twice as long each time, an hour at most.
    pub async fn sign_in(&self, name: &str, password: &SecretString) -> Result<Identity> {
        let credentials = self.verified_credentials(name, password).await?;
        if !credentials.disabled && self.store.let_in(&credentials).await? {
            return Ok(credentials.identity);
        }
        // Only a caller who knows the password learns this.
        let (name, why) = (&credentials.identity.name, "the account is disabled");
        self.store.note_refusal(name, why, self.by()).await?;
        Err(disabled())
    }

    /// Changes the account's password and ends all its sessions, including the
    /// current one.
    ///
    /// # Errors
    /// [`Error::Invalid`] when `old` is not the present one, or `new` is
    /// invalid; [`Error::TooMany`] as for [`Engine::sign_in`].
    pub async fn change_password(&self, old: &SecretString, new: &SecretString) -> Result<()> {
        let who = self.own_account()?;
        check(new, &who.name)?;
        let credentials = self.verified_credentials(&who.name, old).await;
        credentials.map_err(|error| match error {
            Error::Unauthenticated(_) => Error::Invalid("this is not the present password".into()),
            other => other,
        })?;
        let hash = self.passwords.hash(new).await?;
        self.store
            .set_password(&who.name, &hash, "account.change_password", self.by())
            .await
    }

    /// Sets the first password of the account and ends all its sessions,
    /// including the current one. Not for tokens, which may do less than their
    /// account: the caller must ensure that.
    ///
    /// # Errors
    /// [`Error::Invalid`] when `new` is invalid; [`Error::Conflict`] when there
    /// is a password.
    pub async fn set_first_password(&self, new: &SecretString) -> Result<()> {
        let who = self.own_account()?;
        check(new, &who.name)?;
        let hash = self.passwords.hash(new).await?;
        self.store
            .set_first_password(&who.account_id, &hash, self.by())
            .await
    }

    /// Sets another account's password, ends all its sessions, and unlocks it;
    /// for administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] when `new` is invalid.
    pub async fn reset_password(&self, name: &str, new: &SecretString) -> Result<()> {
        self.require(AccountRole::Admin)?;
        let name = known_name(name)?;
        check(new, &name)?;
        let hash = self.passwords.hash(new).await?;
        self.store
            .set_password(&name, &hash, "account.reset_password", self.by())
            .await
    }

    /// None if it is unknown, ended or expired.
    pub async fn session(&self, id: &str) -> Result<Option<SessionData>> {
        self.store.session(&digest(id)).await
    }

    /// Stores a session's changes; an ended one stays ended.
    pub async fn keep_session(&self, id: &str, session: &SessionData) -> Result<()> {
        self.store.update_session(&digest(id), session).await
    }

    /// Stores a new session; false when its id is taken.
    pub async fn new_session(&self, id: &str, session: &SessionData) -> Result<bool> {
        self.store.insert_session(&digest(id), session).await
    }

    /// Ends a session; no effect if there is none.
    pub async fn end_session(&self, id: &str) -> Result<()> {
        self.store.end_session(&digest(id)).await
    }

    async fn verified_credentials(
        &self,
        name: &str,
        password: &SecretString,
    ) -> Result<Credentials> {
        let credentials = self.credentials(name).await?;
        let hash = credentials.as_ref().map(|known| known.password.clone());
        // An account that only signs in by another site has no password.
        let hash = hash.filter(|hash| !hash.is_empty());
        let right = self.passwords.verify(password, hash).await?;
        let (who, why) = match credentials {
            Some(credentials) if right => return Ok(credentials),
            Some(credentials) if credentials.locks_for > 0 => {
                let why = format!("wrong password; locked for {} s", credentials.locks_for);
                (credentials.identity.name, why)
            }
            Some(credentials) => (credentials.identity.name, "wrong password".into()),
            // Not recorded: a typed name may be a password.
            None => (String::new(), "unknown name".into()),
        };
        self.store.note_refusal(&who, &why, self.by()).await?;
        Err(Error::Unauthenticated("wrong name or password".into()))
    }

    /// The credentials to verify a password against; none if the name is
    /// unknown.
    async fn credentials(&self, name: &str) -> Result<Option<Credentials>> {
        let Ok(name) = account_name(name) else {
            return Ok(None);
        };
        let until = match self.store.attempt(&name).await? {
            Attempt::Open(credentials) => return Ok(Some(credentials)),
            Attempt::Locked { until } => Some(until),
            Attempt::Unknown => self.lockouts.locked(&name, now_ms()),
        };
        until.map_or(Ok(None), |until| {
            let ms = u64::try_from(until.saturating_sub(now_ms())).unwrap_or_default();
            let retry_after = Duration::from_millis(ms);
            Err(Error::TooMany { retry_after })
        })
    }
}

fn check(password: &SecretString, name: &str) -> Result<()> {
    check_password(password.expose_secret(), name).map_err(|e| Error::Invalid(e.into()))
}
