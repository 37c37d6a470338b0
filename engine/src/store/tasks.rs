//! Tasks and the splits that list them.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::card::TaskOnCard;
use swe_ci_core::task::TaskId;
use swe_ci_core::view::{SplitSummary, TaskState, TaskSummary};

use super::changes::count_up;
use super::suites::{self, Suite};
use super::{Store, count, from_json, to_json};
use crate::clock::now_ms;
use crate::error::{Error, Result};

/// A task as it stands in the store.
#[derive(Debug, Clone)]
pub struct TaskRow {
    pub id: TaskId,
    pub repo: String,
    pub base_sha: String,
    pub target_sha: String,
    pub state: TaskState,
    /// Content digest of its image.
    pub image: String,
    pub suite: Suite,
    pub suite_seconds: f64,
    pub commits: u32,
    pub span_days: f64,
    /// When the target was committed, in unix milliseconds.
    pub target_time: Option<i64>,
    /// Columns of the metadata file nobody here knows.
    pub extra: Vec<(String, String)>,
}

impl TaskRow {
    pub fn summary(&self) -> TaskSummary {
        TaskSummary {
            task_id: self.id.clone(),
            repo: self.repo.clone(),
            base_sha: self.base_sha.clone(),
            target_sha: self.target_sha.clone(),
            state: self.state.clone(),
            base_passed: self.suite.counts.base_passed,
            target_passed: self.suite.counts.target,
            gap: self.suite.counts.gap(),
            commits: self.commits,
            span_days: self.span_days,
            suite_seconds: self.suite_seconds,
        }
    }

    /// What a result depends on: id, commits, image.
    pub fn ends(&self) -> [&str; 4] {
        let Self {
            id,
            base_sha,
            target_sha,
            image,
            ..
        } = self;
        [id.as_str(), base_sha, target_sha, image]
    }

    fn read(row: &AnyRow) -> Result<Self> {
        let id: String = row.try_get("id")?;
        let state: String = row.try_get("state")?;
        let reason: String = row.try_get("reason")?;
        Ok(Self {
            id: TaskId::new(id).map_err(anyhow::Error::new)?,
            repo: row.try_get("repo")?,
            base_sha: row.try_get("base_sha")?,
            target_sha: row.try_get("target_sha")?,
            state: if state == "ready" {
                TaskState::Ready
            } else {
                TaskState::Unusable { reason }
            },
            image: row.try_get("image")?,
            suite: suites::read_suite(row)?,
            suite_seconds: row.try_get("suite_seconds")?,
            commits: count(row.try_get("commits")?),
            span_days: row.try_get("span_days")?,
            target_time: row.try_get("target_time")?,
            extra: from_json("metadata", &row.try_get::<String, _>("extra")?)?,
        })
    }
}

const INSERT_TASK: &str = "
    INSERT INTO tasks (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds, commits, span_days,
                       target_time, extra, imported_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
    ON CONFLICT (id) DO UPDATE SET
        repo = excluded.repo, base_sha = excluded.base_sha, target_sha = excluded.target_sha,
        state = excluded.state, reason = excluded.reason, image = excluded.image, suite = excluded.suite,
        suite_seconds = excluded.suite_seconds, commits = excluded.commits, span_days = excluded.span_days,
        target_time = excluded.target_time,
        extra = excluded.extra, imported_at = excluded.imported_at";

const SELECT_TASK: &str = "
    SELECT t.*, u.base_in_target, u.target_passed, u.base_passed, u.counts_only, u.tests, u.base_outcomes
    FROM tasks t JOIN suites u ON u.id = t.suite";

impl Store {
    /// Writes a task (again) and its place in a split, in one transaction.
    pub async fn put_task(&self, split: &str, position: u32, task: &TaskRow) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        put_split(&mut tx, split).await?;
        put(&mut tx, task).await?;
        place(&mut tx, split, position, &task.id).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    pub async fn task(&self, id: &TaskId) -> Result<TaskRow> {
        self.find_task(id)
            .await?
            .ok_or_else(|| Error::not_found("task", id))
    }

    pub async fn find_task(&self, id: &TaskId) -> Result<Option<TaskRow>> {
        let row = sqlx::query(sqlx::AssertSqlSafe(format!(
            "{SELECT_TASK} WHERE t.id = $1"
        )))
        .bind(id.as_str())
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(TaskRow::read).transpose()
    }

    /// Digests of the images that tasks have, each once.
    pub async fn task_images(&self) -> Result<Vec<String>> {
        let rows = sqlx::query("SELECT DISTINCT image FROM tasks WHERE image <> '' ORDER BY image")
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok(row.try_get("image")?)).collect()
    }

    /// Tasks by id, after `after`; of one split or of all.
    pub async fn tasks(
        &self,
        split: Option<&str>,
        after: &str,
        limit: u32,
    ) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{SELECT_TASK}
             WHERE t.id > $2 AND ($1 = '' OR EXISTS (
                 SELECT 1 FROM split_tasks s WHERE s.task_id = t.id AND s.split = $1))
             ORDER BY t.id LIMIT $3"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(split.unwrap_or_default())
            .bind(after)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(TaskRow::read).collect()
    }

    /// All tasks of a split in its own order.
    pub async fn tasks_of_split(&self, split: &str) -> Result<Vec<TaskRow>> {
        let sql = format!(
            "{SELECT_TASK} JOIN split_tasks s ON s.task_id = t.id WHERE s.split = $1 ORDER BY s.position, t.id"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(split)
            .fetch_all(&self.pool)
            .await?;
        if rows.is_empty() {
            return Err(Error::not_found("split", split));
        }
        rows.iter().map(TaskRow::read).collect()
    }

    /// What the tasks of a run are made of today, in the order of its split.
    pub async fn tasks_of_run(&self, run_id: &str) -> Result<Vec<TaskOnCard>> {
        let rows = sqlx::query(
            "SELECT t.id, t.base_sha, t.target_sha, t.image FROM runs r
             JOIN tasks t ON t.id IN (SELECT e.task_id FROM evolutions e WHERE e.run_id = r.id)
             LEFT JOIN split_tasks s ON s.task_id = t.id AND s.split = r.split
             WHERE r.id = $1 ORDER BY coalesce(s.position, 1000000000), t.id",
        );
        let rows = rows.bind(run_id).fetch_all(&self.pool).await?;
        let task = |row: &AnyRow| {
            let id: String = row.try_get("id")?;
            Ok(TaskOnCard {
                task_id: TaskId::new(id).map_err(anyhow::Error::new)?,
                base_sha: row.try_get("base_sha")?,
                target_sha: row.try_get("target_sha")?,
                image: row.try_get("image")?,
            })
        };
        rows.iter().map(task).collect()
    }

    pub async fn splits(&self) -> Result<Vec<SplitSummary>> {
        let rows = sqlx::query(
            "SELECT s.name AS name, count(t.id) AS tasks,
                    coalesce(sum(CASE WHEN t.state = 'ready' THEN 1 ELSE 0 END), 0) AS ready
             FROM splits s LEFT JOIN split_tasks m ON m.split = s.name LEFT JOIN tasks t ON t.id = m.task_id
             GROUP BY s.name ORDER BY s.name",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(SplitSummary {
                    name: row.try_get("name")?,
                    tasks: count(row.try_get("tasks")?),
                    ready: count(row.try_get("ready")?),
                })
            })
            .collect()
    }

    pub async fn splits_of_task(&self, id: &TaskId) -> Result<Vec<String>> {
        let rows = sqlx::query("SELECT split FROM split_tasks WHERE task_id = $1 ORDER BY split")
            .bind(id.as_str())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| Ok(row.try_get("split")?)).collect()
    }
}

pub(super) async fn put_split(tx: &mut sqlx::AnyConnection, split: &str) -> Result<()> {
    sqlx::query(
        "INSERT INTO splits (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
    )
    .bind(split)
    .bind(now_ms())
    .execute(tx)
    .await?;
    Ok(())
}

pub(super) async fn put(tx: &mut sqlx::AnyConnection, task: &TaskRow) -> Result<()> {
    let suite = suites::keep(&mut *tx, &task.suite).await?;
    let (state, reason) = match &task.state {
        TaskState::Ready => ("ready", ""),
        TaskState::Unusable { reason } => ("unusable", reason.as_str()),
    };
    sqlx::query(INSERT_TASK)
        .bind(task.id.as_str())
        .bind(&task.repo)
        .bind(&task.base_sha)
        .bind(&task.target_sha)
        .bind(state)
        .bind(reason)
        .bind(&task.image)
        .bind(suite)
        .bind(task.suite_seconds)
        .bind(i64::from(task.commits))
        .bind(task.span_days)
        .bind(task.target_time)
        .bind(to_json(&task.extra)?)
        .bind(now_ms())
        .execute(tx)
        .await?;
    Ok(())
}

pub(super) async fn place(
    tx: &mut sqlx::AnyConnection,
    split: &str,
    position: u32,
    task: &TaskId,
) -> Result<()> {
    sqlx::query(
        "INSERT INTO split_tasks (split, task_id, position) VALUES ($1, $2, $3)
         ON CONFLICT (split, task_id) DO UPDATE SET position = excluded.position",
    )
    .bind(split)
    .bind(task.as_str())
    .bind(i64::from(position))
    .execute(tx)
    .await?;
    Ok(())
}
