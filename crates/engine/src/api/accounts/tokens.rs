//! API tokens: programs send them instead of a password.

use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::{Error, Result};
use swe_ci_store::NewToken;
use swe_ci_views::account::{AccountRole, Actor, TokenScope, TokenView};

use super::{DAY, one_line, secret};
use crate::{Engine, after};

/// How every token begins, so that leaked ones can be found.
const PREFIX: &str = "sweci_";
/// The longest validity of a token, in days.
const MOST_DAYS: u32 = 365;
/// The longest name, in characters.
const LONGEST_NAME: usize = 80;
const MOST_TOKENS: usize = 50;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Creates a token of the account. It has at most the rights of `scope` and
    /// of the actor; it is valid for 1 to 365 days, and no longer than the
    /// token that created it. Its text is shown only once.
    ///
    /// # Errors
    /// [`Error::Invalid`] for name or days, [`Error::Forbidden`] for a scope
    /// beyond the actor's rights or a validity beyond its token's,
    /// [`Error::Conflict`] with 50 tokens already.
    pub async fn make_token(
        &self,
        name: &str,
        scope: impl Into<TokenScope>,
        days: u32,
    ) -> Result<(TokenView, SecretString)> {
        let who = self.own_account()?;
        let name = one_line("a token's name", name, 1, LONGEST_NAME)?;
        if !(1..=MOST_DAYS).contains(&days) {
            return Err(Error::Invalid(format!(
                "days: {days} is not between 1 and {MOST_DAYS}"
            )));
        }
        let scope = scope.into();
        self.require(scope.given_by())?;
        let expires_at = after(DAY * days);
        // Otherwise a lost token could be renewed for ever.
        if let Some(until) = who.until.as_ref().filter(|u| **u < rfc3339(expires_at)) {
            return Err(Error::Forbidden(format!(
                "this token is valid until {until}, and a token it creates cannot be valid for longer; sign in to create one that is"
            )));
        }
        if self.store.tokens(&who.account_id).await?.len() >= MOST_TOKENS {
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
        let view = self.store.insert_token(&new, self.by()).await?;
        Ok((view, text))
    }

    /// The account's valid tokens, newest first.
    pub async fn tokens(&self) -> Result<Vec<TokenView>> {
        self.store.tokens(&self.own_account()?.account_id).await
    }

    /// Revokes a token of the account; administrators may revoke any.
    pub async fn revoke_token(&self, id: &str) -> Result<()> {
        let owner = match self.by() {
            by if by.is(AccountRole::Admin) => None,
            _ => Some(self.own_account()?.account_id.as_str()),
        };
        self.store.remove_token(id, owner, self.by()).await
    }

    /// The actor of a token, with its present rights. Records the token's use
    /// at most once a minute.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] when it is unknown, revoked or expired, or
    /// its account is disabled.
    pub async fn actor_of_token(&self, text: &str) -> Result<Actor> {
        let identity = match text.starts_with(PREFIX) {
            true => self.store.bearer(&secret::digest(text)).await?,
            false => None,
        };
        identity.map(Actor::Account).ok_or_else(|| {
            Error::Unauthenticated(
                "this API token is unknown, revoked or expired; create a new one on the page of your account"
                    .into(),
            )
        })
    }
}
