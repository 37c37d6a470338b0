//! Runs: submitted, listed, published.

use sqlx::Row;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;
use swe_ci_views::account::{Actor, Standing, Visibility};
use swe_ci_views::view::{Provenance, RunSummary};

use super::audit::note;
use super::changes::count_up;
use super::rows::columns::read_progress;
use super::rows::runs::{RunToExecute, read_run_summary, read_run_to_execute, read_visibility};
use super::{Store, from_json, to_json};

/// A run to queue with all its evolutions.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub config: RunConfig,
    /// Its owner and visibility.
    pub standing: Standing,
    pub grant: RunPermissions,
    pub provenance: Provenance,
    /// Each task, with the expected seconds of one of its evolutions.
    pub tasks: Vec<(TaskId, f64)>,
    /// Whether it waits for a preflight.
    pub preflight: bool,
    /// Whether to remove its owner's keys that it names when it is over.
    pub forget_keys: bool,
}

/// The runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// The public ones.
    Public,
    /// The public ones and those of this account.
    Of(String),
    All,
}

const SUMMARY: &str = "
    SELECT r.id AS id, r.config AS config, r.visibility AS visibility,
           r.withdrawn AS withdrawn, r.verified AS verified, r.progress AS progress, r.created_at AS created_at,
           r.started_at AS started_at, r.finished_at AS finished_at,
           r.paused_at AS paused_at, r.at_once AS at_once, r.budget AS budget,
           (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id) AS evolutions,
           (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.progress IN ('finished', 'cancelled')) AS over,
           (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.ending = 'blocked') AS blocked,
           (SELECT count(*) FROM iterations i JOIN evolutions e ON e.id = i.evolution_id WHERE e.run_id = r.id) AS iterations
    FROM runs r";

impl Store {
    /// Writes a run and its evolutions in one transaction; returns its id.
    pub async fn insert_run(&self, run: &NewRun, by: &Actor) -> Result<String> {
        let id = uuid::Uuid::now_v7().to_string();
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, owner, visibility,
                               keys_of, reach, forget_keys)
             VALUES ($1, $2, $3, $4, $5, 'queued', $6, $7, $8, $9, $10, $11)",
        )
        .bind(&id)
        .bind(&run.config.split)
        .bind(run.config.kind.name())
        .bind(to_json(&run.config)?)
        .bind(to_json(&run.provenance)?)
        .bind(now)
        .bind(run.standing.owner.as_deref())
        .bind(run.standing.visibility.name())
        .bind(run.grant.keyring.owner())
        .bind(run.grant.reach.name())
        .bind(i64::from(run.forget_keys))
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
        if run.preflight {
            sqlx::query(
                "INSERT INTO preflights (run_id, state, at, findings) VALUES ($1, 'waiting', $2, '[]')",
            )
            .bind(&id)
            .bind(now)
            .execute(&mut *tx)
            .await?;
        }
        let detail = format!("{}: {}", run.standing.visibility.name(), run.config.model);
        note(&mut tx, by, "run.submit", &id, &detail).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(id)
    }

    /// Newest first, older than the run `before` (a run id; empty for the
    /// newest), filtered by `whose`. Run ids rise with time.
    pub async fn runs(&self, whose: &Whose, before: &str, limit: u32) -> Result<Vec<RunSummary>> {
        let sql = format!(
            "{SUMMARY} WHERE ($1 = '' OR r.id < $1)
               AND (r.visibility = 'public' OR $3 = 1 OR r.owner = $4)
             ORDER BY r.id DESC LIMIT $2"
        );
        let (all, owner) = match whose {
            Whose::Public => (0, ""),
            Whose::Of(id) => (0, id.as_str()),
            Whose::All => (1, ""),
        };
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(before)
            .bind(i64::from(limit))
            .bind(all)
            .bind(owner)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_run_summary).collect()
    }

    /// What a worker needs of a run to execute its evolutions.
    pub async fn run_to_execute(&self, id: &str) -> Result<RunToExecute> {
        let row = sqlx::query(
            "SELECT progress, config, paused_at, at_once, budget, keys_of, reach
             FROM runs WHERE id = $1",
        )
        .bind(id)
        .fetch_optional(&self.pool)
        .await?;
        read_run_to_execute(&row.ok_or_else(|| Error::not_found("run", id))?)
    }

    /// When a worker first started on a run, in unix milliseconds.
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
            .map(read_run_summary)
            .transpose()?
            .ok_or_else(|| Error::not_found("run", id))
    }

    /// The owner and visibility of a run.
    pub async fn standing(&self, id: &str) -> Result<Standing> {
        let row = sqlx::query("SELECT owner, visibility FROM runs WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        let row = row.ok_or_else(|| Error::not_found("run", id))?;
        Ok(Standing {
            owner: row.try_get("owner")?,
            visibility: read_visibility(&row)?,
        })
    }

    /// Makes a run public.
    pub async fn publish(&self, id: &str, by: &Actor) -> Result<()> {
        self.set_visibility(id, Visibility::Public, "", by).await
    }

    /// Withdraws a public run; `why` is shown to those who can still see it.
    pub async fn withdraw(&self, id: &str, why: &str, by: &Actor) -> Result<()> {
        self.set_visibility(id, Visibility::Withdrawn, why, by)
            .await
    }

    async fn set_visibility(
        &self,
        id: &str,
        visibility: Visibility,
        why: &str,
        by: &Actor,
    ) -> Result<()> {
        let action = match visibility {
            Visibility::Public => "run.publish",
            Visibility::Withdrawn => "run.withdraw",
            Visibility::Private => "run.hide",
        };
        let mut tx = self.pool.begin().await?;
        let changed = sqlx::query(
            "UPDATE runs SET visibility = $2, withdrawn = $3 WHERE id = $1 AND visibility <> $2",
        )
        .bind(id)
        .bind(visibility.name())
        .bind(why)
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() == 0 {
            return Ok(());
        }
        note(&mut tx, by, action, id, why).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The public runs of a split, oldest first.
    pub async fn runs_of_split(&self, split: &str) -> Result<Vec<RunSummary>> {
        let sql = format!("{SUMMARY} WHERE r.split = $1 AND r.visibility = 'public' ORDER BY r.id");
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(split)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read_run_summary).collect()
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

    pub async fn run_progress(&self, id: &str) -> Result<Progress> {
        let row = sqlx::query("SELECT progress FROM runs WHERE id = $1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await?;
        let row = row.ok_or_else(|| Error::not_found("run", id))?;
        read_progress(&row)
    }
}
