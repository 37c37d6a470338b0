//! Deletion of runs and splits. Snapshots stay, and so does the audit log.

use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::Progress;
use swe_ci_views::account::Actor;
use swe_ci_views::dataset::SplitContent;

use super::Store;
use super::audit::note;
use super::changes::commit_change;
use super::imports::remove_evolutions;
use super::rows::columns::{Columns, from_row};
use super::sql::{Tx, only, query};
use super::steering::lock_run;

/// Things that no row names any more: their files may go.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unnamed {
    /// Ids of evolutions, whose artifacts are their own.
    pub evolutions: Vec<String>,
    /// Artifacts that are named by their content.
    pub artifacts: Vec<String>,
    /// Ids of tasks that no split and no evolution has.
    pub tasks: Vec<String>,
}

/// Artifacts of a run that another one may have too, because they are named by
/// their content.
const SHARED: &str = "WITH own AS (SELECT id FROM evolutions WHERE run_id = $1),
    named AS (SELECT code AS artifact, evolution_id FROM iterations
        UNION SELECT product, evolution_id FROM steps UNION SELECT trajectory, evolution_id FROM steps
        UNION SELECT start_code, id FROM evolutions)
    SELECT DISTINCT artifact FROM named WHERE evolution_id IN (SELECT id FROM own)
    AND (artifact LIKE 'code/%' OR artifact LIKE 'imports/%')
    AND artifact NOT IN (SELECT artifact FROM named
        WHERE artifact IS NOT NULL AND evolution_id NOT IN (SELECT id FROM own))";

impl Store {
    /// Deletes a run that is over, with its results.
    ///
    /// # Errors
    /// [`Error::Conflict`] while something works on it, another run needs it, or a
    /// run at work may be about to name the same code.
    pub async fn delete_run(&self, run_id: &str, by: &Actor) -> Result<Unnamed> {
        let mut tx = self.pool.begin().await?;
        let mut unnamed = Unnamed::default();
        remove_run(&mut tx, run_id, &mut unnamed).await?;
        note(&mut tx, by, "run.delete", run_id, "").await?;
        commit_change(tx).await?;
        Ok(unnamed)
    }

    /// Deletes a split with its runs, and the tasks that nothing else has.
    ///
    /// # Errors
    /// As [`Self::delete_run`], for each of its runs.
    pub async fn delete_split(&self, split: &str, by: &Actor) -> Result<Unnamed> {
        let mut tx = self.pool.begin().await?;
        let mut unnamed = Unnamed::default();
        // No run of it begins meanwhile.
        let is_there = query("UPDATE splits SET name = name WHERE name = $1")
            .with(split)
            .changed(&mut *tx)
            .await?;
        if is_there == 0 {
            return Err(Error::not_found("split", split));
        }
        // The latest first: they may go on with the code of earlier ones.
        let runs: Vec<String> = query("SELECT id FROM runs WHERE split = $1 ORDER BY id DESC")
            .with(split)
            .all(&mut *tx, only)
            .await?;
        for run in &runs {
            remove_run(&mut tx, run, &mut unnamed).await?;
        }
        unnamed.tasks = query(
            "SELECT task_id FROM split_tasks s WHERE split = $1
             AND NOT EXISTS (SELECT 1 FROM split_tasks o WHERE o.task_id = s.task_id AND o.split <> s.split)
             AND NOT EXISTS (SELECT 1 FROM evolutions e WHERE e.task_id = s.task_id)",
        )
        .with(split)
        .all(&mut *tx, only)
        .await?;
        for sql in [
            "DELETE FROM split_tasks WHERE split = $1",
            "DELETE FROM outside_results WHERE split = $1",
            "DELETE FROM splits WHERE name = $1",
        ] {
            query(sql).with(split).run(&mut *tx).await?;
        }
        for task in &unnamed.tasks {
            for sql in [
                "DELETE FROM task_revisions WHERE id = $1",
                "DELETE FROM tasks WHERE id = $1",
            ] {
                query(sql).with(task).run(&mut *tx).await?;
            }
        }
        let detail = format!("{} runs, {} tasks", runs.len(), unnamed.tasks.len());
        note(&mut tx, by, "split.delete", split, &detail).await?;
        commit_change(tx).await?;
        Ok(unnamed)
    }

    /// Evolution, run and split, for each evolution.
    pub async fn evolution_owners(&self) -> Result<Vec<[String; 3]>> {
        query("SELECT e.id AS id, r.id AS run, r.split AS split FROM evolutions e JOIN runs r ON r.id = e.run_id")
            .all(&self.pool, |row| {
                Ok([row.read("id")?, row.read("run")?, row.read("split")?])
            })
            .await
    }

    /// Task and split, for each task of a split.
    pub async fn tasks_in_splits(&self) -> Result<Vec<[String; 2]>> {
        query("SELECT task_id, split FROM split_tasks")
            .all(&self.pool, |row| {
                Ok([row.read("task_id")?, row.read("split")?])
            })
            .await
    }

    /// Counts what [`Store::delete_split`] takes along.
    pub async fn content_of_split(&self, split: &str) -> Result<SplitContent> {
        query(
            "SELECT (SELECT count(*) FROM runs WHERE split = $1) AS runs,
                    (SELECT count(*) FROM split_tasks WHERE split = $1) AS tasks,
                    (SELECT count(*) FROM snapshots WHERE split = $1) AS snapshots",
        )
        .with(split)
        .one(&self.pool, |row| {
            Ok(from_row!(row => SplitContent { runs, tasks, snapshots }))
        })
        .await
    }
}

async fn remove_run(tx: &mut Tx, run_id: &str, unnamed: &mut Unnamed) -> Result<()> {
    let (progress, _) = lock_run(tx, run_id).await?;
    let refused = |why: &str| Err(Error::Conflict(format!("run {run_id} {why}")));
    if matches!(progress, Progress::Queued | Progress::Running) {
        return refused("is not over; cancel it first");
    }
    let at_work = "SELECT count(*) FROM evolutions WHERE run_id = $1 AND progress = 'running'";
    if count(tx, at_work, run_id).await? > 0 {
        return refused("is still stopping; try again in a minute");
    }
    let later = "SELECT count(*) FROM runs r WHERE r.id <> $1 AND (r.regrades = $1
        OR EXISTS (SELECT 1 FROM evolutions e WHERE e.run_id = r.id AND e.start_run = $1))";
    if count(tx, later, run_id).await? > 0 {
        return refused(
            "is needed by runs that go on with its code or grade it again; delete these first",
        );
    }
    let shared: Vec<String> = query(SHARED).with(run_id).all(&mut *tx, only).await?;
    // A worker that finds its code stored names it in a row only later.
    let same_code = "SELECT count(*) FROM evolutions e JOIN task_revisions t ON t.id = e.task_id
        WHERE e.progress = 'running' AND t.repo IN (SELECT o.repo FROM task_revisions o
            JOIN evolutions own ON own.task_id = o.id WHERE own.run_id = $1)";
    if !shared.is_empty() && count(tx, same_code, run_id).await? > 0 {
        return refused(
            "cannot be deleted while others work on the same repositories, since their code may be the same; pause them first",
        );
    }
    unnamed.artifacts.extend(shared);
    let evolutions = query("SELECT id FROM evolutions WHERE run_id = $1");
    let evolutions: Vec<String> = evolutions.with(run_id).all(&mut *tx, only).await?;
    unnamed.evolutions.extend(evolutions);
    remove_evolutions(tx, run_id).await?;
    for sql in [
        "DELETE FROM judges WHERE run_id = $1",
        "DELETE FROM preflights WHERE run_id = $1",
        "DELETE FROM run_counts WHERE run_id = $1",
        "DELETE FROM run_needs WHERE run_id = $1",
        "DELETE FROM run_spending WHERE run_id = $1",
        "DELETE FROM submitted_runs WHERE run_id = $1",
        "DELETE FROM background_work WHERE object = $1",
        "DELETE FROM runs WHERE id = $1",
    ] {
        query(sql).with(run_id).run(&mut *tx).await?;
    }
    Ok(())
}

async fn count(tx: &mut Tx, sql: &'static str, run_id: &str) -> Result<u32> {
    query(sql).with(run_id).one(tx, only).await
}
