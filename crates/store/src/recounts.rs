//! Recounts: corrected results of runs that are over.

use swe_ci_base::error::Result;
use swe_ci_views::view::Provenance;

use super::changes::{commit_change, results_changed};
use super::evolutions::update_iteration;
use super::sql::{only, query};
use super::{IterationRow, Store, to_json};

impl Store {
    /// Ids of the runs that are over, oldest first.
    pub async fn finished_runs(&self) -> Result<Vec<String>> {
        query("SELECT id FROM runs WHERE progress IN ('finished', 'cancelled') ORDER BY id")
            .all(&self.pool, only)
            .await
    }

    /// Writes the changed iterations of a run, each with its evolution, and the
    /// provenance of the recount, in one transaction.
    pub async fn put_recounts(
        &self,
        run_id: &str,
        provenance: &Provenance,
        changes: &[(String, IterationRow)],
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query("UPDATE runs SET provenance = $2 WHERE id = $1")
            .with((run_id, to_json(provenance)?))
            .run(&mut *tx)
            .await?;
        for (evolution, row) in changes {
            update_iteration(&mut tx, evolution, row).await?;
        }
        results_changed(&mut tx, run_id).await?;
        commit_change(tx).await
    }
}
