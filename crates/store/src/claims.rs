//! The work queue: workers claim evolutions under a lease, renew it while they
//! work, and release them.
//!
//! Leases end by the database's clock, which all workers share.
//!
//! A claim of a run with a concurrency limit locks the run first and then looks
//! again at its free evolutions. So the claims of such a run are serialised, and
//! each sees the ones before: no two workers together exceed the limit. Steering
//! locks the run in the same way. Other claims lock only the evolution, and pass
//! over those that somebody claims at the moment.

use sqlx::AnyExecutor;
use sqlx::any::AnyRow;
use swe_ci_base::clock::seconds_between;
use swe_ci_base::error::Result;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Cursor;
use swe_ci_core::task::TaskId;
use swe_ci_views::pace::Pace;

use super::Store;
use super::changes::count_up;
use super::rows::columns::Columns;
use super::sql::{Dialect, Tx, composed, only, query};

/// An evolution claimed by a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub evolution_id: String,
    pub run_id: String,
    pub task_id: TaskId,
    /// How often it was claimed, this claim included.
    pub number: u32,
}

/// The evolutions `e` of runs `r` that may be claimed, the longest expected
/// first: its serial steps set the minimum duration of the run. Nobody holds
/// them, and their run may be worked on and is below its concurrency limit. The
/// remaining evolutions of a cancelled run are claimed to be ended.
fn claimable(now: &str, and: &str) -> String {
    format!(
        "FROM evolutions e JOIN runs r ON r.id = e.run_id
         WHERE e.progress IN ('queued', 'running') AND (e.progress = 'queued' OR e.lease_until < {now})
           AND (r.progress = 'cancelled' OR (r.paused_at IS NULL AND NOT EXISTS (
                SELECT 1 FROM preflights p WHERE p.run_id = r.id AND p.state IN ('waiting', 'failed'))
                AND (r.at_once IS NULL OR r.at_once > (
                SELECT count(*) FROM evolutions b
                WHERE b.run_id = r.id AND b.progress = 'running' AND b.lease_until >= {now}))))
           {and}
         ORDER BY e.expected_seconds DESC, e.queued_at, e.id LIMIT 1"
    )
}

/// Its run has begun and has no limit, so that a claim need not lock it.
const NEEDS_NO_LOCK: &str = "r.at_once IS NULL AND r.progress <> 'queued'";

impl Store {
    /// Claims the next evolution of all runs that are neither paused nor at
    /// their concurrency limit.
    pub async fn claim(&self, worker: &str, lease_ms: i64) -> Result<Option<Claim>> {
        let now = self.dialect.now();
        let next = composed(format!(
            "SELECT CASE WHEN {NEEDS_NO_LOCK} THEN 0 ELSE 1 END {}",
            claimable(now, "")
        ));
        match next.first(&self.pool, only::<bool>).await? {
            None => Ok(None),
            Some(true) => self.claim_of_locked_run(worker, lease_ms).await,
            Some(false) => {
                let mine = format!("AND {NEEDS_NO_LOCK}");
                take(&self.pool, self.dialect, &mine, worker, lease_ms, None).await
            }
        }
    }

    async fn claim_of_locked_run(&self, worker: &str, lease_ms: i64) -> Result<Option<Claim>> {
        let mut tx = self.pool.begin().await?;
        let Some((run_id, progress)) = lock_next_run(&mut tx, self.dialect).await? else {
            return Ok(None);
        };
        let claimed = take(
            &mut *tx,
            self.dialect,
            "AND r.id = $3",
            worker,
            lease_ms,
            Some(&run_id),
        );
        // Another worker was faster.
        let Some(claim) = claimed.await? else {
            return Ok(None);
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
        let now = self.dialect.now();
        let held = composed(format!(
            "UPDATE evolutions SET lease_until = {now} + $3
             WHERE id = $1 AND worker = $2 AND progress = 'running'"
        ))
        .with((evolution_id, worker, lease_ms))
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

/// Claims the next evolution to which a condition applies. It locks no other
/// row, and waits for none.
async fn take<'c>(
    on: impl AnyExecutor<'c>,
    dialect: Dialect,
    and: &str,
    worker: &str,
    lease_ms: i64,
    run_id: Option<&str>,
) -> Result<Option<Claim>> {
    let now = dialect.now();
    let statement = composed(format!(
        "UPDATE evolutions SET progress = 'running', worker = $1, lease_until = {now} + $2,
                claim = claim + 1, started_at = coalesce(started_at, {now})
         WHERE id = (SELECT e.id {} {})
         RETURNING id, task_id, run_id, claim",
        claimable(now, and),
        dialect.skip_locked("e")
    ));
    let statement = statement.with((worker, lease_ms));
    let statement = match run_id {
        Some(run_id) => statement.with(run_id),
        None => statement,
    };
    let claim = |row: &AnyRow| {
        Ok(Claim {
            evolution_id: row.read("id")?,
            task_id: row.read("task_id")?,
            run_id: row.read("run_id")?,
            number: row.read("claim")?,
        })
    };
    statement.first(on, claim).await
}

/// Locks the run of the next evolution until the end of the transaction.
async fn lock_next_run(tx: &mut Tx, dialect: Dialect) -> Result<Option<(String, Progress)>> {
    let now = dialect.now();
    composed(format!(
        "UPDATE runs SET started_at = coalesce(started_at, {now})
         WHERE id = (SELECT e.run_id {})
         RETURNING id, progress",
        claimable(now, "")
    ))
    .first(tx, |row| Ok((row.read("id")?, row.read("progress")?)))
    .await
}
