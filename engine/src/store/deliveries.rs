//! The outbox: what is to be said to whom, written in the transaction of what
//! it tells of, so that neither is there without the other.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::notification::{Cause, Channel, DeliveryState, DeliveryView, News, Occasion};
use swe_ci_core::run::RunConfig;

use super::notifications::{read_channel, read_events};
use super::runs::read_progress;
use super::{Store, count, from_json, to_json};
use crate::clock::{now_ms, rfc3339};
use crate::error::Result;

/// The longest reason that is told, in characters.
const LONGEST_REASON: usize = 500;

/// A delivery that is tried now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    pub delivery_id: String,
    pub event: Occasion,
    pub news: Option<News>,
    /// Unix milliseconds.
    pub made_at: i64,
    /// With this one.
    pub tries: u32,
    pub target_id: String,
    pub channel: Channel,
    pub address: String,
    /// Whether the target belongs to an administrator.
    pub of_admin: bool,
}

/// How it goes on after a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterTry {
    Delivered,
    /// At this moment, in unix milliseconds.
    Again(i64),
    GivenUp,
}

impl Store {
    /// Takes the next delivery that is due; nobody else takes it for `hold_ms`.
    /// What is to be said to a disabled account waits.
    pub async fn claim_delivery(&self, hold_ms: i64) -> Result<Option<Due>> {
        let now = now_ms();
        // Only looked at, so that an idle installation writes nothing.
        let row = sqlx::query(
            "SELECT d.id, d.event, d.news, d.made_at, d.target_id, t.channel, t.address, a.role
             FROM deliveries d
             JOIN notification_targets t ON t.id = d.target_id
             JOIN accounts a ON a.id = t.account_id
             WHERE d.state = 'waiting' AND d.next_try_at <= $1 AND a.disabled_at IS NULL
             ORDER BY d.next_try_at, d.id LIMIT 1",
        )
        .bind(now)
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let id: String = row.try_get("id")?;
        let taken = sqlx::query(
            "UPDATE deliveries SET tries = tries + 1, tried_at = $2, next_try_at = $3
             WHERE id = $1 AND state = 'waiting' AND next_try_at <= $2
             RETURNING tries",
        )
        .bind(&id)
        .bind(now)
        .bind(now + hold_ms)
        .fetch_optional(&self.pool)
        .await?;
        // Somebody else was quicker.
        let Some(taken) = taken else { return Ok(None) };
        Ok(Some(Due {
            event: read_event(&row)?,
            news: read_news(&row)?,
            made_at: row.try_get("made_at")?,
            tries: count(taken.try_get("tries")?),
            target_id: row.try_get("target_id")?,
            channel: read_channel(&row)?,
            address: row.try_get("address")?,
            of_admin: row.try_get::<String, _>("role")? == "admin",
            delivery_id: id,
        }))
    }

    /// Writes down what came of a try, in words.
    pub async fn note_try(&self, delivery_id: &str, answer: &str, then: AfterTry) -> Result<()> {
        let (state, next_try_at) = match then {
            AfterTry::Delivered => (DeliveryState::Delivered, 0),
            AfterTry::Again(at) => (DeliveryState::Waiting, at),
            AfterTry::GivenUp => (DeliveryState::GivenUp, 0),
        };
        sqlx::query(
            "UPDATE deliveries SET state = $2, next_try_at = $3, answer = $4
             WHERE id = $1 AND state = 'waiting'",
        )
        .bind(delivery_id)
        .bind(state.name())
        .bind(next_try_at)
        .bind(answer)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    /// What was and is to be said to an account, newest first.
    pub async fn deliveries(&self, account_id: &str, limit: u32) -> Result<Vec<DeliveryView>> {
        let rows = sqlx::query(
            "SELECT d.id, d.target_id, d.event, d.news, d.made_at, d.state, d.tries, d.next_try_at,
                    d.tried_at, d.answer, t.address
             FROM deliveries d JOIN notification_targets t ON t.id = d.target_id
             WHERE t.account_id = $1 ORDER BY d.id DESC LIMIT $2",
        )
        .bind(account_id)
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read_delivery).collect()
    }

    /// Forgets what was made before a moment; how many.
    pub async fn sweep_deliveries(&self, before: i64) -> Result<u64> {
        let swept = sqlx::query("DELETE FROM deliveries WHERE made_at < $1")
            .bind(before)
            .execute(&self.pool)
            .await?;
        Ok(swept.rows_affected())
    }
}

/// Tells the owner of a run what has become of it, wherever they want to be
/// told of that. Runs of the operator have nobody to be told.
pub(super) async fn tell_owner(
    tx: &mut sqlx::AnyConnection,
    run_id: &str,
    about: Occasion,
    cause: Option<Cause>,
) -> Result<()> {
    let rows = sqlx::query(
        "SELECT t.id, t.events FROM notification_targets t
         JOIN runs r ON r.owner = t.account_id
         JOIN accounts a ON a.id = t.account_id
         WHERE r.id = $1 AND t.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
         ORDER BY t.id",
    )
    .bind(run_id)
    .fetch_all(&mut *tx)
    .await?;
    let mut targets: Vec<String> = Vec::new();
    for row in &rows {
        if read_events(row)?.contains(&about) {
            targets.push(row.try_get("id")?);
        }
    }
    if targets.is_empty() {
        return Ok(());
    }
    let news = news_of_run(tx, run_id, cause).await?;
    for target in targets {
        insert_delivery(tx, &target, about, Some(&news)).await?;
    }
    Ok(())
}

/// How a run stands in this transaction.
async fn news_of_run(
    tx: &mut sqlx::AnyConnection,
    run_id: &str,
    cause: Option<Cause>,
) -> Result<News> {
    let row = sqlx::query(
        "SELECT r.config, r.progress, count(e.id) AS evolutions,
                count(CASE WHEN e.ending = 'blocked' THEN 1 END) AS blocked,
                count(CASE WHEN e.ending = 'budget_spent' THEN 1 END) AS budget_spent
         FROM runs r LEFT JOIN evolutions e ON e.run_id = r.id
         WHERE r.id = $1 GROUP BY r.id, r.config, r.progress",
    )
    .bind(run_id)
    .fetch_one(tx)
    .await?;
    let config: String = row.try_get("config")?;
    let config: RunConfig = from_json("a run's configuration", &config)?;
    let cause = cause.map(|cause| Cause {
        reason: cause.reason.chars().take(LONGEST_REASON).collect(),
        ..cause
    });
    Ok(News {
        run_id: run_id.to_owned(),
        model: config.model,
        split: config.split,
        progress: read_progress(&row)?,
        evolutions: count(row.try_get("evolutions")?),
        evolutions_blocked: count(row.try_get("blocked")?),
        evolutions_out_of_budget: count(row.try_get("budget_spent")?),
        cause,
    })
}

pub(super) async fn insert_delivery(
    tx: &mut sqlx::AnyConnection,
    target_id: &str,
    about: Occasion,
    news: Option<&News>,
) -> Result<()> {
    let now = now_ms();
    sqlx::query(
        "INSERT INTO deliveries (id, target_id, event, news, made_at, state, tries, next_try_at, answer)
         VALUES ($1, $2, $3, $4, $5, 'waiting', 0, $5, '')",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(target_id)
    .bind(about.name())
    .bind(news.map(to_json).transpose()?)
    .bind(now)
    .persistent(false)
    .execute(tx)
    .await?;
    Ok(())
}

fn read_delivery(row: &AnyRow) -> Result<DeliveryView> {
    let name: String = row.try_get("state")?;
    let state = DeliveryState::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the delivery state `{name}`"))?;
    let next_try_at = rfc3339(row.try_get("next_try_at")?);
    Ok(DeliveryView {
        delivery_id: row.try_get("id")?,
        target_id: row.try_get("target_id")?,
        address: row.try_get("address")?,
        event: read_event(row)?,
        run_id: read_news(row)?.map(|news| news.run_id),
        state,
        tries: count(row.try_get("tries")?),
        made_at: rfc3339(row.try_get("made_at")?),
        tried_at: row.try_get::<Option<i64>, _>("tried_at")?.map(rfc3339),
        answer: row.try_get("answer")?,
        next_try_at: (state == DeliveryState::Waiting).then_some(next_try_at),
    })
}

fn read_event(row: &AnyRow) -> Result<Occasion> {
    let name: String = row.try_get("event")?;
    Occasion::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the event `{name}`").into())
}

fn read_news(row: &AnyRow) -> Result<Option<News>> {
    let news: Option<String> = row.try_get("news")?;
    news.map(|news| from_json("a delivery's news", &news))
        .transpose()
}
