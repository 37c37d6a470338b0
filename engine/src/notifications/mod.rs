//! The façade's notifications: where an account is told of its runs. What is
//! told is written by the store with what it tells of; `courier` takes it
//! there, by `mail` or as a request signed by `message`.

mod courier;
mod mail;
mod message;
#[cfg(test)]
mod tests;

use std::time::Duration;

use anyhow::anyhow;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use secrecy::SecretString;
use swe_ci_core::account::{AccountRole, Identity};
use swe_ci_core::notification::{
    Channel, LONGEST_URL, MOST_WEBHOOKS, Notifications, Occasion, TargetView,
};

use crate::Engine;
use crate::clock::now_ms;
use crate::error::{Error, Result};
use crate::gateway::refused_by_name;
use crate::grant::Keyring;
use crate::store::{Confirmation, NewTarget};

pub use courier::Courier;
pub use mail::Mailer;

/// How many deliveries are shown.
const SHOWN: u32 = 50;
/// How long it is known what was said to whom.
const KEPT: Duration = Duration::from_hours(24 * 30);
/// The most tests somebody sends in an hour.
const MOST_TESTS: u32 = 20;
/// The most codes somebody has sent in a day, since anybody's address can be
/// typed.
const MOST_CODES: u32 = 5;

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

impl Engine {
    /// Where the own account is told, and the last of what it was.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] and [`Error::Forbidden`] for those who submit
    /// no runs.
    pub async fn notifications(&self) -> Result<Notifications> {
        let who = self.notified_account()?;
        let store = &self.inner.store;
        Ok(Notifications {
            targets: store.targets(&who.account_id).await?,
            deliveries: store.deliveries(&who.account_id, SHOWN).await?,
            sends_mail: self.inner.config.mailer.is_some(),
        })
    }

    /// Adds a webhook, which is told of these events from now on; with what its
    /// messages are signed with, which is shown this once.
    ///
    /// # Errors
    /// [`Error::Invalid`] for address or events, [`Error::Conflict`] with 10
    /// webhooks already; [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn add_webhook(
        &self,
        url: &str,
        events: &[Occasion],
    ) -> Result<(TargetView, SecretString)> {
        let who = self.notified_account()?;
        let address = self.webhook_url(url)?;
        let events = chosen(events)?;
        let there = self.inner.store.targets(&who.account_id).await?;
        let webhooks = there.iter().filter(|t| t.channel == Channel::Webhook);
        if webhooks.count() >= MOST_WEBHOOKS {
            return Err(Error::Conflict(format!(
                "there are {MOST_WEBHOOKS} webhooks already; remove one first"
            )));
        }
        let new = NewTarget {
            account_id: &who.account_id,
            address: &address,
            events: &events,
        };
        let secret = signing_secret()?;
        let mut keys = self.inner.store.keys_alone().await?;
        let master = self.inner.keys.master_of(&keys)?;
        let seal = |id: &str| master.seal(&Keyring::Webhooks.full_name(id), &secret);
        let target = keys.insert_webhook(&new, self.by(), seal).await?;
        keys.commit(master.id()).await?;
        Ok((target, secret))
    }

    /// Adds the mailbox of the own account, and sends a code there, which has to
    /// be typed before anything else is sent.
    ///
    /// # Errors
    /// [`Error::Invalid`] for address or events, [`Error::Conflict`] with a
    /// mailbox already or where no mails are sent, [`Error::TooMany`] after 5
    /// codes in a day; [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn add_mailbox(&self, address: &str, events: &[Occasion]) -> Result<TargetView> {
        let who = self.notified_account()?;
        let address = mail::address(address)?;
        let events = chosen(events)?;
        if self.inner.config.mailer.is_none() {
            return Err(Error::Conflict(
                "this installation sends no mails; whoever runs it can set that up (--smtp-url)"
                    .into(),
            ));
        }
        let there = self.inner.store.targets(&who.account_id).await?;
        if there.iter().any(|target| target.channel == Channel::Mail) {
            return Err(Error::Conflict(
                "there is an address already; remove it first".into(),
            ));
        }
        self.not_too_often(Occasion::Code, DAY, MOST_CODES).await?;
        let new = NewTarget {
            account_id: &who.account_id,
            address: &address,
            events: &events,
        };
        self.inner.store.insert_mailbox(&new, self.by()).await
    }

    /// Takes the code that was sent to an own mailbox.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Invalid`] when it is not the last code that
    /// was sent, or that has expired; [`Error::Unauthenticated`],
    /// [`Error::Forbidden`].
    pub async fn confirm_mailbox(&self, target_id: &str, code: &str) -> Result<()> {
        let who = self.notified_account()?;
        let digest = mail::digest_of_code(code);
        let store = &self.inner.store;
        let came = store.confirm(&who.account_id, target_id, &digest, self.by());
        let wrong = match came.await? {
            Confirmation::Confirmed => return Ok(()),
            Confirmation::Wrong => "this is not the code that was sent last; copy it from the mail",
            Confirmation::Spent => "the code is no longer good; have another one sent",
        };
        Err(Error::Invalid(wrong.into()))
    }

    /// Sends a test to an own target, or another code to a mailbox that is not
    /// confirmed. What comes of it is among the deliveries.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::TooMany`] after 20 tests in an hour, or 5
    /// codes in a day; [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn test_target(&self, target_id: &str) -> Result<()> {
        let who = self.notified_account()?;
        let store = &self.inner.store;
        let target = store.target(&who.account_id, target_id).await?;
        let (about, within, most) = match target.confirmed {
            true => (Occasion::Test, HOUR, MOST_TESTS),
            false => (Occasion::Code, DAY, MOST_CODES),
        };
        self.not_too_often(about, within, most).await?;
        store.send_one(&target.target_id, about, self.by()).await
    }

    /// Removes an own target: nothing goes there any more, also of what waits.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn remove_target(&self, target_id: &str) -> Result<()> {
        let who = self.notified_account()?;
        let store = &self.inner.store;
        store
            .remove_target(&who.account_id, target_id, self.by())
            .await
    }

    /// Forgets what was said more than 30 days ago; returns how much.
    pub async fn sweep_deliveries(&self) -> Result<u64> {
        let store = &self.inner.store;
        store.sweep_deliveries(before(KEPT)).await
    }

    /// Who submits runs, and so is told of them.
    fn notified_account(&self) -> Result<&Identity> {
        self.require(AccountRole::Submitter)?;
        self.own_account()
    }

    async fn not_too_often(&self, about: Occasion, within: Duration, most: u32) -> Result<()> {
        let action = format!("notification.{}", about.name());
        let store = &self.inner.store;
        let times = store.times_done(self.by(), &action, before(within)).await?;
        match times < most {
            true => Ok(()),
            false => Err(Error::TooMany {
                retry_after: within,
            }),
        }
    }

    /// As it is kept. What a name leads to is looked at when it is asked.
    fn webhook_url(&self, text: &str) -> Result<String> {
        let private = self.by().is(AccountRole::Admin) || self.inner.config.private_endpoints;
        let wrong = |what: &str| Err(Error::Invalid(what.to_owned()));
        let must = "write the address of your receiver: https://, a host and a path, without user and password, of 2,000 characters or less";
        let Ok(url) = Url::parse(text.trim()) else {
            return wrong(must);
        };
        let bare = url.username().is_empty() && url.password().is_none() && url.has_host();
        let fits = text.len() <= LONGEST_URL && url.as_str().len() <= LONGEST_URL;
        let secure = url.scheme() == "https" || (private && url.scheme() == "http");
        if !(bare && fits && secure && url.fragment().is_none()) {
            return wrong(must);
        }
        match refused_by_name(url.as_str()).filter(|_| !private) {
            Some(refusal) => wrong(&refusal),
            None => Ok(url.into()),
        }
    }
}

/// Each once, in their order.
fn chosen(events: &[Occasion]) -> Result<Vec<Occasion>> {
    let known = Occasion::OF_RUNS.into_iter();
    let chosen: Vec<Occasion> = known.filter(|event| events.contains(event)).collect();
    let strange = events.iter().any(|event| !chosen.contains(event));
    if chosen.is_empty() || strange {
        let names = Occasion::OF_RUNS.map(Occasion::name).join(", ");
        return Err(Error::Invalid(format!(
            "events: choose one or more of {names}"
        )));
    }
    Ok(chosen)
}

/// 256 random bits, as receivers are given them.
fn signing_secret() -> anyhow::Result<SecretString> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| anyhow!("the system gives no random numbers: {e}"))?;
    let text = BASE64_STANDARD.encode(bytes);
    Ok(SecretString::from(format!("{}{text}", message::PREFIX)))
}

/// The moment so long ago, in unix milliseconds.
fn before(time: Duration) -> i64 {
    now_ms().saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}
