//! Listings for programs that follow or index the site.

use swe_ci_base::error::Result;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_store::RunListing;
use swe_ci_views::leaderboard::Row;
use swe_ci_views::view::RunSummary;

use crate::Engine;

/// All items with a page of their own.
#[derive(Debug, Clone)]
pub struct Directory {
    /// Newest first.
    pub runs: Vec<RunListing>,
    /// By name.
    pub models: Vec<String>,
    /// By name.
    pub tasks: Vec<String>,
}

/// A finished run.
#[derive(Debug, Clone)]
pub struct NewResult {
    pub run: RunSummary,
    /// Its rank at γ = 1, in the paper's convention or, where only counts are
    /// known, in the other; absent without a scored task.
    pub standing: Option<(Convention, Row)>,
}

impl Engine {
    pub async fn directory(&self) -> Result<Directory> {
        let runs = self.store.list_runs().await?;
        let mut models: Vec<String> = runs.iter().map(|run| run.model.clone()).collect();
        models.sort();
        models.dedup();
        Ok(Directory {
            tasks: self.store.list_tasks().await?,
            models,
            runs,
        })
    }

    /// The last finished or imported runs, latest first.
    pub async fn latest_results(&self, limit: u32) -> Result<Vec<NewResult>> {
        let mut results = Vec::new();
        for id in self.store.latest_results(limit).await? {
            let run = self.store.run(&id).await?;
            let standing = self.standing(&run).await?;
            results.push(NewResult { run, standing });
        }
        Ok(results)
    }

    async fn standing(&self, run: &RunSummary) -> Result<Option<(Convention, Row)>> {
        for convention in Convention::ALL {
            // Rankings are cached, so runs of one split share one.
            let rows = self.ranking(&run.config.split, Gamma::ONE, convention);
            let found = rows.await?.into_iter().find(|row| row.run_id == run.run_id);
            if let Some(row) = found {
                return Ok(Some((convention, row)));
            }
        }
        Ok(None)
    }
}
