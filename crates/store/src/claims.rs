//! The work queue: workers claim evolutions under a lease, renew it while they
//! work, and release them.
//!
//! Leases end by the database's clock, which all workers share.
//!
//! A claim first looks which run's turn it is, then takes an evolution there.
//! If the run has a concurrency limit, the claim locks it and looks again at its
//! free evolutions: the claims of such a run are serialised, and each sees the
//! ones before, so that no two workers together exceed the limit. Steering locks
//! the run in the same way. Other claims lock only the evolution, and pass over
//! those that somebody claims at the moment.

use sqlx::AnyExecutor;
use sqlx::any::AnyRow;
use swe_ci_base::clock::seconds_between;
use swe_ci_base::error::Result;
use swe_ci_core::labels::Labels;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Cursor;
use swe_ci_core::task::TaskId;
use swe_ci_views::pace::Pace;

use super::Store;
use super::changes::count_up;
use super::queue_signals::signal_workers;
use super::rows::columns::{Columns, from_row};
use super::sql::{Dialect, Statement, composed, list_of, only, query};

/// An evolution claimed by a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub evolution_id: String,
    pub run_id: String,
    pub task_id: TaskId,
    /// How often it was claimed, this claim included.
    pub number: u32,
}

/// What a worker holds of an evolution that it claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lease {
    Held,
    /// Nobody does: this worker has ended the evolution.
    Ended,
    /// Another worker took it over, or it is queued again.
    Lost,
}

/// Runs `r` whose evolutions may be claimed: nobody paused them, and they are
/// below their concurrency limit. The remaining evolutions of a cancelled run are
/// claimed to be ended.
fn workable(now: &str) -> String {
    format!(
        "r.progress IN ('queued', 'running', 'cancelled')
         AND (r.progress = 'cancelled' OR (r.paused_at IS NULL AND NOT EXISTS (
                SELECT 1 FROM preflights p WHERE p.run_id = r.id AND p.state IN ('waiting', 'failed'))
                AND (r.at_once IS NULL OR r.at_once > (
                SELECT count(*) FROM evolutions b
                WHERE b.run_id = r.id AND b.progress = 'running' AND b.lease_until >= {now}))))"
    )
}

/// Runs `r` that need none but the labels in the first parameters.
fn needs_only(labels: usize) -> String {
    let others = match labels {
        0 => String::new(),
        labels => format!(" AND n.need NOT IN {}", list_of(labels)),
    };
    format!("NOT EXISTS (SELECT 1 FROM run_needs n WHERE n.run_id = r.id{others})")
}

/// Of the runs `r` that wait, the one with the fewest evolutions at work, then the
/// one whose last claim was longest ago: they take turns.
const TURNS: &str = "(SELECT count(*) FROM evolutions b WHERE b.run_id = r.id AND b.progress = 'running'), r.claimed_at, r.id";

/// Within a run the longest expected first: its serial steps set the minimum
/// duration of the run.
const ORDER: &str = "e.expected_seconds DESC, e.queued_at, e.id";

/// How often a claim looks again when others were faster.
const TRIES: usize = 4;

/// The run whose turn it is.
struct Next {
    run_id: String,
    /// Whether the run has not begun or has a limit, so that a claim locks it.
    lock: bool,
}

impl Store {
    /// [`Self::claim_offering`] for a worker without labels.
    pub async fn claim(&self, worker: &str, lease_ms: i64) -> Result<Option<Claim>> {
        let none = Labels::default();
        self.claim_offering(&none, worker, lease_ms).await
    }

    /// Claims the next evolution of all runs that are neither paused nor at
    /// their concurrency limit, and need no label but these.
    pub async fn claim_offering(
        &self,
        labels: &Labels,
        worker: &str,
        lease_ms: i64,
    ) -> Result<Option<Claim>> {
        self.put_back_lost().await?;
        for _ in 0..TRIES {
            let Some(Next { run_id, lock }) = self.next(labels).await? else {
                return Ok(None);
            };
            let claim = if lock {
                self.claim_of_locked_run(&run_id, worker, lease_ms).await?
            } else {
                take(&self.pool, self.dialect, &run_id, worker, lease_ms).await?
            };
            if claim.is_some() {
                self.end_turn(&run_id).await?;
                return Ok(claim);
            }
        }
        Ok(None)
    }

    /// Whether some lease ends within so many milliseconds: its worker has not
    /// renewed it, may be gone, and others will have its evolution.
    pub async fn some_lease_ends_within(&self, ms: i64) -> Result<bool> {
        let now = self.dialect.now();
        let ending: i64 = composed(format!(
            "SELECT count(*) FROM evolutions WHERE progress = 'running' AND lease_until < {now} + $1"
        ))
        .with(ms)
        .one(&self.pool, only)
        .await?;
        Ok(ending > 0)
    }

    /// Puts evolutions back whose workers gave no sign of life for their lease.
    async fn put_back_lost(&self) -> Result<()> {
        let now = self.dialect.now();
        let put_back = composed(format!(
            "UPDATE evolutions SET progress = 'queued', worker = NULL, lease_until = 0
             WHERE progress = 'running' AND lease_until < {now}"
        ))
        .changed(&self.pool)
        .await?;
        // Every claim comes by here, so there is no transaction: the caller is
        // about to claim, and others look again by themselves at last.
        match put_back {
            0 => Ok(()),
            _ => signal_workers(&self.pool, self.dialect).await,
        }
    }

    /// Finds the run whose turn it is. The query asks each open run whether it has a
    /// queued evolution, and so reads no long queue. A run's needs never change: no
    /// other place asks for them.
    async fn next(&self, offered: &Labels) -> Result<Option<Next>> {
        let offered: Vec<String> = offered.texts().collect();
        composed(format!(
            "SELECT r.id AS run_id, CASE WHEN r.at_once IS NULL AND r.progress <> 'queued' THEN 0 ELSE 1 END AS lock
             FROM runs r
             WHERE EXISTS (SELECT 1 FROM evolutions e WHERE e.run_id = r.id AND e.progress = 'queued')
               AND {} AND (r.progress = 'cancelled' OR {}) ORDER BY {TURNS} LIMIT 1",
            workable(self.dialect.now()),
            needs_only(offered.len())
        ))
        .with(offered.as_slice())
        .first(&self.pool, |row| Ok(from_row!(row => Next { run_id, lock })))
        .await
    }

    /// The run is behind the others now. Not in the claim's transaction, which
    /// locks the run only if it must; a turn that is lost costs a turn.
    async fn end_turn(&self, run_id: &str) -> Result<()> {
        let now = self.dialect.now();
        composed(format!("UPDATE runs SET claimed_at = {now} WHERE id = $1"))
            .with(run_id)
            .run(&self.pool)
            .await
    }

    async fn claim_of_locked_run(
        &self,
        run_id: &str,
        worker: &str,
        lease_ms: i64,
    ) -> Result<Option<Claim>> {
        let mut tx = self.pool.begin().await?;
        let now = self.dialect.now();
        let locked = composed(format!(
            "UPDATE runs SET started_at = coalesce(started_at, {now}) WHERE id = $1 RETURNING progress"
        ));
        let progress: Progress = locked.with(run_id).one(&mut *tx, only).await?;
        // Another worker may have been faster.
        let Some(claim) = take(&mut *tx, self.dialect, run_id, worker, lease_ms).await? else {
            return Ok(None);
        };
        if progress == Progress::Queued {
            query("UPDATE runs SET progress = 'running' WHERE id = $1")
                .with(run_id)
                .run(&mut *tx)
                .await?;
            count_up(&mut tx).await?;
        }
        tx.commit().await?;
        Ok(Some(claim))
    }

    /// Renews a lease, if this worker still holds it.
    pub async fn heartbeat(
        &self,
        evolution_id: &str,
        worker: &str,
        lease_ms: i64,
    ) -> Result<Lease> {
        let now = self.dialect.now();
        let held = composed(format!(
            "UPDATE evolutions SET lease_until = {now} + $3
             WHERE id = $1 AND worker = $2 AND progress = 'running'"
        ))
        .with((evolution_id, worker, lease_ms))
        .changed(&self.pool)
        .await?;
        if held == 1 {
            return Ok(Lease::Held);
        }
        let ended = query(
            "SELECT count(*) FROM evolutions
             WHERE id = $1 AND worker = $2 AND progress IN ('finished', 'cancelled')",
        )
        .with((evolution_id, worker))
        .one(&self.pool, only::<u32>)
        .await?;
        Ok(match ended {
            0 => Lease::Lost,
            _ => Lease::Ended,
        })
    }

    /// Releases a claim, so that other workers can claim the evolution at once;
    /// `false` when this worker no longer holds it.
    pub async fn release_claim(&self, evolution_id: &str, worker: &str) -> Result<bool> {
        let released = query(
            "UPDATE evolutions SET progress = 'queued', worker = NULL, lease_until = 0
             WHERE id = $1 AND worker = $2 AND progress = 'running'",
        );
        Ok(self.requeue(released.with((evolution_id, worker))).await? == 1)
    }

    /// Releases all claims of workers whose names start with `prefix`; returns
    /// how many.
    pub async fn release(&self, prefix: &str) -> Result<u64> {
        let released = query(
            "UPDATE evolutions SET progress = 'queued', worker = NULL, lease_until = 0
             WHERE progress = 'running' AND substr(worker, 1, length($1)) = $1",
        );
        self.requeue(released.with(prefix)).await
    }

    /// Runs a statement that puts evolutions back; returns how many.
    async fn requeue(&self, statement: Statement) -> Result<u64> {
        let mut tx = self.pool.begin().await?;
        let count = statement.changed(&mut *tx).await?;
        if count > 0 {
            signal_workers(&mut *tx, self.dialect).await?;
        }
        tx.commit().await?;
        Ok(count)
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

    /// The mean time spent on the finished evolutions of each task of a run, in
    /// seconds.
    pub async fn work_by_task(&self, run_id: &str) -> Result<Vec<(TaskId, f64)>> {
        query(
            "SELECT w.task_id AS task_id, CAST(avg(w.taken) AS DOUBLE PRECISION) / 1000 AS seconds
             FROM (SELECT e.task_id AS task_id, sum(s.finished_at - s.started_at) AS taken
                   FROM evolutions e JOIN steps s ON s.evolution_id = e.id
                   WHERE e.run_id = $1 AND e.progress = 'finished' GROUP BY e.id, e.task_id) w
             GROUP BY w.task_id ORDER BY w.task_id",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("task_id")?, row.read("seconds")?))
        })
        .await
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

/// Claims the next evolution of a run, if the run may be worked on still. It
/// locks no other row, and waits for none.
async fn take<'c>(
    on: impl AnyExecutor<'c>,
    dialect: Dialect,
    run_id: &str,
    worker: &str,
    lease_ms: i64,
) -> Result<Option<Claim>> {
    let now = dialect.now();
    let statement = composed(format!(
        "UPDATE evolutions SET progress = 'running', worker = $1, lease_until = {now} + $2,
                claim = claim + 1, started_at = coalesce(started_at, {now})
         WHERE id = (
             SELECT e.id FROM evolutions e JOIN runs r ON r.id = e.run_id
             WHERE e.run_id = $3 AND e.progress = 'queued' AND {}
             ORDER BY {ORDER} LIMIT 1 {})
         RETURNING id, task_id, run_id, claim",
        workable(now),
        dialect.skip_locked("e")
    ));
    let claim = |row: &AnyRow| {
        Ok(Claim {
            evolution_id: row.read("id")?,
            task_id: row.read("task_id")?,
            run_id: row.read("run_id")?,
            number: row.read("claim")?,
        })
    };
    statement
        .with((worker, lease_ms, run_id))
        .first(on, claim)
        .await
}
