//! The runs of a leaderboard, and their counted results: kept, because a run that
//! is over never changes and has thousands of iterations.

use sqlx::any::AnyRow;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::Unranked;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;
use swe_ci_views::verification::Mark;
use swe_ci_views::view::Provenance;

use super::Store;
use super::costs::is_scored;
use super::rows::columns::{Columns, from_row};
use super::rows::runs::read_set_aside;
use super::runs::set_aside;
use super::sql::{composed, list_of, only, query};
use super::tasks::same_commit;

/// A run as its leaderboard needs it.
#[derive(Debug, Clone)]
pub struct LeaderboardRun {
    pub run_id: String,
    pub config: RunConfig,
    pub provenance: Provenance,
    /// A mark of its trustworthiness, if it has one.
    pub mark: Option<Mark>,
    /// Why its history keeps it from a rank, if it does.
    pub set_aside: Option<Unranked>,
    pub progress: Progress,
    /// RFC 3339; `None` until the run is over.
    pub finished_at: Option<String>,
    /// Another one after every change of its results.
    pub revision: String,
}

/// The counted results of a run, as the engine wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCounts {
    pub run_id: String,
    pub counts: String,
}

/// Where a task comes from: a leaderboard's facts about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TaskOrigin {
    pub id: TaskId,
    pub repo: String,
    /// The time of the target commit in unix milliseconds, if known.
    pub target_time: Option<i64>,
}

fn select_runs() -> String {
    format!(
        "SELECT r.id AS id, r.config AS config, r.provenance AS provenance, r.verified AS verified,
                r.progress AS progress, r.finished_at AS finished_at, r.revision AS revision,
                {}
         FROM runs r",
        set_aside()
    )
}

fn read_run(row: &AnyRow) -> Result<LeaderboardRun> {
    let submitted: RunConfig = row.read("config")?;
    Ok(from_row!(row => LeaderboardRun {
        provenance, progress, revision;
        run_id: row.read("id")?,
        mark: Mark::of(submitted.kind, row.optional_text("verified")?.is_some()),
        set_aside: read_set_aside(row)?,
        finished_at: row.optional_time("finished_at")?,
        config: submitted
    }))
}

impl Store {
    /// The public runs of a split that were not cancelled, oldest first.
    pub async fn leaderboard_runs(&self, split: &str) -> Result<Vec<LeaderboardRun>> {
        composed(format!(
            "{} WHERE r.split = $1 AND r.visibility = 'public' AND r.progress <> 'cancelled' ORDER BY r.id",
            select_runs()
        ))
        .with(split)
        .all(&self.pool, read_run)
        .await
    }

    /// Any run, public or not.
    pub async fn leaderboard_run(&self, id: &str) -> Result<LeaderboardRun> {
        composed(format!("{} WHERE r.id = $1", select_runs()))
            .with(id)
            .first(&self.pool, read_run)
            .await?
            .ok_or_else(|| Error::not_found("run", id))
    }

    /// These runs, public or not, in no order.
    pub async fn leaderboard_runs_of(&self, run_ids: &[String]) -> Result<Vec<LeaderboardRun>> {
        if run_ids.is_empty() {
            return Ok(Vec::new());
        }
        composed(format!(
            "{} WHERE r.id IN {}",
            select_runs(),
            list_of(run_ids.len())
        ))
        .with(run_ids)
        .all(&self.pool, read_run)
        .await
    }

    /// The current stored counts of a format, of those of these runs that have
    /// some.
    pub async fn stored_counts(
        &self,
        run_ids: &[String],
        format: u32,
    ) -> Result<Vec<StoredCounts>> {
        if run_ids.is_empty() {
            return Ok(Vec::new());
        }
        composed(format!(
            "SELECT c.run_id AS run_id, c.counts AS counts
             FROM run_counts c JOIN runs r ON r.id = c.run_id AND r.revision = c.revision
             WHERE c.run_id IN {} AND c.format = ${}",
            list_of(run_ids.len()),
            run_ids.len() + 1
        ))
        .with(run_ids)
        .with(format)
        .all(&self.pool, |row| {
            Ok(from_row!(row => StoredCounts { run_id, counts }))
        })
        .await
    }

    /// Stores the counts of a revision of a run, replacing earlier ones.
    pub async fn put_counts(&self, run: &LeaderboardRun, format: u32, counts: &str) -> Result<()> {
        query(
            "INSERT INTO run_counts (run_id, revision, format, counts) VALUES ($1, $2, $3, $4)
             ON CONFLICT (run_id) DO UPDATE SET revision = excluded.revision,
                 format = excluded.format, counts = excluded.counts",
        )
        .with((&run.run_id, &run.revision, format, counts))
        .run(&self.pool)
        .await
    }

    /// How many tasks of a split a run can have scores of: those that are ready,
    /// and those of which some run has a score, or results from elsewhere.
    pub async fn scorable_tasks(&self, split: &str) -> Result<u32> {
        composed(format!(
            "SELECT count(*) FROM split_tasks s JOIN task_revisions t ON t.id = s.task_id AND t.revision = s.revision
             WHERE s.split = $1 AND (t.state = 'ready'
                 OR EXISTS (SELECT 1 FROM evolutions e JOIN runs r ON r.id = e.run_id
                            WHERE e.task_id = t.id AND r.split = s.split
                              AND r.visibility = 'public' AND r.progress <> 'cancelled'
                              AND (r.source IS NOT NULL OR {})
                              AND (e.base_sha IS NULL OR ({} AND {}))))",
            is_scored(),
            same_commit("base_sha"),
            same_commit("target_sha")
        ))
        .with(split)
        .one(&self.pool, only)
        .await
    }

    /// The origins of the tasks of a split, in its order; none for an unknown
    /// split.
    pub async fn task_origins(&self, split: &str) -> Result<Vec<TaskOrigin>> {
        query(
            "SELECT t.id AS id, t.repo AS repo, t.target_time AS target_time
             FROM split_tasks s JOIN task_revisions t ON t.id = s.task_id AND t.revision = s.revision
             WHERE s.split = $1 ORDER BY s.position, t.id",
        )
        .with(split)
        .all(&self.pool, |row| {
            Ok(from_row!(row => TaskOrigin { id, repo, target_time }))
        })
        .await
    }
}
