//! Notifications: the webhooks and mailboxes of an account. The store writes
//! each notification together with its cause; `dispatcher` delivers it, by
//! `mail` or as a request signed by `message`.

#[cfg(test)]
mod tests;

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use secrecy::SecretString;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::permissions::Keyring;
use swe_ci_gateway::refused_by_name;
use swe_ci_store::{Confirmation, NewTarget};
use swe_ci_views::account::{AccountRole, Identity};
use swe_ci_views::notification::{
    Channel, LONGEST_URL, MOST_WEBHOOKS, Notifications, Occasion, TargetView,
};

use crate::notifications::mail;
use crate::notifications::message::PREFIX;
use crate::{Engine, millis, random};

const DELIVERIES_SHOWN: u32 = 50;
/// How long past deliveries are stored.
const RETENTION: Duration = Duration::from_hours(24 * 30);
/// The most test messages of an account in an hour.
const MAX_TESTS: u32 = 20;
/// The most codes sent for an account in a day, since it can enter any address.
const MAX_CODES: u32 = 5;

const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

#[swe_ci_boxed::boxed]
impl Engine {
    /// The account's notification targets, and its last deliveries.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`] and [`Error::Forbidden`] for actors that
    /// submit no runs.
    pub async fn notifications(&self) -> Result<Notifications> {
        let who = self.notified_account()?;
        let store = &self.store;
        Ok(Notifications {
            targets: store.targets(&who.account_id).await?,
            deliveries: store.deliveries(&who.account_id, DELIVERIES_SHOWN).await?,
            sends_mail: self.config.mailer.is_some(),
        })
    }

    /// Adds a webhook for these events. Returns it with its signing secret,
    /// which is shown only once.
    ///
    /// # Errors
    /// [`Error::Invalid`] for address or events, [`Error::Conflict`] with 10
    /// webhooks already.
    pub async fn add_webhook(
        &self,
        url: &str,
        events: &[Occasion],
    ) -> Result<(TargetView, SecretString)> {
        let who = self.notified_account()?;
        let address = self.webhook_url(url)?;
        let events = normalised(events)?;
        let targets = self.store.targets(&who.account_id).await?;
        let webhooks = targets.iter().filter(|t| t.channel == Channel::Webhook);
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
        let mut keys = self.store.keys_alone().await?;
        let master = self.keys.master_of(&keys)?;
        let seal = |id: &str| master.seal(&Keyring::Webhooks.full_name(id), &secret);
        let target = keys.insert_webhook(&new, self.by(), seal).await?;
        keys.commit(master.id()).await?;
        Ok((target, secret))
    }

    /// Adds the account's mailbox and sends a code there; it gets nothing else
    /// until the code is entered.
    ///
    /// # Errors
    /// [`Error::Invalid`] for address or events, [`Error::Conflict`] with a
    /// mailbox already or where no mails are sent, [`Error::TooMany`] after 5
    /// codes in a day.
    pub async fn add_mailbox(&self, address: &str, events: &[Occasion]) -> Result<TargetView> {
        let who = self.notified_account()?;
        let address = mail::address(address)?;
        let events = normalised(events)?;
        if self.config.mailer.is_none() {
            return Err(Error::Conflict(
                "this installation sends no mails; its operator can set that up (--smtp-url)"
                    .into(),
            ));
        }
        let targets = self.store.targets(&who.account_id).await?;
        if targets.iter().any(|target| target.channel == Channel::Mail) {
            return Err(Error::Conflict(
                "there is an address already; remove it first".into(),
            ));
        }
        self.check_rate(Occasion::Code, DAY, MAX_CODES).await?;
        let new = NewTarget {
            account_id: &who.account_id,
            address: &address,
            events: &events,
        };
        self.store.insert_mailbox(&new, self.by()).await
    }

    /// Accepts the code that was sent to a mailbox of the account.
    ///
    /// # Errors
    /// [`Error::Invalid`] when it is not the last code sent, or that has
    /// expired.
    pub async fn confirm_mailbox(&self, target_id: &str, code: &str) -> Result<()> {
        let who = self.notified_account()?;
        let digest = mail::digest_of_code(code);
        let store = &self.store;
        let confirmation = store.confirm(&who.account_id, target_id, &digest, self.by());
        let wrong = match confirmation.await? {
            Confirmation::Confirmed => return Ok(()),
            Confirmation::Wrong => "this is not the last code sent; copy it from the mail",
            Confirmation::Spent => "the code has expired; request another one",
        };
        Err(Error::Invalid(wrong.into()))
    }

    /// Sends a test message to a target of the account, or another code to an
    /// unconfirmed mailbox. The result is among the deliveries.
    ///
    /// # Errors
    /// [`Error::TooMany`] after 20 tests in an hour, or 5 codes in a day.
    pub async fn test_target(&self, target_id: &str) -> Result<()> {
        let who = self.notified_account()?;
        let store = &self.store;
        let target = store.target(&who.account_id, target_id).await?;
        let (about, within, most) = match target.confirmed {
            true => (Occasion::Test, HOUR, MAX_TESTS),
            false => (Occasion::Code, DAY, MAX_CODES),
        };
        self.check_rate(about, within, most).await?;
        store.send_one(&target.target_id, about, self.by()).await
    }

    /// Removes a target of the account, with its pending deliveries.
    pub async fn remove_target(&self, target_id: &str) -> Result<()> {
        let who = self.notified_account()?;
        self.store
            .remove_target(&who.account_id, target_id, self.by())
            .await
    }

    /// Deletes deliveries older than 30 days; returns their number.
    pub async fn sweep_deliveries(&self) -> Result<u64> {
        self.require(AccountRole::Admin)?;
        self.store.sweep_deliveries(before(RETENTION)).await
    }

    /// The actor's account, if it submits runs and so gets notifications.
    fn notified_account(&self) -> Result<&Identity> {
        self.require(AccountRole::Submitter)?;
        self.own_account()
    }

    async fn check_rate(&self, about: Occasion, within: Duration, most: u32) -> Result<()> {
        let action = format!("notification.{}", about.name());
        let store = &self.store;
        let times = store.times_done(self.by(), &action, before(within)).await?;
        match times < most {
            true => Ok(()),
            false => Err(Error::TooMany {
                retry_after: within,
            }),
        }
    }

    /// The normalised address. Its name is resolved and checked at delivery.
    fn webhook_url(&self, text: &str) -> Result<String> {
        let private = self.by().is(AccountRole::Admin) || self.config.private_endpoints;
        let wrong = |what: &str| Err(Error::Invalid(what.to_owned()));
        let must = "write the address of your receiver: https://, a host and a path, without user and password, of 2,000 characters or less";
        // The parser removes line ends, so that they would never be seen.
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return wrong(must);
        }
        let Ok(url) = Url::parse(text) else {
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

/// Each event once, in their order.
fn normalised(events: &[Occasion]) -> Result<Vec<Occasion>> {
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

/// 256 random bits, in the form receivers expect.
fn signing_secret() -> anyhow::Result<SecretString> {
    let text = BASE64_STANDARD.encode(random::<32>()?);
    Ok(SecretString::from(format!("{PREFIX}{text}")))
}

/// The moment this long ago, in unix milliseconds.
fn before(time: Duration) -> i64 {
    now_ms().saturating_sub(millis(time))
}
