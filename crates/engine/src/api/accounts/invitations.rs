//! Invitations: links that create an account.

use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::error::{Error, Result};
use swe_ci_store::{NewAccount, NewInvitation};
use swe_ci_views::account::{AccountRole, Identity, InvitationView};
use swe_ci_views::credentials::{account_name, check_password};

use super::{DAY, one_line, secret};
use crate::{Engine, after};

/// Days for which a link is valid.
const DAYS: u32 = 7;
/// The longest note, in characters.
const LONGEST_NOTE: usize = 200;

#[swe_ci_boxed::boxed]
impl Engine {
    /// The secret of the link that creates the first administrator; none once
    /// there is an account. Each call creates a new one, and voids the one
    /// before.
    pub async fn first_invitation(&self) -> Result<Option<SecretString>> {
        self.require(AccountRole::Admin)?;
        let (new, secret) = link(AccountRole::Admin, "the first administrator".into())?;
        let made = self.store.put_first_invitation(&new).await?;
        Ok(made.then_some(secret))
    }

    /// Creates a link that creates one account of this role within 7 days.
    /// Returns it with its secret, which is stored nowhere. For administrators.
    /// `note` names the recipient, in up to 200 characters.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the note.
    pub async fn invite(
        &self,
        role: AccountRole,
        note: &str,
    ) -> Result<(InvitationView, SecretString)> {
        self.require(AccountRole::Admin)?;
        let (new, secret) = link(role, one_line("a note", note, 0, LONGEST_NOTE)?)?;
        let view = self.store.insert_invitation(&new, self.by()).await?;
        Ok((view, secret))
    }

    /// The valid invitations, newest first; for administrators.
    pub async fn invitations(&self) -> Result<Vec<InvitationView>> {
        self.require(AccountRole::Admin)?;
        self.store.invitations().await
    }

    /// Withdraws an invitation; for administrators.
    pub async fn withdraw_invitation(&self, id: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.store.withdraw_invitation(id, self.by()).await
    }

    /// The invitation with this secret; for anybody who has it.
    ///
    /// # Errors
    /// [`Error::NotFound`] when it was used, withdrawn, has expired or never
    /// existed.
    pub async fn invitation(&self, secret: &str) -> Result<InvitationView> {
        let found = self.store.invitation(&secret::digest(secret)).await?;
        found.ok_or_else(leads_nowhere)
    }

    /// Creates the account of an invitation, and uses it up.
    ///
    /// # Errors
    /// [`Error::NotFound`] as for [`Engine::invitation`]; [`Error::Invalid`]
    /// when name or password is invalid, [`Error::Conflict`] when the name is
    /// taken: the invitation stays valid.
    pub async fn accept_invitation(
        &self,
        secret: &str,
        name: &str,
        password: &SecretString,
    ) -> Result<Identity> {
        // Checked first, so that strangers cannot make the server hash
        // passwords.
        self.invitation(secret).await?;
        let name = account_name(name).map_err(|e| Error::Invalid(e.into()))?;
        check_password(password.expose_secret(), &name).map_err(|e| Error::Invalid(e.into()))?;
        let hash = self.passwords.hash(password).await?;
        let new = NewAccount {
            names: &[name],
            password: &hash,
            identity: None,
        };
        let digest = secret::digest(secret);
        let made = self.store.accept_invitation(&digest, &new).await?;
        made.ok_or_else(leads_nowhere)
    }
}

/// An invitation and its secret; only the digest is stored.
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

/// Does not repeat the secret, which may be valid elsewhere.
pub(super) fn leads_nowhere() -> Error {
    Error::not_found("open invitation behind", "this link")
}
