//! Tokens of the API: what programs have in the place of a password.

use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::account::{AccountRole, Actor, TokenView};

use super::{DAY, after, one_line, secret};
use crate::Engine;
use crate::clock::rfc3339;
use crate::error::{Error, Result};
use crate::store::NewToken;

/// How the text of a token begins, for those who search for lost ones.
const PREFIX: &str = "sweci_";
/// The longest that a token is good for, in days.
const MOST_DAYS: u32 = 365;
/// The longest name, in characters.
const LONGEST_NAME: usize = 80;
/// The most that an account has at the same time.
const MOST_TOKENS: usize = 50;

impl Engine {
    /// Makes a token of the own account, which may do no more than `scope`, and
    /// no more than whoever makes it; good for 1 to 365 days, and no longer than
    /// the token it is asked for with. Its text is shown this once.
    ///
    /// # Errors
    /// [`Error::Invalid`] for name or days, [`Error::Forbidden`] for a scope
    /// that is more than one may or a time that is longer, [`Error::Conflict`] with 50 tokens already;
    /// [`Error::Unauthenticated`] for visitors.
    pub async fn make_token(
        &self,
        name: &str,
        scope: AccountRole,
        days: u32,
    ) -> Result<(TokenView, SecretString)> {
        let who = self.own_account()?;
        let name = one_line("a token's name", name, 1, LONGEST_NAME)?;
        if !(1..=MOST_DAYS).contains(&days) {
            return Err(Error::Invalid(format!(
                "days: {days} is not between 1 and {MOST_DAYS}"
            )));
        }
        self.require(scope)?;
        let expires_at = after(DAY * days);
        // Or a token that was lost could be kept alive for good.
        if let Some(until) = who.until.as_ref().filter(|u| **u < rfc3339(expires_at)) {
            return Err(Error::Forbidden(format!(
                "the token this is asked for with is good until {until}, and one it makes no longer; sign in to make one that is"
            )));
        }
        let store = &self.inner.store;
        if store.tokens(&who.account_id).await?.len() >= MOST_TOKENS {
            return Err(Error::Conflict(format!(
                "there are {MOST_TOKENS} tokens already; revoke one first"
            )));
        }
        let text = secret::random(PREFIX)?;
        let new = NewToken {
            account_id: &who.account_id,
            digest: &secret::digest(text.expose_secret()),
            name: &name,
            scope,
            expires_at,
        };
        let view = store.insert_token(&new, self.by()).await?;
        Ok((view, text))
    }

    /// The own tokens that are still good, newest first.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] for visitors.
    pub async fn tokens(&self) -> Result<Vec<TokenView>> {
        self.inner
            .store
            .tokens(&self.own_account()?.account_id)
            .await
    }

    /// Makes a token good for nothing: an own one, or for administrators any.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such token that is one's own;
    /// [`Error::Unauthenticated`] for visitors.
    pub async fn revoke_token(&self, id: &str) -> Result<()> {
        let of = match self.by() {
            by if by.is(AccountRole::Admin) => None,
            _ => Some(self.own_account()?.account_id.as_str()),
        };
        self.inner.store.remove_token(id, of, self.by()).await
    }

    /// Whoever sends this token, as what it may do now. At most once a minute
    /// it is noted that the token was used.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when it is unknown, revoked or expired, or
    /// its account is disabled.
    pub async fn actor_of_token(&self, text: &str) -> Result<Actor> {
        let found = match text.starts_with(PREFIX) {
            true => self.inner.store.bearer(&secret::digest(text)).await?,
            false => None,
        };
        found.map(Actor::Account).ok_or_else(|| {
            Error::Unauthenticated(
                "this API token is unknown, revoked or expired; the page of your account makes a new one"
                    .into(),
            )
        })
    }
}
