//! The work queue: workers claim evolutions under a lease, renew it while they
//! work, and release them.
//!
//! A claim locks the run first and then looks again at its free evolutions. So
//! the claims of one run are serialised, and each sees the ones before: no two
//! workers together exceed the run's concurrency limit. Steering locks the run
//! in the same way.

use swe_ci_base::clock::{now_ms, seconds_between};
use swe_ci_base::error::Result;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Cursor;
use swe_ci_core::task::TaskId;
use swe_ci_views::pace::Pace;

use super::Store;
use super::changes::count_up;
use super::rows::columns::Columns;
use super::sql::{Tx, composed, query};

/// An evolution claimed by a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub evolution_id: String,
    pub run_id: String,
    pub task_id: TaskId,
}

/// No worker holds it: it is queued, or its lease has expired. `$1` is now.
const UNCLAIMED: &str = "(progress = 'queued' OR (progress = 'running' AND lease_until < $1))";

/// Its run may be worked on and is below its concurrency limit. The remaining
/// evolutions of a cancelled run are claimed to be ended.
const CLAIMABLE: &str = "(r.progress = 'cancelled' OR (r.paused_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM preflights p WHERE p.run_id = r.id AND p.state IN ('waiting', 'failed')) AND (r.at_once IS NULL OR r.at_once > (
    SELECT count(*) FROM evolutions b
    WHERE b.run_id = r.id AND b.progress = 'running' AND b.lease_until >= $1))))";

/// The longest expected evolution first, since its serial steps set the minimum
/// duration of the run.
const ORDER: &str = "expected_seconds DESC, queued_at, id";

impl Store {
    /// Claims the next evolution of all runs that are neither paused nor at
    /// their concurrency limit.
    pub async fn claim(&self, worker: &str, lease_ms: i64) -> Result<Option<Claim>> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let Some((run_id, progress)) = lock_next_run(&mut tx, now).await? else {
            return Ok(None);
        };
        let row = composed(format!(
            "UPDATE evolutions SET progress = 'running', worker = $2, lease_until = $3,
                    started_at = coalesce(started_at, $1)
             WHERE id = (SELECT id FROM evolutions WHERE run_id = $4 AND {UNCLAIMED}
                           AND EXISTS (SELECT 1 FROM runs r WHERE r.id = $4 AND {CLAIMABLE})
                         ORDER BY {ORDER} LIMIT 1)
               AND {UNCLAIMED}
             RETURNING id, task_id"
        ))
        .with((now, worker, now + lease_ms, &run_id))
        .row(&mut *tx)
        .await?;
        // Another worker was faster.
        let Some(row) = row else { return Ok(None) };
        let claim = Claim {
            evolution_id: row.read("id")?,
            task_id: row.read("task_id")?,
            run_id,
        };
        if progress == Progress::Queued {
            query("UPDATE runs SET progress = 'running' WHERE id = $1")
                .with(&claim.run_id)
                .run(&mut *tx)
                .await?;
            count_up(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(Some(claim))
    }

    /// Renews a lease; `false` when this worker no longer holds it.
    pub async fn heartbeat(&self, evolution_id: &str, worker: &str, lease_ms: i64) -> Result<bool> {
        let held = query(
            "UPDATE evolutions SET lease_until = $3 WHERE id = $1 AND worker = $2 AND progress = 'running'",
        )
        .with((evolution_id, worker, now_ms() + lease_ms))
        .changed(&self.pool)
        .await?;
        Ok(held == 1)
    }

    /// Releases a claim, so that other workers can claim the evolution at once;
    /// `false` when this worker no longer holds it.
    pub async fn release_claim(&self, evolution_id: &str, worker: &str) -> Result<bool> {
        let released = query(
            "UPDATE evolutions SET progress = 'queued', worker = NULL, lease_until = 0
             WHERE id = $1 AND worker = $2 AND progress = 'running'",
        )
        .with((evolution_id, worker))
        .changed(&self.pool)
        .await?;
        Ok(released == 1)
    }

    /// Releases all claims of workers whose names start with `prefix`; returns
    /// how many.
    pub async fn release(&self, prefix: &str) -> Result<u64> {
        query(
            "UPDATE evolutions SET progress = 'queued', worker = NULL, lease_until = 0
             WHERE progress = 'running' AND substr(worker, 1, length($1)) = $1",
        )
        .with(prefix)
        .changed(&self.pool)
        .await
    }

    /// The time spent on each evolution of a run: the sum of its steps, without
    /// the waiting between them.
    pub async fn pace(&self, run_id: &str) -> Result<Pace> {
        let evolutions = query(
            "SELECT e.progress AS progress, CAST(coalesce(sum(s.finished_at - s.started_at), 0) AS BIGINT) AS taken
             FROM evolutions e LEFT JOIN steps s ON s.evolution_id = e.id
             WHERE e.run_id = $1 GROUP BY e.id, e.progress",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            let seconds = seconds_between(0, row.read("taken")?);
            Ok((row.read("progress")?, seconds))
        })
        .await?;
        let mut pace = Pace::default();
        for (progress, worked) in evolutions {
            match progress {
                Progress::Queued => pace.waiting.push(worked),
                Progress::Running => pace.at_work.push(worked),
                Progress::Finished => pace.over.push(worked),
                Progress::Cancelled => {}
            }
        }
        Ok(pace)
    }

    /// Records the current step, for display.
    pub async fn note_step(&self, evolution_id: &str, at: Cursor) -> Result<()> {
        query(
            "UPDATE evolutions SET at_iteration = $2, at_role = $3, at_attempt = $4 WHERE id = $1",
        )
        .with((evolution_id, at.iteration, at.role.name(), at.attempt))
        .run(&self.pool)
        .await
    }
}

/// Locks the run of the next evolution until the end of the transaction.
async fn lock_next_run(tx: &mut Tx, now: i64) -> Result<Option<(String, Progress)>> {
    composed(format!(
        "UPDATE runs SET started_at = coalesce(started_at, $1)
         WHERE id = (SELECT run_id FROM (
                         SELECT e.* FROM evolutions e JOIN runs r ON r.id = e.run_id WHERE {CLAIMABLE}) free
                     WHERE {UNCLAIMED} ORDER BY {ORDER} LIMIT 1)
         RETURNING id, progress"
    ))
    .with(now)
    .first(tx, |row| Ok((row.read("id")?, row.read("progress")?)))
    .await
}
