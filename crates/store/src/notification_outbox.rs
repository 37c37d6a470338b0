//! The outbox: a delivery is written in the transaction of the change it
//! reports, so that neither exists without the other.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_core::run::RunConfig;
use swe_ci_views::notification::{Cause, News, Occasion};

use super::rows::columns::Columns;
use super::sql::{Tx, query};
use super::{new_id, to_json};

/// The longest reason in a notification, in characters.
const LONGEST_REASON: usize = 500;

/// Notifies the owner of a run, at each target that subscribes to this event.
/// Runs of the operator have no owner to notify.
pub(super) async fn notify_owner(
    tx: &mut Tx,
    run_id: &str,
    event: Occasion,
    cause: Option<Cause>,
) -> Result<()> {
    let mut targets: Vec<(String, Vec<Occasion>)> = query(
        "SELECT t.id, t.events FROM notification_targets t
         JOIN runs r ON r.owner = t.account_id
         JOIN accounts a ON a.id = t.account_id
         WHERE r.id = $1 AND t.confirmed_at IS NOT NULL AND a.disabled_at IS NULL
         ORDER BY t.id",
    )
    .with(run_id)
    .all(&mut *tx, |row| Ok((row.read("id")?, row.read("events")?)))
    .await?;
    targets.retain(|(_, events)| events.contains(&event));
    if targets.is_empty() {
        return Ok(());
    }
    let news = news_of_run(tx, run_id, cause).await?;
    for (target, _) in targets {
        insert_delivery(tx, &target, event, Some(&news)).await?;
    }
    Ok(())
}

pub(super) async fn insert_delivery(
    tx: &mut Tx,
    target_id: &str,
    event: Occasion,
    news: Option<&News>,
) -> Result<()> {
    let now = now_ms();
    query(
        "INSERT INTO deliveries (id, target_id, event, news, made_at, state, tries, next_try_at, answer)
         VALUES ($1, $2, $3, $4, $5, 'waiting', 0, $5, '')",
    )
    .with((new_id(), target_id, event.name()))
    .with((news.map(to_json).transpose()?, now))
    .unprepared()
    .run(tx)
    .await
}

/// The state of a run in this transaction.
async fn news_of_run(tx: &mut Tx, run_id: &str, cause: Option<Cause>) -> Result<News> {
    let cause = cause.map(|cause| Cause {
        reason: cause.reason.chars().take(LONGEST_REASON).collect(),
        ..cause
    });
    query(
        "SELECT r.config, r.progress, count(e.id) AS evolutions,
                count(CASE WHEN e.ending = 'blocked' THEN 1 END) AS blocked,
                count(CASE WHEN e.ending = 'budget_spent' THEN 1 END) AS budget_spent
         FROM runs r LEFT JOIN evolutions e ON e.run_id = r.id
         WHERE r.id = $1 GROUP BY r.id, r.config, r.progress",
    )
    .with(run_id)
    .one(tx, |row| {
        let config: RunConfig = row.read("config")?;
        Ok(News {
            run_id: run_id.to_owned(),
            model: config.model,
            split: config.split,
            progress: row.read("progress")?,
            evolutions: row.read("evolutions")?,
            evolutions_blocked: row.read("blocked")?,
            evolutions_out_of_budget: row.read("budget_spent")?,
            cause,
        })
    })
    .await
}
