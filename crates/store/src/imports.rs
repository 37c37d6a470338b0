//! Imported runs, written as a whole.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::results::Change;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_views::view::Provenance;

use super::changes::{commit_change, results_changed};
use super::evolutions::{insert_iterations, insert_steps};
use super::rows::columns::Columns;
use super::rows::evolutions::{IterationRow, StepRow};
use super::rows::suites::Suite;
use super::rows::tasks::TaskRow;
use super::sql::{Tx, only, query};
use super::suites::put_suite;
use super::{Store, new_id, tasks, to_json};

/// A finished run with all its evolutions.
#[derive(Debug, Clone)]
pub struct ImportedRun {
    /// Identifies the run when it is imported again.
    pub source: String,
    pub config: RunConfig,
    pub provenance: Provenance,
    /// In the split's order; tasks that the store lacks are added.
    pub tasks: Vec<TaskRow>,
    pub evolutions: Vec<ImportedEvolution>,
}

#[derive(Debug, Clone)]
pub struct ImportedEvolution {
    pub task_id: TaskId,
    pub sample: u32,
    pub suite: Suite,
    pub ending: Ending,
    pub reason: Option<String>,
    pub steps: Vec<StepRow>,
    pub iterations: Vec<IterationRow>,
}

impl Store {
    /// Writes a run, or updates it if it was imported before, in one
    /// transaction; returns its id.
    ///
    /// # Errors
    /// [`Error::Invalid`] when its split exists with other tasks, or a task
    /// exists with other commits. Nothing is written then.
    pub async fn put_import(&self, run: &ImportedRun) -> Result<(String, Change)> {
        let mut tx = self.pool.begin().await?;
        tasks::put_split(&mut tx, &run.config.split).await?;
        let content = [to_json(&run.config)?, to_json(&run.provenance)?];
        let before: Option<(String, [String; 2])> =
            query("SELECT id, config, provenance FROM runs WHERE source = $1")
                .with(&run.source)
                .first(&mut *tx, |row| {
                    let content = [row.read("config")?, row.read("provenance")?];
                    Ok((row.read("id")?, content))
                })
                .await?;
        let (id, put) = match before {
            None => (new_id(), Change::New),
            Some((id, before)) if before == content => return Ok((id, Change::Unchanged)),
            Some((id, _)) => {
                remove_evolutions(&mut tx, &id).await?;
                (id, Change::Replaced)
            }
        };
        put_tasks(&mut tx, run).await?;
        put_run(&mut tx, &id, run).await?;
        for evolution in &run.evolutions {
            put_evolution(&mut tx, &id, evolution).await?;
        }
        results_changed(&mut tx, &id).await?;
        commit_change(tx).await?;
        Ok((id, put))
    }
}

async fn remove_evolutions(tx: &mut Tx, run_id: &str) -> Result<()> {
    for sql in [
        // Other findings need other decisions.
        "DELETE FROM finding_reviews WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM judgements WHERE run_id = $1",
        "DELETE FROM evolution_digests WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM evolution_styles WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM iterations WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM steps WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM evolutions WHERE run_id = $1",
        // Earlier verifications do not apply to the new results.
        "DELETE FROM verifications WHERE run_id = $1",
    ] {
        query(sql).with(run_id).run(&mut *tx).await?;
    }
    Ok(())
}

/// Adds the missing tasks. A split that already has tasks gets no others, or
/// its other runs would no longer belong to the same split.
async fn put_tasks(tx: &mut Tx, run: &ImportedRun) -> Result<()> {
    let split = &run.config.split;
    let split_tasks: Vec<String> = query("SELECT task_id FROM split_tasks WHERE split = $1")
        .with(split)
        .all(&mut *tx, only)
        .await?;
    for (position, task) in (0u32..).zip(&run.tasks) {
        let id = task.id.as_str();
        if !split_tasks.is_empty() && !split_tasks.iter().any(|known| known == id) {
            return Err(Error::Invalid(format!(
                "the split `{split}` exists and has no task `{id}`; choose another split with --split"
            )));
        }
        let known: Option<(String, String)> =
            query("SELECT base_sha, target_sha FROM tasks WHERE id = $1")
                .with(id)
                .first(&mut *tx, |row| {
                    Ok((row.read("base_sha")?, row.read("target_sha")?))
                })
                .await?;
        match known {
            None => tasks::upsert_task(&mut *tx, task).await?,
            Some((base, target)) => ensure_same_commits(task, &base, &target)?,
        }
        if split_tasks.is_empty() {
            tasks::put_in_split(&mut *tx, split, position, &task.id).await?;
        }
    }
    Ok(())
}

fn ensure_same_commits(task: &TaskRow, base: &str, target: &str) -> Result<()> {
    let same = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
    if same(base, &task.base_sha) && same(target, &task.target_sha) {
        return Ok(());
    }
    Err(Error::Invalid(format!(
        "the task `{}` is known as {base} → {target}, here it is {} → {}",
        task.id, task.base_sha, task.target_sha
    )))
}

async fn put_run(tx: &mut Tx, id: &str, run: &ImportedRun) -> Result<()> {
    query(
        "INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, finished_at, source)
         VALUES ($1, $2, $3, $4, $5, 'finished', $6, $6, $7)
         ON CONFLICT (id) DO UPDATE SET config = excluded.config, provenance = excluded.provenance,
             finished_at = excluded.finished_at, verified = ''",
    )
    .with((id, &run.config.split, run.config.kind.name()))
    .with((to_json(&run.config)?, to_json(&run.provenance)?, now_ms()))
    .with(&run.source)
    .run(tx)
    .await
}

async fn put_evolution(tx: &mut Tx, run_id: &str, evolution: &ImportedEvolution) -> Result<()> {
    let id = new_id();
    let suite = put_suite(&mut *tx, &evolution.suite).await?;
    query(
        "INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, reason, lease_until, expected_seconds,
                                 queued_at, finished_at, at_iteration, at_role, at_attempt, suite)
         VALUES ($1, $2, $3, $4, 'finished', $5, $6, 0, 0.0, $7, $7, 1, 'architect', 1, $8)",
    )
    .with((&id, run_id, evolution.task_id.as_str(), evolution.sample))
    .with((evolution.ending.name(), &evolution.reason, now_ms()))
    .with(suite)
    .run(&mut *tx)
    .await?;
    insert_steps(&mut *tx, &id, 0, &evolution.steps).await?;
    insert_iterations(&mut *tx, &id, &evolution.iterations).await
}
