//! Notification targets: where accounts receive news of their runs.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::permissions::Keyring;
use swe_ci_views::account::Actor;
use swe_ci_views::notification::{Channel, Occasion, TargetView};

use super::audit::{note, note_and_commit};
use super::notification_outbox::insert_delivery;
use super::provider_keys::KeysAlone;
use super::rows::columns::Columns;
use super::rows::notifications::read_target;
use super::sql::{Tx, composed, only, query};
use super::{Store, new_id, to_json};

/// The result of entering a mailbox's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confirmation {
    Confirmed,
    /// A newer code was sent, or none.
    Wrong,
    /// It has expired, or had too many wrong guesses.
    Spent,
}

/// A target to create.
#[derive(Debug, Clone)]
pub struct NewTarget<'a> {
    pub account_id: &'a str,
    pub address: &'a str,
    pub events: &'a [Occasion],
}

const COLUMNS: &str = "id, channel, address, events, created_at, confirmed_at";

/// Wrong codes allowed before a new one must be sent.
const MAX_CODE_TRIES: i64 = 5;

impl Store {
    /// The targets of an account, oldest first.
    pub async fn targets(&self, account_id: &str) -> Result<Vec<TargetView>> {
        composed(format!(
            "SELECT {COLUMNS} FROM notification_targets WHERE account_id = $1 ORDER BY id"
        ))
        .with(account_id)
        .all(&self.pool, read_target)
        .await
    }

    /// A target of this account.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn target(&self, account_id: &str, id: &str) -> Result<TargetView> {
        composed(format!(
            "SELECT {COLUMNS} FROM notification_targets WHERE id = $1 AND account_id = $2"
        ))
        .with((id, account_id))
        .first(&self.pool, read_target)
        .await?
        .ok_or_else(|| target_not_found(id))
    }

    /// Adds a mailbox; a confirmation code is sent to it first.
    pub async fn insert_mailbox(&self, new: &NewTarget<'_>, by: &Actor) -> Result<TargetView> {
        let mut tx = self.pool.begin().await?;
        let target = insert_target(&mut tx, Channel::Mail, new, None).await?;
        let id = &target.target_id;
        insert_delivery(&mut tx, id, Occasion::Code, None).await?;
        note(&mut tx, by, "notification.add", id, new.address).await?;
        note_and_commit(tx, by, "notification.code", id, "").await?;
        Ok(target)
    }

    /// Sends the message that a target's owner requested: a test, or a code.
    pub async fn send_one(&self, target_id: &str, about: Occasion, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        insert_delivery(&mut tx, target_id, about, None).await?;
        let action = format!("notification.{}", about.name());
        note_and_commit(tx, by, &action, target_id, "").await
    }

    /// How often an actor did something after a moment, by the audit log.
    pub async fn times_done(&self, by: &Actor, action: &str, after: i64) -> Result<u32> {
        query("SELECT count(*) AS n FROM audit WHERE at > $3 AND actor = $1 AND action = $2")
            .with((by.name(), action, after))
            .one(&self.pool, only)
            .await
    }

    /// Removes a target of this account, its signing key, and all its
    /// deliveries.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn remove_target(&self, account_id: &str, id: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        // Lock it first, so that no delivery is added meanwhile.
        let row = query(
            "UPDATE notification_targets SET events = '[]' WHERE id = $1 AND account_id = $2
             RETURNING address, channel",
        )
        .with((id, account_id))
        .row(&mut *tx)
        .await?;
        let row = row.ok_or_else(|| target_not_found(id))?;
        query("DELETE FROM keys WHERE owner = $2 AND name = $1")
            .with((id, Keyring::Webhooks.owner()))
            .run(&mut *tx)
            .await?;
        for sql in [
            "DELETE FROM deliveries WHERE target_id = $1",
            "DELETE FROM notification_targets WHERE id = $1",
        ] {
            query(sql).with(id).run(&mut *tx).await?;
        }
        let address = public_address(row.read("channel")?, &row.read::<String>("address")?);
        note_and_commit(tx, by, "notification.remove", id, &address).await
    }

    /// Sets the code that confirms a mailbox, valid until `until`.
    pub async fn set_code(&self, target_id: &str, digest: &str, until: i64) -> Result<()> {
        query(
            "UPDATE notification_targets SET code = $2, code_until = $3, code_tries = 0
             WHERE id = $1 AND confirmed_at IS NULL",
        )
        .with((target_id, digest, until))
        .run(&self.pool)
        .await
    }

    /// Checks the code that was sent to a mailbox of this account.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn confirm(
        &self,
        account_id: &str,
        id: &str,
        digest: &str,
        by: &Actor,
    ) -> Result<Confirmation> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let row = query(
            "UPDATE notification_targets SET code_tries = code_tries + 1
             WHERE id = $1 AND account_id = $2 AND channel = 'mail'
             RETURNING code, code_until, code_tries, address",
        )
        .with((id, account_id))
        .row(&mut *tx)
        .await?;
        let row = row.ok_or_else(|| target_not_found(id))?;
        let code: String = row.read("code")?;
        let spent = row.read::<i64>("code_until")? <= now
            || row.read::<i64>("code_tries")? > MAX_CODE_TRIES;
        let confirmation = match code == digest {
            _ if code.is_empty() => Confirmation::Wrong,
            _ if spent => Confirmation::Spent,
            true => Confirmation::Confirmed,
            false => Confirmation::Wrong,
        };
        if confirmation == Confirmation::Confirmed {
            query("UPDATE notification_targets SET confirmed_at = $2, code = '' WHERE id = $1")
                .with((id, now))
                .run(&mut *tx)
                .await?;
            let address: String = row.read("address")?;
            note(&mut tx, by, "notification.confirm", id, &address).await?;
        }
        tx.commit().await?;
        Ok(confirmation)
    }
}

impl KeysAlone {
    /// Adds a webhook with its signing key, which `seal` returns for the given
    /// name.
    pub async fn insert_webhook(
        &mut self,
        new: &NewTarget<'_>,
        by: &Actor,
        seal: impl FnOnce(&str) -> Result<String>,
    ) -> Result<TargetView> {
        let now = now_ms();
        let target = insert_target(self.tx(), Channel::Webhook, new, Some(now)).await?;
        let id = &target.target_id;
        self.put(&Keyring::Webhooks, id, &seal(id)?).await?;
        let address = public_address(Channel::Webhook, new.address);
        note(self.tx(), by, "notification.add", id, &address).await?;
        Ok(target)
    }
}

async fn insert_target(
    tx: &mut Tx,
    channel: Channel,
    new: &NewTarget<'_>,
    confirmed_at: Option<i64>,
) -> Result<TargetView> {
    composed(format!(
        "INSERT INTO notification_targets (id, account_id, channel, address, events, created_at, confirmed_at,
                                           code, code_until, code_tries)
         VALUES ($1, $2, $3, $4, $5, $6, $7, '', 0, 0)
         RETURNING {COLUMNS}"
    ))
    .with((new_id(), new.account_id, channel.name(), new.address))
    .with((to_json(&new.events)?, now_ms(), confirmed_at))
    .unprepared()
    .one(tx, read_target)
    .await
}

/// The part of an address that others may see: the path of a webhook is often
/// its secret.
fn public_address(channel: Channel, address: &str) -> String {
    let host = address.split('/').nth(2);
    match channel {
        Channel::Webhook => host.unwrap_or_default().to_owned(),
        Channel::Mail => address.to_owned(),
    }
}

fn target_not_found(id: &str) -> Error {
    Error::not_found("notification target", id)
}
