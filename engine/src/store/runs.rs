//! Runs: submitted, listed, cancelled.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;
use swe_ci_core::view::{Provenance, RunSummary};

use super::changes::count_up;
use super::{Store, count, from_json, to_json};
use crate::clock::{now_ms, rfc3339};
use crate::error::{Error, Result};

/// A run to be queued with all its evolutions.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub config: RunConfig,
    pub provenance: Provenance,
    /// Task and expected seconds of one evolution of it.
    pub tasks: Vec<(TaskId, f64)>,
}

const SUMMARY: &str = "
    SELECT r.id AS id, r.config AS config, r.progress AS progress, r.created_at AS created_at,
           r.started_at AS started_at, r.finished_at AS finished_at,
           (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id) AS evolutions,
           (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.progress IN ('finished', 'cancelled')) AS over,
           (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.ending = 'blocked') AS blocked,
           (SELECT count(*) FROM iterations i JOIN evolutions e ON e.id = i.evolution_id WHERE e.run_id = r.id) AS iterations
    FROM runs r";

impl Store {
    /// Writes a run and its evolutions in one transaction; returns its id.
    pub async fn insert_run(&self, run: &NewRun) -> Result<String> {
        let id = uuid::Uuid::now_v7().to_string();
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO runs (id, split, kind, config, provenance, progress, created_at)
             VALUES ($1, $2, $3, $4, $5, 'queued', $6)",
        )
        .bind(&id)
        .bind(&run.config.split)
        .bind(run.config.kind.name())
        .bind(to_json(&run.config)?)
        .bind(to_json(&run.provenance)?)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        for (task, expected_seconds) in &run.tasks {
            for sample in 1..=run.config.samples {
                sqlx::query(
                    "INSERT INTO evolutions (id, run_id, task_id, sample, progress, lease_until, expected_seconds,
                                             queued_at, at_iteration, at_role, at_attempt, suite)
                     VALUES ($1, $2, $3, $4, 'queued', 0, $5, $6, 1, 'architect', 1,
                             (SELECT suite FROM tasks WHERE id = $3))",
                )
                .bind(uuid::Uuid::now_v7().to_string())
                .bind(&id)
                .bind(task.as_str())
                .bind(i64::from(sample))
                .bind(*expected_seconds)
                .bind(now)
                .execute(&mut *tx)
                .await?;
            }
        }
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Newest first, older than the run `before` (a run id; empty for the
    /// newest). Run ids rise with time.
    pub async fn runs(&self, before: &str, limit: u32) -> Result<Vec<RunSummary>> {
        let sql = format!("{SUMMARY} WHERE ($1 = '' OR r.id < $1) ORDER BY r.id DESC LIMIT $2");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(before)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_summary).collect()
    }

    /// When the first worker took up a run, in unix milliseconds.
    pub async fn run_began(&self, id: &str) -> Result<Option<i64>> {
        let row = sqlx::query("SELECT started_at FROM runs WHERE id = $1")
            .bind(id)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get("started_at")?)
    }

    pub async fn run(&self, id: &str) -> Result<RunSummary> {
        let sql = format!("{SUMMARY} WHERE r.id = $1");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref()
            .map(read_summary)
            .transpose()?
            .ok_or_else(|| Error::not_found("run", id))
    }

    /// All runs of a split, oldest first.
    pub async fn runs_of_split(&self, split: &str) -> Result<Vec<RunSummary>> {
        let sql = format!("{SUMMARY} WHERE r.split = $1 ORDER BY r.id");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(split)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_summary).collect()
    }

    pub async fn provenance(&self, run_id: &str) -> Result<Provenance> {
        let row = sqlx::query("SELECT provenance FROM runs WHERE id = $1")
            .bind(run_id)
            .fetch_optional(&self.pool)
            .await?;
        let row = row.ok_or_else(|| Error::not_found("run", run_id))?;
        from_json(
            "a run's provenance",
            &row.try_get::<String, _>("provenance")?,
        )
    }

    /// Cancels a run: what is queued is over at once, what is running is
    /// stopped by its worker. Cancelling twice is the same as once.
    pub async fn cancel_run(&self, id: &str) -> Result<()> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        let changed = sqlx::query(
            "UPDATE runs SET progress = 'cancelled', finished_at = $2
             WHERE id = $1 AND progress IN ('queued', 'running', 'cancelled')",
        )
        .bind(id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            tx.rollback().await?;
            let run = self.run(id).await?;
            return Err(Error::Conflict(format!(
                "run {} is {} already",
                run.run_id,
                run.progress.name()
            )));
        }
        sqlx::query(
            "UPDATE evolutions SET progress = 'cancelled', ending = 'cancelled', finished_at = $2
             WHERE run_id = $1 AND progress = 'queued'",
        )
        .bind(id)
        .bind(now)
        .execute(&mut *tx)
        .await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn run_progress(&self, id: &str) -> Result<Progress> {
        let row = sqlx::query("SELECT progress FROM runs WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        let row = row.ok_or_else(|| Error::not_found("run", id))?;
        read_progress(&row)
    }
}

fn read_summary(row: &AnyRow) -> Result<RunSummary> {
    let config: RunConfig = from_json(
        "a run's configuration",
        &row.try_get::<String, _>("config")?,
    )?;
    Ok(RunSummary {
        run_id: row.try_get("id")?,
        config,
        progress: read_progress(row)?,
        created_at: rfc3339(row.try_get("created_at")?),
        started_at: row.try_get::<Option<i64>, _>("started_at")?.map(rfc3339),
        finished_at: row.try_get::<Option<i64>, _>("finished_at")?.map(rfc3339),
        evolutions: count(row.try_get("evolutions")?),
        evolutions_over: count(row.try_get("over")?),
        evolutions_blocked: count(row.try_get("blocked")?),
        iterations: count(row.try_get("iterations")?),
    })
}

pub(super) fn read_progress(row: &AnyRow) -> Result<Progress> {
    let name: String = row.try_get("progress")?;
    Progress::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the progress `{name}`").into())
}
