//! What there is, by name alone, for those who follow or index the site.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_core::run::RunConfig;

use super::{Store, from_json};
use crate::clock::rfc3339;
use crate::error::Result;

/// A run as a directory has it.
#[derive(Debug, Clone)]
pub struct RunListing {
    pub run_id: String,
    pub model: String,
    /// When it was over, RFC 3339; absent while it is not.
    pub finished_at: Option<String>,
}

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

    /// Finished public runs, the latest first; of two that were over in one moment,
    /// the younger.
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

fn read_listing(row: &AnyRow) -> Result<RunListing> {
    let config: String = row.try_get("config")?;
    let config: RunConfig = from_json("a run's configuration", &config)?;
    Ok(RunListing {
        run_id: row.try_get("id")?,
        model: config.model,
        finished_at: row.try_get::<Option<i64>, _>("finished_at")?.map(rfc3339),
    })
}
