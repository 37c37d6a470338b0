//! The queue's side of evolutions: claimed by workers under a lease, held
//! while they work, put down.
//!
//! A claim locks the run first and then looks again at what is free of it.
//! Claims of one run so come one after the other, and each sees what the one
//! before took: two workers never go over what the run may have at the same
//! time. Whoever steers a run locks it in the same way.

use sqlx::Row;
use swe_ci_core::pace::Pace;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Cursor;
use swe_ci_core::task::TaskId;

use super::Store;
use super::changes::count_up;
use super::rows::task_id;
use super::runs::read_progress;
use crate::clock::{now_ms, seconds_between};
use crate::error::Result;

/// An evolution a worker holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub evolution_id: String,
    pub run_id: String,
    pub task_id: TaskId,
}

/// Nobody works on it: it waits, or whoever held it gives no sign of life.
/// `$1` is now.
const IDLE: &str = "(progress = 'queued' OR (progress = 'running' AND lease_until < $1))";

/// Its run may be worked on, and has fewer at work than it may have. What a
/// cancelled run left behind is taken up to be ended.
const WANTED: &str = "(r.progress = 'cancelled' OR (r.paused_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM preflights p WHERE p.run_id = r.id AND p.state IN ('waiting', 'failed')) AND (r.at_once IS NULL OR r.at_once > (
    SELECT count(*) FROM evolutions b
    WHERE b.run_id = r.id AND b.progress = 'running' AND b.lease_until >= $1))))";

/// The longest expected first, since a chain of serial steps sets the floor
/// for the whole run.
const ORDER: &str = "expected_seconds DESC, queued_at, id";

impl Store {
    /// Takes the next evolution of all runs that are neither paused nor have
    /// as many at work as they may.
    pub async fn claim(&self, worker: &str, lease_ms: i64) -> Result<Option<Claim>> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let Some((run_id, progress)) = lock_next_run(&mut tx, now).await? else {
            return Ok(None);
        };
        let sql = format!(
            "UPDATE evolutions SET progress = 'running', worker = $2, lease_until = $3,
                    started_at = coalesce(started_at, $1)
             WHERE id = (SELECT id FROM evolutions WHERE run_id = $4 AND {IDLE}
                           AND EXISTS (SELECT 1 FROM runs r WHERE r.id = $4 AND {WANTED})
                         ORDER BY {ORDER} LIMIT 1)
               AND {IDLE}
             RETURNING id, task_id"
        );
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(now)
            .bind(worker)
            .bind(now + lease_ms)
            .bind(&run_id)
            .fetch_optional(&mut *tx)
            .await?;
        // Somebody else was quicker.
        let Some(row) = row else { return Ok(None) };
        let claim = Claim {
            evolution_id: row.try_get("id")?,
            task_id: task_id(&row)?,
            run_id,
        };
        if progress == Progress::Queued {
            sqlx::query("UPDATE runs SET progress = 'running' WHERE id = $1")
                .bind(&claim.run_id)
                .execute(&mut *tx)
                .await?;
            count_up(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(Some(claim))
    }

    /// Prolongs a lease; `false` when this worker no longer holds it.
    pub async fn heartbeat(&self, evolution_id: &str, worker: &str, lease_ms: i64) -> Result<bool> {
        let held = sqlx::query(
            "UPDATE evolutions SET lease_until = $3 WHERE id = $1 AND worker = $2 AND progress = 'running'",
        )
        .bind(evolution_id)
        .bind(worker)
        .bind(now_ms() + lease_ms)
        .execute(&self.pool)
        .await?;
        Ok(held.rows_affected() == 1)
    }

    /// Gives back what a worker holds, so that it can be claimed at once;
    /// `false` when it no longer holds it.
    pub async fn put_down(&self, evolution_id: &str, worker: &str) -> Result<bool> {
        let put_down = sqlx::query(
            "UPDATE evolutions SET progress = 'queued', worker = NULL, lease_until = 0
             WHERE id = $1 AND worker = $2 AND progress = 'running'",
        )
        .bind(evolution_id)
        .bind(worker)
        .execute(&self.pool)
        .await?;
        Ok(put_down.rows_affected() == 1)
    }

    /// Gives back what workers whose name starts with `prefix` hold, so that
    /// it can be claimed at once.
    pub async fn release(&self, prefix: &str) -> Result<u64> {
        let released = sqlx::query(
            "UPDATE evolutions SET progress = 'queued', worker = NULL, lease_until = 0
             WHERE progress = 'running' AND substr(worker, 1, length($1)) = $1",
        )
        .bind(prefix)
        .execute(&self.pool)
        .await?;
        Ok(released.rows_affected())
    }

    /// How long the evolutions of a run were worked on: the time of their
    /// steps, without what they waited between.
    pub async fn pace(&self, run_id: &str) -> Result<Pace> {
        let rows = sqlx::query(
            "SELECT e.progress AS progress, CAST(coalesce(sum(s.finished_at - s.started_at), 0) AS BIGINT) AS taken
             FROM evolutions e LEFT JOIN steps s ON s.evolution_id = e.id
             WHERE e.run_id = $1 GROUP BY e.id, e.progress",
        )
        .bind(run_id)
        .fetch_all(&self.pool)
        .await?;
        let mut pace = Pace::default();
        for row in rows {
            let taken = seconds_between(0, row.try_get("taken")?);
            match read_progress(&row)? {
                Progress::Queued => pace.waiting.push(taken),
                Progress::Running => pace.at_work.push(taken),
                Progress::Finished => pace.over.push(taken),
                Progress::Cancelled => {}
            }
        }
        Ok(pace)
    }

    /// Notes which step is at work, for those who watch.
    pub async fn note_step(&self, evolution_id: &str, at: Cursor) -> Result<()> {
        sqlx::query(
            "UPDATE evolutions SET at_iteration = $2, at_role = $3, at_attempt = $4 WHERE id = $1",
        )
        .bind(evolution_id)
        .bind(i64::from(at.iteration))
        .bind(at.role.name())
        .bind(i64::from(at.attempt))
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

/// Locks the run that has the next evolution until the transaction is over.
async fn lock_next_run(
    tx: &mut sqlx::AnyConnection,
    now: i64,
) -> Result<Option<(String, Progress)>> {
    let sql = format!(
        "UPDATE runs SET started_at = coalesce(started_at, $1)
         WHERE id = (SELECT run_id FROM (
                         SELECT e.* FROM evolutions e JOIN runs r ON r.id = e.run_id WHERE {WANTED}) free
                     WHERE {IDLE} ORDER BY {ORDER} LIMIT 1)
         RETURNING id, progress"
    );
    let row = sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(now)
        .fetch_optional(tx)
        .await?;
    row.map(|row| Ok((row.try_get("id")?, read_progress(&row)?)))
        .transpose()
}
