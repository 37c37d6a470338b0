//! The outbox: a delivery is written in the transaction of the change it
//! reports, so that neither exists without the other.

use sqlx::Row;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::notification::{Cause, News, Occasion};

use super::rows::columns::{read_config, read_progress};
use super::rows::notifications::read_events;
use super::{count, to_json};

/// The longest reason in a notification, in characters.
const LONGEST_REASON: usize = 500;

/// Notifies the owner of a run, at each target that subscribes to this event.
/// Runs of the operator have no owner to notify.
pub(super) async fn notify_owner(
    tx: &mut sqlx::AnyConnection,
    run_id: &str,
    event: Occasion,
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
        if read_events(row)?.contains(&event) {
            targets.push(row.try_get("id")?);
        }
    }
    if targets.is_empty() {
        return Ok(());
    }
    let news = news_of_run(tx, run_id, cause).await?;
    for target in targets {
        insert_delivery(tx, &target, event, Some(&news)).await?;
    }
    Ok(())
}

pub(super) async fn insert_delivery(
    tx: &mut sqlx::AnyConnection,
    target_id: &str,
    event: Occasion,
    news: Option<&News>,
) -> Result<()> {
    let now = now_ms();
    sqlx::query(
        "INSERT INTO deliveries (id, target_id, event, news, made_at, state, tries, next_try_at, answer)
         VALUES ($1, $2, $3, $4, $5, 'waiting', 0, $5, '')",
    )
    .bind(uuid::Uuid::now_v7().to_string())
    .bind(target_id)
    .bind(event.name())
    .bind(news.map(to_json).transpose()?)
    .bind(now)
    .persistent(false)
    .execute(tx)
    .await?;
    Ok(())
}

/// The state of a run in this transaction.
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
    let config = read_config(&row)?;
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
