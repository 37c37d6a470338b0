//! Deliveries of notifications: claimed, attempted, listed, swept.

use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::notification::{Channel, DeliveryState, DeliveryView, News, Occasion};

use super::Store;
use super::rows::columns::Columns;
use super::rows::notifications::read_delivery;
use super::sql::{only, query};

/// A delivery to attempt now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    pub delivery_id: String,
    pub event: Occasion,
    pub news: Option<News>,
    /// Unix milliseconds.
    pub made_at: i64,
    /// Includes this attempt.
    pub tries: u32,
    pub target_id: String,
    pub channel: Channel,
    pub address: String,
    /// Whether the target belongs to an administrator.
    pub of_admin: bool,
}

/// The next state of a delivery after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterTry {
    Delivered,
    /// Retry at this moment, in unix milliseconds.
    Again(i64),
    GivenUp,
}

impl Store {
    /// Claims the next delivery that is due, for `hold_ms`. Deliveries to
    /// disabled accounts wait.
    pub async fn claim_delivery(&self, hold_ms: i64) -> Result<Option<Due>> {
        loop {
            let now = now_ms();
            // Reads first, so that an idle installation writes nothing.
            let row = query(
                "SELECT d.id, d.event, d.news, d.made_at, d.target_id, t.channel, t.address, a.role
                 FROM deliveries d
                 JOIN notification_targets t ON t.id = d.target_id
                 JOIN accounts a ON a.id = t.account_id
                 WHERE d.state = 'waiting' AND d.next_try_at <= $1 AND a.disabled_at IS NULL
                 ORDER BY d.next_try_at, d.id LIMIT 1",
            )
            .with(now)
            .row(&self.pool)
            .await?;
            let Some(row) = row else { return Ok(None) };
            let id: String = row.read("id")?;
            let tries: Option<u32> = query(
                "UPDATE deliveries SET tries = tries + 1, tried_at = $2, next_try_at = $3
                 WHERE id = $1 AND state = 'waiting' AND next_try_at <= $2
                 RETURNING tries",
            )
            .with((&id, now, now + hold_ms))
            .first(&self.pool, only)
            .await?;
            // Another dispatcher was faster.
            let Some(tries) = tries else { return Ok(None) };
            match read_due(&row, &id, tries) {
                Ok(due) => return Ok(Some(due)),
                // No later try can read it either.
                Err(error) => {
                    tracing::error!(delivery = id, "a notification is lost: {}", error.chain());
                    let answer = "the server cannot read it; see the operator’s log";
                    self.note_try(&id, answer, AfterTry::GivenUp).await?;
                }
            }
        }
    }

    /// Records the result of an attempt; `answer` is text for people.
    pub async fn note_try(&self, delivery_id: &str, answer: &str, then: AfterTry) -> Result<()> {
        let (state, next_try_at) = match then {
            AfterTry::Delivered => (DeliveryState::Delivered, 0),
            AfterTry::Again(at) => (DeliveryState::Waiting, at),
            AfterTry::GivenUp => (DeliveryState::GivenUp, 0),
        };
        query(
            "UPDATE deliveries SET state = $2, next_try_at = $3, answer = $4
             WHERE id = $1 AND state = 'waiting'",
        )
        .with((delivery_id, state.name(), next_try_at, answer))
        .run(&self.pool)
        .await
    }

    /// The deliveries of an account, past and pending, newest first.
    pub async fn deliveries(&self, account_id: &str, limit: u32) -> Result<Vec<DeliveryView>> {
        query(
            "SELECT d.id, d.target_id, d.event, d.news, d.made_at, d.state, d.tries, d.next_try_at,
                    d.tried_at, d.answer, t.address
             FROM deliveries d JOIN notification_targets t ON t.id = d.target_id
             WHERE t.account_id = $1 ORDER BY d.id DESC LIMIT $2",
        )
        .with((account_id, limit))
        .all(&self.pool, read_delivery)
        .await
    }

    /// Deletes the deliveries made before a moment; returns how many.
    pub async fn sweep_deliveries(&self, before: i64) -> Result<u64> {
        query("DELETE FROM deliveries WHERE made_at < $1")
            .with(before)
            .changed(&self.pool)
            .await
    }
}

fn read_due(row: &AnyRow, id: &str, tries: u32) -> Result<Due> {
    Ok(Due {
        event: row.read("event")?,
        news: row.optional_json("news", "a delivery's news")?,
        made_at: row.read("made_at")?,
        tries,
        target_id: row.read("target_id")?,
        channel: row.read("channel")?,
        address: row.read("address")?,
        of_admin: row.read::<String>("role")? == "admin",
        delivery_id: id.to_owned(),
    })
}
