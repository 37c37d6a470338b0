//! How one gets in by who one is at another site. That it is so, the server
//! has had proven before it asks here.

use serde::{Deserialize, Serialize};
use swe_ci_core::account::{AccountRole, Identity, WaysIn};
use swe_ci_core::credentials::names_like;

use super::invitations::leads_nowhere;
use super::secret;
use crate::Engine;
use crate::error::{Error, Result};
use crate::store::{Entry, NewAccount, ProvenIdentity};

/// The most that an account has at the same time.
const MOST_IDENTITIES: usize = 20;

/// By what somebody gets an account who has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// By nothing: who is not linked is not let in.
    Linked,
    /// By an invitation, with its role.
    Invited(FollowedInvitation),
    /// By coming here, with this role.
    Anyone(AccountRole),
}

/// An invitation whose secret was shown, to be accepted later. It does not tell
/// the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowedInvitation(String);

impl Engine {
    /// Remembers that somebody follows an invitation, while they are away to
    /// prove who they are.
    ///
    /// # Errors
    /// [`Error::NotFound`] as for [`Engine::invitation`].
    pub async fn follow_invitation(&self, secret: &str) -> Result<FollowedInvitation> {
        self.invitation(secret).await?;
        Ok(FollowedInvitation(secret::digest(secret)))
    }

    /// Lets in whoever is linked to an account; makes an account for others, as
    /// far as they are admitted. It has no password, and the name that is free
    /// and most like what they are `called`.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when the account is disabled;
    /// [`Error::Forbidden`] when there is none and they are not admitted;
    /// [`Error::NotFound`] when the invitation cannot be followed any more;
    /// [`Error::Conflict`] when they were linked meanwhile.
    pub async fn sign_in_as(
        &self,
        who: &ProvenIdentity,
        called: &str,
        admission: &Admission,
    ) -> Result<Identity> {
        let store = &self.inner.store;
        match store.enter(who).await? {
            Entry::In(identity) => return Ok(identity),
            Entry::Disabled(name) => {
                let why = format!("{}: the account is disabled", who.provider);
                store.note_refusal(&name, &why, self.by()).await?;
                return Err(Error::Unauthenticated(
                    "this account is disabled; an administrator can enable it".into(),
                ));
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
                let made = store.accept_invitation(digest, &new).await?;
                made.ok_or_else(leads_nowhere)
            }
            Admission::Anyone(role) => {
                let how = format!("{}: {}", who.provider, who.shown_as);
                store.insert_account(&new, *role, &how).await
            }
        }
    }

    /// Writes down that somebody who came by a provider was not let in, and why;
    /// never with a secret.
    pub async fn refuse_from(&self, provider: &str, why: &str) -> Result<()> {
        let why = format!("{provider}: {why}");
        self.inner.store.note_refusal("", &why, self.by()).await
    }

    /// Makes who somebody is elsewhere a way into the own account.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is one into another account, or there are 20
    /// already; [`Error::Unauthenticated`] for visitors.
    pub async fn link_identity(&self, who: &ProvenIdentity) -> Result<()> {
        let own = &self.own_account()?.account_id;
        let store = &self.inner.store;
        store.link(own, who, MOST_IDENTITIES, self.by()).await
    }

    /// By what the own account can be signed in to.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for visitors.
    pub async fn ways_in(&self) -> Result<WaysIn> {
        let own = &self.own_account()?.account_id;
        self.inner.store.ways_in(own).await
    }

    /// Takes a way into the own account away. `offered` are the ids of the
    /// providers there are: what another one says leads nowhere. As for
    /// [`Engine::set_first_password`], not for tokens.
    ///
    /// # Errors
    /// [`Error::NotFound`] where it is none; [`Error::Conflict`] for the last
    /// way in; [`Error::Unauthenticated`] for visitors.
    pub async fn unlink_identity(
        &self,
        provider: &str,
        subject: &str,
        offered: &[String],
    ) -> Result<()> {
        let own = &self.own_account()?.account_id;
        let store = &self.inner.store;
        store
            .unlink(own, provider, subject, offered, self.by())
            .await
    }
}
