//! Snapshots of leaderboards. A row is written once.

use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::leaderboard::Snapshot;

use super::Store;
use super::audit::note;
use super::changes::commit_change;
use super::rows::columns::{Columns, from_row};
use super::sql::{composed, only, query};

/// A snapshot to be stored.
#[derive(Debug, Clone, Copy)]
pub struct NewSnapshot<'a> {
    /// `YYYY-MM-DD`.
    pub day: &'a str,
    pub split: &'a str,
    /// SHA-256 of the unpacked content.
    pub digest: &'a str,
    pub runs: u32,
    pub tasks: u32,
    pub platform_version: &'a str,
    /// Packed.
    pub content: &'a str,
}

const SELECT: &str =
    "SELECT day, split, digest, made_at, made_by, runs, tasks, platform_version FROM snapshots";

fn read_snapshot(row: &AnyRow) -> Result<Snapshot> {
    Ok(from_row!(row => Snapshot {
        day, split, digest, made_by, runs, tasks, platform_version;
        made_at: row.time("made_at")?
    }))
}

impl Store {
    /// Stores a snapshot.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the split has one of that day.
    pub async fn put_snapshot(&self, new: &NewSnapshot<'_>, by: &Actor) -> Result<()> {
        let NewSnapshot { day, split, .. } = *new;
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO snapshots (day, split, digest, made_at, made_by, runs, tasks, platform_version, content)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (day, split) DO NOTHING",
        )
        .with((day, split, new.digest, now_ms()))
        .with((by.name(), new.runs, new.tasks))
        .with((new.platform_version, new.content))
        .run_or(&mut *tx, || {
            Error::Conflict(format!(
                "split {split} has a snapshot of {day} already; a snapshot never changes"
            ))
        })
        .await?;
        note(&mut tx, by, "snapshot.make", split, day).await?;
        commit_change(tx).await
    }

    /// All snapshots, those of the latest day first, those of a day by split.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>> {
        composed(format!("{SELECT} ORDER BY day DESC, split"))
            .all(&self.pool, read_snapshot)
            .await
    }

    /// The snapshot of a day of a split, or of the largest split that has one: as
    /// none is added to an earlier day, this stays the same.
    pub async fn snapshot(&self, day: &str, split: Option<&str>) -> Result<Snapshot> {
        composed(format!(
            "{SELECT} WHERE day = $1 AND ($2 = '' OR split = $2) ORDER BY tasks DESC, split LIMIT 1"
        ))
        .with((day, split.unwrap_or_default()))
        .first(&self.pool, read_snapshot)
        .await?
        .ok_or_else(|| Error::not_found("snapshot", day))
    }

    /// The latest snapshot of a split.
    pub async fn last_snapshot(&self, split: &str) -> Result<Option<Snapshot>> {
        composed(format!(
            "{SELECT} WHERE split = $1 ORDER BY day DESC LIMIT 1"
        ))
        .with(split)
        .first(&self.pool, read_snapshot)
        .await
    }

    /// The packed content of a snapshot.
    pub async fn snapshot_content(&self, of: &Snapshot) -> Result<String> {
        query("SELECT content FROM snapshots WHERE day = $1 AND split = $2")
            .with((&of.day, &of.split))
            .one(&self.pool, only)
            .await
    }
}
