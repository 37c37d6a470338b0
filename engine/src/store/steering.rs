//! How runs are steered. Every deed locks its run before it looks at it, so
//! that it contradicts neither another deed nor a worker's claim.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::account::Actor;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::steering::Steering;
use swe_ci_core::step::StepOutcome;

use super::audit::note;
use super::changes::count_up;
use super::runs::read_progress;
use super::runs::run_is_over;
use super::{Store, count, from_json, to_json};
use crate::clock::now_ms;
use crate::error::{Error, Result};

/// How many evolutions of a run can go on when somebody asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stuck {
    pub blocked: u32,
    pub budget_spent: u32,
}

impl Stuck {
    pub const NONE: Self = Self {
        blocked: 0,
        budget_spent: 0,
    };
}

impl Store {
    /// How a run stands and is steered.
    pub async fn steering(&self, run_id: &str) -> Result<(Progress, Steering)> {
        let row = sqlx::query(
            "SELECT progress, config, paused_at, at_once, budget FROM runs WHERE id = $1",
        )
        .bind(run_id)
        .fetch_optional(&self.pool)
        .await?;
        read_held(run_id, row)
    }

    /// Steers a run as `change` makes of how it stands; nothing is written when
    /// that refuses, or comes to the same. What holds then, if that is new.
    pub async fn steer(
        &self,
        run_id: &str,
        by: &Actor,
        change: impl FnOnce(Progress, Steering) -> Result<Steering> + Send,
    ) -> Result<Option<Steering>> {
        let mut tx = self.pool.begin().await?;
        let (progress, before) = hold_run(&mut tx, run_id).await?;
        let now = change(progress, before)?;
        if now == before {
            return Ok(None);
        }
        sqlx::query(
            "UPDATE runs SET paused_at = CASE WHEN $2 = 1 THEN coalesce(paused_at, $3) END,
                    at_once = $4, budget = $5
             WHERE id = $1",
        )
        .bind(run_id)
        .bind(i64::from(now.paused))
        .bind(now_ms())
        .bind(now.at_once.map(i64::from))
        .bind(to_json(&now.budget)?)
        .execute(&mut *tx)
        .await?;
        for (action, detail) in differences(before, now)? {
            note(&mut tx, by, action, run_id, &detail).await?;
        }
        tx.commit().await?;
        Ok(Some(now))
    }

    /// Cancels a run: what is queued is over at once, what is running is
    /// stopped by its worker. `false` when it was cancelled before.
    pub async fn cancel_run(&self, run_id: &str, by: &Actor) -> Result<bool> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        match hold_run(&mut tx, run_id).await?.0 {
            Progress::Queued | Progress::Running => {}
            Progress::Cancelled => return Ok(false),
            Progress::Finished => {
                return Err(Error::Conflict(format!("run {run_id} is finished already")));
            }
        }
        sqlx::query("UPDATE runs SET progress = 'cancelled', finished_at = $2 WHERE id = $1")
            .bind(run_id)
            .bind(now)
            .execute(&mut *tx)
            .await?;
        sqlx::query(
            "UPDATE evolutions SET progress = 'cancelled', ending = 'cancelled', finished_at = $2
             WHERE run_id = $1 AND progress = 'queued'",
        )
        .bind(run_id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        note(&mut tx, by, "run.cancel", run_id, "").await?;
        run_is_over(&mut tx, run_id).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Puts back in the queue what is blocked and what the budget had stopped;
    /// which evolutions. That they are tried again is written among their
    /// steps, which all stay. A finished run is at work again by it.
    pub async fn retry(&self, run_id: &str, by: &Actor) -> Result<Vec<String>> {
        let mut tx = self.pool.begin().await?;
        let (progress, _) = hold_run(&mut tx, run_id).await?;
        if progress == Progress::Cancelled {
            return Err(Error::Conflict(format!(
                "run {run_id} is cancelled already"
            )));
        }
        mark_retried(&mut tx, run_id, by).await?;
        let rows = sqlx::query(
            "UPDATE evolutions SET progress = 'queued', ending = NULL, reason = NULL, finished_at = NULL,
                    worker = NULL, lease_until = 0
             WHERE run_id = $1 AND ending IN ('blocked', 'budget_spent')
             RETURNING id",
        )
        .bind(run_id)
        .fetch_all(&mut *tx)
        .await?;
        let ids = rows.iter().map(|row| Ok(row.try_get("id")?));
        let ids: Vec<String> = ids.collect::<Result<_>>()?;
        if ids.is_empty() {
            return Ok(ids);
        }
        sqlx::query(
            "UPDATE runs SET progress = 'running', finished_at = NULL
             WHERE id = $1 AND progress = 'finished'",
        )
        .bind(run_id)
        .execute(&mut *tx)
        .await?;
        let detail = format!("{} evolutions", ids.len());
        note(&mut tx, by, "run.retry", run_id, &detail).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(ids)
    }

    pub async fn stuck(&self, run_id: &str) -> Result<Stuck> {
        let row = sqlx::query(
            "SELECT count(CASE WHEN ending = 'blocked' THEN 1 END) AS blocked,
                    count(CASE WHEN ending = 'budget_spent' THEN 1 END) AS budget_spent
             FROM evolutions WHERE run_id = $1",
        )
        .bind(run_id)
        .fetch_one(&self.pool)
        .await?;
        Ok(Stuck {
            blocked: count(row.try_get("blocked")?),
            budget_spent: count(row.try_get("budget_spent")?),
        })
    }
}

/// Locks a run until the transaction is over, as its first statement. How the
/// run stands and is steered.
pub(super) async fn hold_run(
    tx: &mut sqlx::AnyConnection,
    run_id: &str,
) -> Result<(Progress, Steering)> {
    let row = sqlx::query(
        "UPDATE runs SET progress = progress WHERE id = $1
         RETURNING progress, config, paused_at, at_once, budget",
    )
    .bind(run_id)
    .fetch_optional(tx)
    .await?;
    read_held(run_id, row)
}

fn read_held(run_id: &str, row: Option<AnyRow>) -> Result<(Progress, Steering)> {
    let row = row.ok_or_else(|| Error::not_found("run", run_id))?;
    let config: String = row.try_get("config")?;
    let config: RunConfig = from_json("a run's configuration", &config)?;
    Ok((read_progress(&row)?, read_steering(&row, &config)?))
}

/// A row among the steps of each evolution that is tried again, where it stood.
async fn mark_retried(tx: &mut sqlx::AnyConnection, run_id: &str, by: &Actor) -> Result<()> {
    sqlx::query(
        "INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at)
         SELECT e.id, (SELECT count(*) FROM steps s WHERE s.evolution_id = e.id),
                e.at_iteration, e.at_role, e.at_attempt, $2, $3, $4, $4
         FROM evolutions e
         WHERE e.run_id = $1 AND e.ending IN ('blocked', 'budget_spent')",
    )
    .bind(run_id)
    .bind(to_json(&StepOutcome::Retried)?)
    .bind(format!("{} had it tried again", by.name()))
    .bind(now_ms())
    .execute(tx)
    .await?;
    Ok(())
}

/// What the audit log has of a change: names of deeds, and more of each.
fn differences(before: Steering, now: Steering) -> Result<Vec<(&'static str, String)>> {
    let mut deeds = Vec::new();
    match (before.paused, now.paused) {
        (false, true) => deeds.push(("run.pause", String::new())),
        (true, false) => deeds.push(("run.resume", String::new())),
        _ => {}
    }
    if before.at_once != now.at_once {
        let at_once = now.at_once.map_or("no limit".into(), |n| n.to_string());
        deeds.push(("run.at_once", at_once));
    }
    if before.budget != now.budget {
        deeds.push(("run.budget", to_json(&now.budget)?));
    }
    Ok(deeds)
}

pub(super) fn read_steering(row: &AnyRow, config: &RunConfig) -> Result<Steering> {
    let budget = match row.try_get::<Option<String>, _>("budget")? {
        Some(raised) => from_json("a run's budget", &raised)?,
        None => config.budget,
    };
    Ok(Steering {
        paused: row.try_get::<Option<i64>, _>("paused_at")?.is_some(),
        at_once: row.try_get::<Option<i64>, _>("at_once")?.map(count),
        budget,
    })
}
