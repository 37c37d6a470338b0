//! How one comes by an account: by a link that somebody was given.

use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::account::{AccountRole, Identity, InvitationView};
use swe_ci_core::credentials::{account_name, check_password};

use super::{DAY, after, one_line, secret};
use crate::Engine;
use crate::error::{Error, Result};
use crate::store::{NewAccount, NewInvitation};

/// For so many days a link can be followed.
const DAYS: u32 = 7;
/// The longest note, in characters.
const LONGEST_NOTE: usize = 200;

impl Engine {
    /// The secret of the link that makes the first administrator; none once
    /// there is an account. Each time there is a new one, and the one before
    /// leads nowhere any more.
    pub async fn first_invitation(&self) -> Result<Option<SecretString>> {
        self.require(AccountRole::Admin)?;
        let (new, secret) = link(AccountRole::Admin, "the first administrator".into())?;
        let made = self.inner.store.put_first_invitation(&new).await?;
        Ok(made.then_some(secret))
    }

    /// Makes a link by which somebody makes themselves an account of this role
    /// within 7 days, once; returns it with its secret, which is kept nowhere.
    /// For administrators. `note` says whom it is for, in up to 200 characters.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the note; [`Error::Unauthenticated`],
    /// [`Error::Forbidden`].
    pub async fn invite(
        &self,
        role: AccountRole,
        note: &str,
    ) -> Result<(InvitationView, SecretString)> {
        self.require(AccountRole::Admin)?;
        let (new, secret) = link(role, one_line("a note", note, 0, LONGEST_NOTE)?)?;
        let view = self.inner.store.insert_invitation(&new, self.by()).await?;
        Ok((view, secret))
    }

    /// The invitations that can still be followed, newest first; for
    /// administrators.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn invitations(&self) -> Result<Vec<InvitationView>> {
        self.require(AccountRole::Admin)?;
        self.inner.store.invitations().await
    }

    /// Makes an invitation lead nowhere; for administrators.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it was used already or never was;
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn withdraw_invitation(&self, id: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.inner.store.withdraw_invitation(id, self.by()).await
    }

    /// What a link of this secret leads to; for anybody who has it.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it was used, withdrawn, has expired or never
    /// was.
    pub async fn invitation(&self, secret: &str) -> Result<InvitationView> {
        let found = self.inner.store.invitation(&secret::digest(secret)).await?;
        found.ok_or_else(leads_nowhere)
    }

    /// Makes the account that a link is for; it can be done once.
    ///
    /// # Errors
    /// [`Error::NotFound`] as for [`Engine::invitation`]; [`Error::Invalid`]
    /// when name or password cannot be used, [`Error::Conflict`] when the name
    /// is taken: the link can be followed again.
    pub async fn accept_invitation(
        &self,
        secret: &str,
        name: &str,
        password: &SecretString,
    ) -> Result<Identity> {
        // Strangers cannot make us hash passwords.
        self.invitation(secret).await?;
        let name = account_name(name).map_err(|e| Error::Invalid(e.into()))?;
        check_password(password.expose_secret(), &name).map_err(|e| Error::Invalid(e.into()))?;
        let hash = self.inner.passwords.hash(password).await?;
        let new = NewAccount {
            names: &[name],
            password: &hash,
            identity: None,
        };
        let digest = secret::digest(secret);
        let made = self.inner.store.accept_invitation(&digest, &new).await?;
        made.ok_or_else(leads_nowhere)
    }
}

/// A link and its secret, of which only the digest is kept.
fn link(role: AccountRole, note: String) -> Result<(NewInvitation, SecretString)> {
    let secret = secret::random("")?;
    let new = NewInvitation {
        digest: secret::digest(secret.expose_secret()),
        role,
        note,
        expires_at: after(DAY * DAYS),
    };
    Ok((new, secret))
}

/// Says nothing of the secret, which may be one that is good elsewhere.
pub(super) fn leads_nowhere() -> Error {
    Error::not_found("open invitation behind", "this link")
}
