//! Tasks and the splits that list them.

use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::step::Plan;
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_views::card::TaskOnCard;
use swe_ci_views::dataset::{SplitListed, SplitSource};
use swe_ci_views::preparation::TaskFinding;
use swe_ci_views::view::{OtherRevision, SplitSummary, TaskState, TaskSummary};

use super::changes::commit_change;
use super::rows::columns::{Columns, from_row};
use super::rows::evolutions::EvolutionRow;
use super::rows::tasks::{
    TaskRow, read_preparation, read_task, read_task_summary, read_test_command, task_revision,
};
use super::sql::{Tx, composed, only, query};
use super::suites::put_suite;
use super::{Store, to_json};

const INSERT_REVISION: &str = "
    INSERT INTO task_revisions (id, revision, repo, base_sha, target_sha, state, reason, image, suite,
                                suite_seconds, commits, span_days, target_time, preparation, extra, imported_at,
                                base_report, test_command)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
    ON CONFLICT (id, revision) DO UPDATE SET
        repo = excluded.repo, state = excluded.state, reason = excluded.reason,
        suite_seconds = excluded.suite_seconds, commits = excluded.commits, span_days = excluded.span_days,
        target_time = excluded.target_time, preparation = excluded.preparation,
        extra = excluded.extra, imported_at = excluded.imported_at, base_report = excluded.base_report";

const SELECT_TASK: &str = "
    SELECT t.*, u.base_in_target, u.target_passed, u.base_passed, u.counts_only, u.tests, u.base_outcomes
    FROM task_revisions t JOIN suites u ON u.id = t.suite";

/// The same without its tests, which are most of it.
const SELECT_SUMMARY: &str = "
    SELECT t.*, u.base_in_target, u.target_passed, u.base_passed, u.counts_only
    FROM task_revisions t JOIN suites u ON u.id = t.suite";

/// Keeps, of the revisions `t`, those that were imported last.
const LAST_IMPORTED: &str = "JOIN tasks c ON c.id = t.id AND c.revision = t.revision";

/// Keeps, of the revisions `t`, those that splits list.
const LISTED: &str = "JOIN split_tasks s ON s.task_id = t.id AND s.revision = t.revision";

/// The revision of its task that fits the evolution `e` best: one with its
/// commits, then one that its split lists, then the newest.
/// It joins what it orders by: SQLite does not find `e` in the order itself.
pub(super) const REVISION_OF_EVOLUTION: &str = "
    (SELECT n.revision FROM task_revisions n
     LEFT JOIN split_tasks m ON m.task_id = n.id AND m.revision = n.revision
         AND m.split = (SELECT o.split FROM runs o WHERE o.id = e.run_id)
     LEFT JOIN task_revisions p ON p.id = n.id AND p.revision = n.revision
         AND p.base_sha = e.base_sha AND p.target_sha = e.target_sha
     WHERE n.id = e.task_id
     ORDER BY CASE WHEN p.id IS NULL THEN 1 ELSE 0 END,
              CASE WHEN m.split IS NULL THEN 1 ELSE 0 END, n.imported_at DESC LIMIT 1)";

/// The number of tasks of a run that had other content when it was submitted than
/// its split lists today. A handover has a suite of its own; of an imported run only
/// the commits are known, at times shortened.
pub(super) fn other_revisions(run: &str) -> String {
    format!(
        "(SELECT count(DISTINCT e.task_id) FROM evolutions e
          JOIN split_tasks s ON s.task_id = e.task_id AND s.split = {run}.split
          JOIN task_revisions t ON t.id = s.task_id AND t.revision = s.revision
          WHERE e.run_id = {run}.id AND e.base_sha IS NOT NULL
            AND (NOT ({base}) OR NOT ({target}) OR e.image <> t.image
                 OR e.test_command <> t.test_command
                 OR (e.image IS NOT NULL AND e.suite <> t.suite AND e.start_run IS NULL)))",
        base = same_commit("base_sha"),
        target = same_commit("target_sha"),
    )
}

/// Whether the evolution `e` and the revision `t` have the same commit, of which both
/// may know the beginning alone.
pub(super) fn same_commit(column: &str) -> String {
    format!("substr(e.{column}, 1, length(t.{column})) = substr(t.{column}, 1, length(e.{column}))")
}

impl Store {
    /// Inserts a revision of a task, or updates it, and puts it into a split, in one
    /// transaction. Other splits keep the revision that they list.
    pub async fn put_task(&self, split: &str, position: u32, task: &TaskRow) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        put_split(&mut tx, split).await?;
        let revision = put_revision(&mut tx, task).await?;
        query("UPDATE tasks SET revision = $1 WHERE id = $2")
            .with((&revision, task.id.as_str()))
            .run(&mut *tx)
            .await?;
        put_in_split(&mut tx, split, position, &task.id, &revision).await?;
        commit_change(tx).await
    }

    /// A task as it was imported last.
    pub async fn task(&self, id: &TaskId) -> Result<TaskRow> {
        self.find_task(id)
            .await?
            .ok_or_else(|| Error::not_found("task", id))
    }

    /// A task as a split lists it.
    pub async fn task_of_split(&self, id: &TaskId, split: &str) -> Result<TaskRow> {
        composed(format!(
            "{SELECT_TASK} {LISTED} WHERE t.id = $1 AND s.split = $2"
        ))
        .with((id.as_str(), split))
        .first(&self.pool, read_task)
        .await?
        .ok_or_else(|| Error::not_found_in("this split", "task", id))
    }

    pub async fn find_task(&self, id: &TaskId) -> Result<Option<TaskRow>> {
        composed(format!("{SELECT_TASK} {LAST_IMPORTED} WHERE t.id = $1"))
            .with(id.as_str())
            .first(&self.pool, read_task)
            .await
    }

    /// All revisions of a task, each with the splits that list it: those of a split
    /// first, then the newest.
    pub async fn revisions_of_task(&self, id: &TaskId, split: &str) -> Result<Vec<TaskRow>> {
        composed(format!(
            "{SELECT_TASK} LEFT JOIN split_tasks s ON s.task_id = t.id AND s.revision = t.revision AND s.split = $2
             WHERE t.id = $1
             ORDER BY CASE WHEN s.split IS NULL THEN 1 ELSE 0 END, t.imported_at DESC, t.revision"
        ))
        .with((id.as_str(), split))
        .all(&self.pool, read_task)
        .await
    }

    /// The task as it was when the evolution's run was submitted: its commits,
    /// image, base report and suite. The rest is as the revision with these was
    /// imported last.
    pub async fn task_of_evolution(&self, evolution: &EvolutionRow) -> Result<TaskRow> {
        let mut task = self.revision_of_evolution(&evolution.id).await?;
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

    /// The revision of its task that fits an evolution best, which has its commits
    /// if any has.
    pub async fn revision_of_evolution(&self, id: &str) -> Result<TaskRow> {
        composed(format!(
            "{SELECT_TASK} JOIN evolutions e ON e.task_id = t.id
             WHERE e.id = $1 AND t.revision = {REVISION_OF_EVOLUTION}"
        ))
        .with(id)
        .first(&self.pool, read_task)
        .await?
        .ok_or_else(|| Error::not_found("evolution", id))
    }

    /// All tasks, by name.
    pub async fn list_tasks(&self) -> Result<Vec<String>> {
        query("SELECT id FROM tasks ORDER BY id")
            .all(&self.pool, only)
            .await
    }

    /// Digests of the images of all revisions and evolutions, each once.
    pub async fn task_images(&self) -> Result<Vec<String>> {
        query(
            "SELECT image FROM task_revisions WHERE image <> ''
             UNION SELECT image FROM evolutions WHERE image <> '' ORDER BY image",
        )
        .all(&self.pool, only)
        .await
    }

    /// Tasks without their tests, in the order of the split, or by id.
    pub async fn task_summaries(&self, split: Option<&str>) -> Result<Vec<TaskSummary>> {
        let sql = match split {
            Some(_) => {
                format!("{SELECT_SUMMARY} {LISTED} WHERE s.split = $1 ORDER BY s.position, t.id")
            }
            None => format!("{SELECT_SUMMARY} {LAST_IMPORTED} WHERE $1 = '' ORDER BY t.id"),
        };
        composed(sql)
            .with(split.unwrap_or_default())
            .all(&self.pool, read_task_summary)
            .await
    }

    /// Ids and commits of the tasks, in the order of the split.
    pub async fn ends_of_split(&self, split: &str) -> Result<Vec<[String; 3]>> {
        composed(format!(
            "SELECT t.id, t.base_sha, t.target_sha FROM task_revisions t {LISTED}
             WHERE s.split = $1 ORDER BY s.position, t.id"
        ))
        .with(split)
        .all(&self.pool, |row| {
            Ok([
                row.read("id")?,
                row.read("base_sha")?,
                row.read("target_sha")?,
            ])
        })
        .await
    }

    /// Ids of the tasks and the digests of what they ask, in the order of the split.
    pub async fn revisions_of_split(&self, split: &str) -> Result<Vec<[String; 2]>> {
        composed(format!(
            "SELECT t.id, t.base_sha, t.target_sha, t.image, t.test_command, t.suite
             FROM task_revisions t {LISTED} WHERE s.split = $1 ORDER BY s.position, t.id"
        ))
        .with(split)
        .all(&self.pool, |row| {
            // Its own name is empty where the task is from before there were names.
            let [id, base, target, image, command, suite]: [String; 6] = [
                row.read("id")?,
                row.read("base_sha")?,
                row.read("target_sha")?,
                row.read("image")?,
                row.read("test_command")?,
                row.read("suite")?,
            ];
            Ok([
                id,
                task_revision([&base, &target, &image, &command, &suite]),
            ])
        })
        .await
    }

    /// The name, the target, the image and the test command of each task of a split, or
    /// of all as they were imported last, without their tests, which are most of them.
    pub async fn targets_of_tasks(
        &self,
        split: Option<&str>,
    ) -> Result<Vec<(String, String, String, TestCommand)>> {
        let kept = match split {
            Some(_) => format!("{LISTED} WHERE s.split = $1"),
            None => format!("{LAST_IMPORTED} WHERE $1 = ''"),
        };
        composed(format!(
            "SELECT t.id, t.target_sha, t.image, t.test_command FROM task_revisions t {kept}"
        ))
        .with(split.unwrap_or_default())
        .all(&self.pool, |row| {
            Ok((
                row.read("id")?,
                row.read("target_sha")?,
                row.read("image")?,
                read_test_command(row)?.unwrap_or_default(),
            ))
        })
        .await
    }

    /// The findings from preparing a split's tasks, all together.
    pub async fn findings_of_split(&self, split: &str) -> Result<Vec<TaskFinding>> {
        let preparations = composed(format!(
            "SELECT t.preparation FROM task_revisions t {LISTED} WHERE s.split = $1"
        ))
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

    /// Records the N that a split declares, if it does; creates the split if necessary.
    pub async fn declare_iterations(&self, split: &str, iterations: Option<u32>) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        put_split(&mut tx, split).await?;
        query("UPDATE splits SET iterations = $1 WHERE name = $2")
            .with((iterations.unwrap_or(0), split))
            .run(&mut *tx)
            .await?;
        commit_change(tx).await
    }

    /// The N that a split declares, if it does.
    pub async fn declared_iterations(&self, split: &str) -> Result<Option<u32>> {
        let recorded: Option<Option<u32>> = query("SELECT iterations FROM splits WHERE name = $1")
            .with(split)
            .first(&self.pool, |row| row.read("iterations"))
            .await?;
        if let Some(iterations) = recorded.flatten() {
            return Ok(Some(iterations).filter(|n| *n > 0));
        }
        let extra: Option<Vec<(String, String)>> = composed(format!(
            "SELECT t.extra FROM task_revisions t {LISTED} WHERE s.split = $1 ORDER BY s.position, t.id LIMIT 1"
        ))
        .with(split)
        .first(&self.pool, |row| row.json("extra", "metadata"))
        .await?;
        let columns = extra.unwrap_or_default();
        let declared = columns.iter().find(|(column, _)| column == Plan::COLUMN);
        Ok(declared.and_then(|(_, n)| n.trim().parse().ok()))
    }

    /// Images of running evolutions.
    pub async fn images_at_work(&self) -> Result<Vec<String>> {
        composed(format!(
            "SELECT DISTINCT coalesce(e.image, t.image) AS image FROM task_revisions t {LAST_IMPORTED}
             JOIN evolutions e ON e.task_id = t.id WHERE e.progress = 'running'"
        ))
        .all(&self.pool, only)
        .await
    }

    /// All tasks of a split in its own order.
    pub async fn tasks_of_split(&self, split: &str) -> Result<Vec<TaskRow>> {
        let tasks = composed(format!(
            "{SELECT_TASK} {LISTED} WHERE s.split = $1 ORDER BY s.position, t.id"
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
    /// its split; the current commits, and no image, where those are not known.
    pub async fn tasks_of_run(&self, run_id: &str) -> Result<Vec<TaskOnCard>> {
        query(
            "SELECT t.id AS id, coalesce(max(e.base_sha), t.base_sha) AS base_sha,
                    coalesce(max(e.target_sha), t.target_sha) AS target_sha, max(e.image) AS image,
                    coalesce(max(e.test_command), t.test_command) AS test_command
             FROM runs r JOIN evolutions e ON e.run_id = r.id JOIN tasks c ON c.id = e.task_id
             LEFT JOIN split_tasks s ON s.task_id = e.task_id AND s.split = r.split
             JOIN task_revisions t ON t.id = e.task_id AND t.revision = coalesce(s.revision, c.revision)
             WHERE r.id = $1 GROUP BY t.id, t.base_sha, t.target_sha, t.test_command, s.position
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
        let listed = self.listed_splits().await?.into_iter();
        Ok(listed.map(|split| split.summary).collect())
    }

    /// The splits with their origins.
    pub async fn listed_splits(&self) -> Result<Vec<SplitListed>> {
        query(
            "SELECT s.name AS name, count(t.id) AS tasks, count(DISTINCT t.repo) AS repositories,
                    coalesce(sum(CASE WHEN t.state = 'ready' THEN 1 ELSE 0 END), 0) AS ready,
                    s.source AS source, s.created_at AS created_at
             FROM splits s LEFT JOIN split_tasks m ON m.split = s.name
             LEFT JOIN task_revisions t ON t.id = m.task_id AND t.revision = m.revision
             GROUP BY s.name, s.source, s.created_at ORDER BY s.name",
        )
        .all(&self.pool, |row| {
            Ok(from_row!(row => SplitListed {
                repositories;
                summary: from_row!(row => SplitSummary { name, tasks, ready }),
                source: row.optional_json("source", "where a split came from")?,
                created_at: rfc3339(row.read("created_at")?)
            }))
        })
        .await
    }

    /// The splits that list the same revision of a task as this split; as what was
    /// imported last, where it lists none.
    pub async fn splits_of_task(&self, id: &TaskId, split: &str) -> Result<Vec<String>> {
        composed(format!(
            "SELECT s.split FROM split_tasks s WHERE s.task_id = $1 AND s.revision = {SHOWN} ORDER BY s.split"
        ))
        .with((id.as_str(), split))
        .all(&self.pool, only)
        .await
    }

    /// The splits that list another revision of a task than those, by their names.
    pub async fn other_revisions_of(&self, id: &TaskId, split: &str) -> Result<Vec<OtherRevision>> {
        composed(format!(
            "SELECT s.split AS split, t.base_sha AS base_sha, t.target_sha AS target_sha, t.image AS image_digest
             FROM task_revisions t {LISTED} WHERE t.id = $1 AND t.revision <> {SHOWN} ORDER BY s.split"
        ))
        .with((id.as_str(), split))
        .all(&self.pool, |row| {
            Ok(from_row!(row => OtherRevision { split, base_sha, target_sha, image_digest }))
        })
        .await
    }
}

/// The revision of the task $1 that the split $2 lists, or the one that was imported
/// last.
const SHOWN: &str = "coalesce(
    (SELECT o.revision FROM split_tasks o WHERE o.task_id = $1 AND o.split = $2),
    (SELECT c.revision FROM tasks c WHERE c.id = $1))";

pub(super) async fn put_split(tx: &mut Tx, split: &str) -> Result<()> {
    query("INSERT INTO splits (name, created_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING")
        .with((split, now_ms()))
        .run(tx)
        .await
}

/// Inserts a revision of a task, or updates it; returns its name.
pub(super) async fn put_revision(tx: &mut Tx, task: &TaskRow) -> Result<String> {
    let suite = put_suite(&mut *tx, &task.suite).await?;
    let revision = task.revision()?;
    let (state, reason) = match &task.state {
        TaskState::Ready => ("ready", ""),
        TaskState::Unusable { reason } => ("unusable", reason.as_str()),
    };
    query("INSERT INTO tasks (id, revision) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING")
        .with((task.id.as_str(), &revision))
        .run(&mut *tx)
        .await?;
    query(INSERT_REVISION)
        .with((task.id.as_str(), &revision, &task.repo, &task.base_sha))
        .with((&task.target_sha, state, reason, &task.image, suite))
        .with((task.suite_seconds, task.commits, task.span_days))
        .with((task.target_time, to_json(&task.preparation)?))
        .with((to_json(&task.extra)?, now_ms(), &task.base_report))
        .with(task.test_command.to_string())
        .run(&mut *tx)
        .await?;
    Ok(revision)
}

pub(super) async fn put_in_split(
    tx: &mut Tx,
    split: &str,
    position: u32,
    task: &TaskId,
    revision: &str,
) -> Result<()> {
    query(
        "INSERT INTO split_tasks (split, task_id, position, revision) VALUES ($1, $2, $3, $4)
         ON CONFLICT (split, task_id) DO UPDATE SET position = excluded.position, revision = excluded.revision",
    )
    .with((split, task.as_str(), position, revision))
    .run(tx)
    .await
}
