//! Names of all runs and tasks, for feeds and search engines.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;

use super::Store;
use super::rows::runs::{RunListing, read_listing};

impl Store {
    /// All public runs, newest first.
    pub async fn list_runs(&self) -> Result<Vec<RunListing>> {
        let rows = sqlx::query(
            "SELECT id, config, finished_at FROM runs WHERE visibility = 'public' ORDER BY id DESC",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(read_listing).collect()
    }

    /// All tasks, by name.
    pub async fn list_tasks(&self) -> Result<Vec<String>> {
        let rows = sqlx::query("SELECT id FROM tasks ORDER BY id")
            .fetch_all(&self.pool)
            .await?;
        let id = |row: &AnyRow| Ok(row.try_get("id")?);
        rows.iter().map(id).collect()
    }

    /// Finished public runs, the latest first; with equal times, the younger
    /// run first.
    pub async fn latest_results(&self, limit: u32) -> Result<Vec<String>> {
        let rows = sqlx::query(
            "SELECT id FROM runs WHERE progress = 'finished' AND visibility = 'public'
             ORDER BY coalesce(finished_at, created_at) DESC, id DESC LIMIT $1",
        )
        .bind(i64::from(limit))
        .fetch_all(&self.pool)
        .await?;
        let id = |row: &AnyRow| Ok(row.try_get("id")?);
        rows.iter().map(id).collect()
    }
}
