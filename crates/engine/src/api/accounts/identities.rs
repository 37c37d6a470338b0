//! Sign-in by an identity at another site. The server has verified the identity
//! before it calls these methods.

use serde::{Deserialize, Serialize};
use swe_ci_base::error::{Error, Result};
use swe_ci_store::{Entry, NewAccount, ProvenIdentity};
use swe_ci_views::account::{AccountRole, Identity, WaysIn};
use swe_ci_views::credentials::names_like;

use super::invitations::leads_nowhere;
use super::{disabled, secret};
use crate::Engine;

const MOST_IDENTITIES: usize = 20;

/// How someone without an account gets one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// Not at all: only linked identities may sign in.
    Linked,
    /// By an invitation, with its role.
    Invited(FollowedInvitation),
    /// By signing in, with this role.
    Anyone(AccountRole),
}

/// An invitation being followed, to be accepted later. It does not hold the
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowedInvitation(String);

#[swe_ci_boxed::boxed]
impl Engine {
    /// Remembers a followed invitation while its holder proves an identity
    /// elsewhere.
    ///
    /// # Errors
    /// [`Error::NotFound`] as for [`Engine::invitation`].
    pub async fn follow_invitation(&self, secret: &str) -> Result<FollowedInvitation> {
        self.invitation(secret).await?;
        Ok(FollowedInvitation(secret::digest(secret)))
    }

    /// Signs in the account linked to an identity; creates one for others, if
    /// they are admitted. A new account has no password, and the free name most
    /// like `called`.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when the account is disabled;
    /// [`Error::Forbidden`] when there is none and they are not admitted;
    /// [`Error::NotFound`] when the invitation is no longer valid;
    /// [`Error::Conflict`] when the identity was linked meanwhile.
    pub async fn sign_in_as(
        &self,
        who: &ProvenIdentity,
        called: &str,
        admission: &Admission,
    ) -> Result<Identity> {
        match self.store.enter(who).await? {
            Entry::In(identity) => return Ok(identity),
            Entry::Disabled(name) => {
                let why = format!("{}: the account is disabled", who.provider);
                self.store.note_refusal(&name, &why, self.by()).await?;
                return Err(disabled());
            }
            Entry::Unknown => {}
        }
        let names: Vec<String> = names_like(called).collect();
        let new = NewAccount {
            names: &names,
            password: "",
            identity: Some(who),
        };
        match admission {
            Admission::Linked => {
                let why = format!("no account is linked to `{}`", who.shown_as);
                self.refuse_from(&who.provider, &why).await?;
                Err(Error::Forbidden(why))
            }
            Admission::Invited(FollowedInvitation(digest)) => {
                let made = self.store.accept_invitation(digest, &new).await?;
                made.ok_or_else(leads_nowhere)
            }
            Admission::Anyone(role) => {
                let how = format!("{}: {}", who.provider, who.shown_as);
                self.store.insert_account(&new, *role, &how).await
            }
        }
    }

    /// Records a refused sign-in by a provider and its reason; never with a
    /// secret.
    pub async fn refuse_from(&self, provider: &str, why: &str) -> Result<()> {
        let why = format!("{provider}: {why}");
        self.store.note_refusal("", &why, self.by()).await
    }

    /// Links an identity to the actor's account.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is linked to another account, or there are
    /// 20 already.
    pub async fn link_identity(&self, who: &ProvenIdentity) -> Result<()> {
        let own = &self.own_account()?.account_id;
        self.store.link(own, who, MOST_IDENTITIES, self.by()).await
    }

    pub async fn ways_in(&self) -> Result<WaysIn> {
        let own = &self.own_account()?.account_id;
        self.store.ways_in(own).await
    }

    /// Unlinks an identity from the actor's account. `offered` are the ids of
    /// the configured providers: identities of others no longer work. As for
    /// [`Engine::set_first_password`], not for tokens.
    ///
    /// # Errors
    /// [`Error::Conflict`] for the last way in.
    pub async fn unlink_identity(
        &self,
        provider: &str,
        subject: &str,
        offered: &[String],
    ) -> Result<()> {
        let own = &self.own_account()?.account_id;
        self.store
            .unlink(own, provider, subject, offered, self.by())
            .await
    }
}
