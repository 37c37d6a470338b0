//! Tasks and the splits that list them.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::task::TaskId;
use swe_ci_views::card::TaskOnCard;
use swe_ci_views::dataset::SplitSource;
use swe_ci_views::preparation::TaskFinding;
use swe_ci_views::view::{SplitSummary, TaskState, TaskSummary};

use super::changes::commit_change;
use super::rows::columns::{Columns, from_row};
use super::rows::evolutions::EvolutionRow;
use super::rows::tasks::{
    TaskRow, read_preparation, read_task, read_task_summary, read_test_command,
};
use super::sql::{Tx, composed, only, query};
use super::suites::put_suite;
use super::{Store, to_json};

const INSERT_TASK: &str = "
    INSERT INTO tasks (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds, commits, span_days,
                       target_time, preparation, extra, imported_at, base_report,
                       test_command)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
    ON CONFLICT (id) DO UPDATE SET
        repo = excluded.repo, base_sha = excluded.base_sha, target_sha = excluded.target_sha,
        state = excluded.state, reason = excluded.reason, image = excluded.image, suite = excluded.suite,
        suite_seconds = excluded.suite_seconds, commits = excluded.commits, span_days = excluded.span_days,
        target_time = excluded.target_time, preparation = excluded.preparation,
        extra = excluded.extra, imported_at = excluded.imported_at, base_report = excluded.base_report,
        test_command = excluded.test_command";

const SELECT_TASK: &str = "
    SELECT t.*, u.base_in_target, u.target_passed, u.base_passed, u.counts_only, u.tests, u.base_outcomes
    FROM tasks t JOIN suites u ON u.id = t.suite";

/// The same without its tests, which are most of it.
const SELECT_SUMMARY: &str = "
    SELECT t.*, u.base_in_target, u.target_passed, u.base_passed, u.counts_only
    FROM tasks t JOIN suites u ON u.id = t.suite";

impl Store {
    /// Inserts or updates a task and its place in a split, in one transaction.
    pub async fn put_task(&self, split: &str, position: u32, task: &TaskRow) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        put_split(&mut tx, split).await?;
        upsert_task(&mut tx, task).await?;
        put_in_split(&mut tx, split, position, &task.id).await?;
        commit_change(tx).await
    }

    pub async fn task(&self, id: &TaskId) -> Result<TaskRow> {
        self.find_task(id)
            .await?
            .ok_or_else(|| Error::not_found("task", id))
    }

    pub async fn find_task(&self, id: &TaskId) -> Result<Option<TaskRow>> {
        composed(format!("{SELECT_TASK} WHERE t.id = $1"))
            .with(id.as_str())
            .first(&self.pool, read_task)
            .await
    }

    /// The task as it was when the evolution's run was submitted: its commits,
    /// image, base report and suite. The rest is the task's of today.
    pub async fn task_of_evolution(&self, evolution: &EvolutionRow) -> Result<TaskRow> {
        let mut task = self.task(&evolution.task_id).await?;
        task.suite = self.suite(&evolution.suite).await?;
        if let Some(pinned) = evolution.pinned.clone() {
            task.base_sha = pinned.base_sha;
            task.target_sha = pinned.target_sha;
            task.image = pinned.image;
            task.base_report = pinned.base_report;
            task.test_command = pinned.test_command;
        }
        Ok(task)
    }

    /// All tasks, by name.
    pub async fn list_tasks(&self) -> Result<Vec<String>> {
        query("SELECT id FROM tasks ORDER BY id")
            .all(&self.pool, only)
            .await
    }

    /// Digests of the images of all tasks and evolutions, each once.
    pub async fn task_images(&self) -> Result<Vec<String>> {
        query(
            "SELECT image FROM tasks WHERE image <> ''
             UNION SELECT image FROM evolutions WHERE image <> '' ORDER BY image",
        )
        .all(&self.pool, only)
        .await
    }

    /// Tasks without their tests, in the order of the split, or by id.
    pub async fn task_summaries(&self, split: Option<&str>) -> Result<Vec<TaskSummary>> {
        let sql = match split {
            Some(_) => format!(
                "{SELECT_SUMMARY} JOIN split_tasks s ON s.task_id = t.id WHERE s.split = $1 ORDER BY s.position, t.id"
            ),
            None => format!("{SELECT_SUMMARY} WHERE $1 = '' ORDER BY t.id"),
        };
        composed(sql)
            .with(split.unwrap_or_default())
            .all(&self.pool, read_task_summary)
            .await
    }

    /// Ids, commits and images of the tasks, in the order of the split.
    pub async fn ends_of_split(&self, split: &str) -> Result<Vec<[String; 4]>> {
        query(
            "SELECT t.id, t.base_sha, t.target_sha, t.image FROM tasks t
             JOIN split_tasks s ON s.task_id = t.id WHERE s.split = $1 ORDER BY s.position, t.id",
        )
        .with(split)
        .all(&self.pool, |row| {
            Ok([
                row.read("id")?,
                row.read("base_sha")?,
                row.read("target_sha")?,
                row.read("image")?,
            ])
        })
        .await
    }

    /// The findings from preparing a split's tasks, all together.
    pub async fn findings_of_split(&self, split: &str) -> Result<Vec<TaskFinding>> {
        let preparations = query(
            "SELECT t.preparation FROM tasks t JOIN split_tasks s ON s.task_id = t.id WHERE s.split = $1",
        )
        .with(split)
        .all(&self.pool, read_preparation)
        .await?;
        let findings = preparations.into_iter().flat_map(|made| made.findings);
        Ok(findings.collect())
    }

    /// The source of a split, if known, and when it was first imported, in unix
    /// milliseconds.
    pub async fn split_origin(&self, split: &str) -> Result<(Option<SplitSource>, i64)> {
        query("SELECT source, created_at FROM splits WHERE name = $1")
            .with(split)
            .first(&self.pool, |row| {
                let source = row.optional_json("source", "where a split came from")?;
                Ok((source, row.read("created_at")?))
            })
            .await?
            .ok_or_else(|| Error::not_found("split", split))
    }

    /// Records the source of a split; creates the split if necessary.
    pub async fn put_origin(&self, split: &str, source: &SplitSource) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        put_split(&mut tx, split).await?;
        query("UPDATE splits SET source = $1 WHERE name = $2")
            .with((to_json(source)?, split))
            .run(&mut *tx)
            .await?;
        commit_change(tx).await
    }

    /// Images of running evolutions.
    pub async fn images_at_work(&self) -> Result<Vec<String>> {
        query(
            "SELECT DISTINCT coalesce(e.image, t.image) AS image
             FROM tasks t JOIN evolutions e ON e.task_id = t.id WHERE e.progress = 'running'",
        )
        .all(&self.pool, only)
        .await
    }

    /// All tasks of a split in its own order.
    pub async fn tasks_of_split(&self, split: &str) -> Result<Vec<TaskRow>> {
        let tasks = composed(format!(
            "{SELECT_TASK} JOIN split_tasks s ON s.task_id = t.id WHERE s.split = $1 ORDER BY s.position, t.id"
        ))
        .with(split)
            .all(&self.pool, read_task)
            .await?;
        if tasks.is_empty() {
            return Err(Error::not_found("split", split));
        }
        Ok(tasks)
    }

    /// The commits and images of a run's tasks at its submission, in the order of
    /// its split; the current ones where those are not known.
    pub async fn tasks_of_run(&self, run_id: &str) -> Result<Vec<TaskOnCard>> {
        query(
            "SELECT t.id AS id, coalesce(max(e.base_sha), t.base_sha) AS base_sha,
                    coalesce(max(e.target_sha), t.target_sha) AS target_sha, coalesce(max(e.image), t.image) AS image,
                    coalesce(max(e.test_command), t.test_command) AS test_command
             FROM runs r JOIN evolutions e ON e.run_id = r.id JOIN tasks t ON t.id = e.task_id
             LEFT JOIN split_tasks s ON s.task_id = t.id AND s.split = r.split
             WHERE r.id = $1 GROUP BY t.id, t.base_sha, t.target_sha, t.image, t.test_command, s.position
             ORDER BY coalesce(s.position, 1000000000), t.id",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok(from_row!(row => TaskOnCard {
                base_sha, target_sha, image;
                task_id: row.read("id")?,
                test_command: read_test_command(row)?.unwrap_or_default()
            }))
        })
        .await
    }

    pub async fn splits(&self) -> Result<Vec<SplitSummary>> {
        query(
            "SELECT s.name AS name, count(t.id) AS tasks,
                    coalesce(sum(CASE WHEN t.state = 'ready' THEN 1 ELSE 0 END), 0) AS ready
             FROM splits s LEFT JOIN split_tasks m ON m.split = s.name LEFT JOIN tasks t ON t.id = m.task_id
             GROUP BY s.name ORDER BY s.name",
        )
        .all(&self.pool, |row| {
            Ok(from_row!(row => SplitSummary { name, tasks, ready }))
        })
        .await
    }

    pub async fn splits_of_task(&self, id: &TaskId) -> Result<Vec<String>> {
        query("SELECT split FROM split_tasks WHERE task_id = $1 ORDER BY split")
            .with(id.as_str())
            .all(&self.pool, only)
            .await
    }
}

pub(super) async fn put_split(tx: &mut Tx, split: &str) -> Result<()> {
    query("INSERT INTO splits (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
        .with((split, now_ms()))
        .run(tx)
        .await
}

pub(super) async fn upsert_task(tx: &mut Tx, task: &TaskRow) -> Result<()> {
    let suite = put_suite(&mut *tx, &task.suite).await?;
    let (state, reason) = match &task.state {
        TaskState::Ready => ("ready", ""),
        TaskState::Unusable { reason } => ("unusable", reason.as_str()),
    };
    query(INSERT_TASK)
        .with((task.id.as_str(), &task.repo, &task.base_sha))
        .with((&task.target_sha, state, reason, &task.image, suite))
        .with((task.suite_seconds, task.commits, task.span_days))
        .with((task.target_time, to_json(&task.preparation)?))
        .with((to_json(&task.extra)?, now_ms(), &task.base_report))
        .with(task.test_command.to_string())
        .run(tx)
        .await
}

pub(super) async fn put_in_split(
    tx: &mut Tx,
    split: &str,
    position: u32,
    task: &TaskId,
) -> Result<()> {
    query(
        "INSERT INTO split_tasks (split, task_id, position) VALUES ($1, $2, $3)
         ON CONFLICT (split, task_id) DO UPDATE SET position = excluded.position",
    )
    .with((split, task.as_str(), position))
    .run(tx)
    .await
}
