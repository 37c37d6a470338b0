//! Workers: the processes that execute evolutions.

use sqlx::any::AnyRow;
use swe_ci_base::clock::seconds_between;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::labels::Labels;
use swe_ci_core::run::RunConfig;
use swe_ci_views::account::Actor;
use swe_ci_views::workers::{NeedyRun, WorkerClaim, WorkerFigures, WorkerState, WorkerView};

use super::audit::note;
use super::rows::columns::{Columns, from_row};
use super::sql::{composed, query};
use super::{Store, to_json};

/// A worker without a heartbeat for this long counts as lost.
const LOST_AFTER_MS: i64 = 60_000;
/// How long a lost worker stays in the list.
const FORGOTTEN_AFTER_MS: i64 = 7 * 24 * 3_600_000;

/// A worker that begins.
#[derive(Debug, Clone)]
pub struct NewWorker<'a> {
    /// The first part of the names under which its slots claim evolutions; begins
    /// with the id of its data folder and a slash.
    pub id: &'a str,
    /// For people: the host's, unless it was given another.
    pub name: &'a str,
    pub version: &'a str,
    pub slots: usize,
    pub labels: &'a Labels,
}

impl Store {
    /// Lists a worker. Drops its predecessors on the same data folder, which it
    /// knows to be dead, and workers lost for a week.
    pub async fn put_worker(&self, worker: &NewWorker<'_>) -> Result<()> {
        let now = self.dialect.now();
        let folder = worker.id.split('/').next().unwrap_or_default();
        composed(format!(
            "DELETE FROM workers WHERE seen_at < {now} - $1 OR substr(id, 1, length($2)) = $2"
        ))
        .with((FORGOTTEN_AFTER_MS, format!("{folder}/")))
        .run(&self.pool)
        .await?;
        composed(format!(
            "INSERT INTO workers (id, name, version, slots, labels, started_at, seen_at)
             VALUES ($1, $2, $3, $4, $5, {now}, {now})"
        ))
        .with((worker.id, worker.name, worker.version))
        .with(u32::try_from(worker.slots).unwrap_or(u32::MAX))
        .with(to_json(worker.labels)?)
        .run(&self.pool)
        .await
    }

    /// Records that a worker lives; returns whether it was told to drain.
    pub async fn worker_lives(&self, id: &str, figures: &WorkerFigures) -> Result<bool> {
        composed(format!(
            "UPDATE workers SET seen_at = {}, figures = $2 WHERE id = $1 RETURNING draining",
            self.dialect.now()
        ))
        .with((id, to_json(figures)?))
        .first(&self.pool, |row| row.read("draining"))
        .await?
        .ok_or_else(|| Error::not_found("worker", id))
    }

    /// Takes a worker off the list that has ended.
    pub async fn remove_worker(&self, id: &str) -> Result<()> {
        query("DELETE FROM workers WHERE id = $1")
            .with(id)
            .run(&self.pool)
            .await
    }

    /// Has the workers of this id or name claim nothing more, or claim again;
    /// returns how many there are.
    pub async fn drain_workers(&self, which: &str, drain: bool, by: &Actor) -> Result<u64> {
        let mut tx = self.pool.begin().await?;
        let found = query("UPDATE workers SET draining = $2 WHERE id = $1 OR name = $1")
            .with((which, drain))
            .changed(&mut *tx)
            .await?;
        if found == 0 {
            return Ok(0);
        }
        let action = if drain {
            "worker.drain"
        } else {
            "worker.resume"
        };
        note(&mut tx, by, action, which, "").await?;
        tx.commit().await?;
        Ok(found)
    }

    /// All workers and what they work on, by name.
    pub async fn workers(&self) -> Result<Vec<WorkerView>> {
        let now = self.dialect.now();
        let mut workers = composed(format!(
            "SELECT w.*, {now} AS now FROM workers w ORDER BY w.name, w.started_at, w.id"
        ))
        .all(&self.pool, read_worker)
        .await?;
        let claims = composed(format!(
            "SELECT e.id AS evolution_id, e.run_id, e.task_id, e.sample, e.at_iteration, e.at_role, e.worker
             FROM evolutions e WHERE e.progress = 'running' AND e.lease_until >= {now}
             ORDER BY e.started_at, e.id"
        ))
        .all(&self.pool, |row| {
            let claim = from_row!(row => WorkerClaim {
                evolution_id, run_id, task_id, sample;
                iteration: row.read("at_iteration")?,
                role: row.read("at_role")?
            });
            Ok((row.read::<Option<String>>("worker")?.unwrap_or_default(), claim))
        })
        .await?;
        for (slot, claim) in claims {
            let holds = |worker: &&mut WorkerView| {
                slot.strip_prefix(worker.worker_id.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            if let Some(worker) = workers.iter_mut().find(holds) {
                worker.claims.push(claim);
            }
        }
        Ok(workers)
    }

    /// The runs with queued evolutions that need labels of their workers.
    pub async fn needy_runs(&self) -> Result<Vec<NeedyRun>> {
        query(
            "SELECT r.id AS run_id, r.config AS config FROM runs r
             WHERE r.progress IN ('queued', 'running') AND r.paused_at IS NULL
                AND EXISTS (SELECT 1 FROM run_needs n WHERE n.run_id = r.id)
                AND EXISTS (SELECT 1 FROM evolutions e WHERE e.run_id = r.id AND e.progress = 'queued')
             ORDER BY r.id",
        )
        .all(&self.pool, |row| {
            let RunConfig { model, needs, .. } = row.read("config")?;
            Ok(from_row!(row => NeedyRun { run_id; model: model, needs: needs }))
        })
        .await
    }
}

fn read_worker(row: &AnyRow) -> Result<WorkerView> {
    let (seen, now): (i64, i64) = (row.read("seen_at")?, row.read("now")?);
    let state = match (now - seen > LOST_AFTER_MS, row.read("draining")?) {
        (true, _) => WorkerState::Lost,
        (false, true) => WorkerState::Draining,
        (false, false) => WorkerState::Working,
    };
    Ok(from_row!(row => WorkerView {
        name, version, slots;
        worker_id: row.read("id")?,
        labels: row.json("labels", "a worker's labels")?,
        state: state,
        started_at: row.time("started_at")?,
        seen_at: row.time("seen_at")?,
        silent_seconds: seconds_between(seen, now),
        claims: Vec::new(),
        figures: row.json("figures", "a worker's figures")?
    }))
}
