//! Recounts: corrected results of runs that are over.

use swe_ci_base::error::Result;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_views::view::Provenance;

use super::changes::{commit_change, results_changed};
use super::sql::{only, query};
use super::{Store, to_json};

/// New counts of an iteration whose recorded counts were wrong.
#[derive(Debug, Clone)]
pub struct Recount {
    pub evolution_id: String,
    pub iteration: u32,
    pub verdict: Verdict,
    pub gained: u32,
    pub outcomes: Outcomes,
}

impl Store {
    /// Ids of the runs that are over, oldest first.
    pub async fn finished_runs(&self) -> Result<Vec<String>> {
        query("SELECT id FROM runs WHERE progress IN ('finished', 'cancelled') ORDER BY id")
            .all(&self.pool, only)
            .await
    }

    /// Writes the changed iterations of a run and the provenance of the
    /// recount, in one transaction.
    pub async fn put_recounts(
        &self,
        run_id: &str,
        provenance: &Provenance,
        changes: &[Recount],
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query("UPDATE runs SET provenance = $2 WHERE id = $1")
            .with((run_id, to_json(provenance)?))
            .run(&mut *tx)
            .await?;
        for change in changes {
            query(
                "UPDATE iterations SET verdict = $3, in_target = $4, passed = $5, lost = $6, gained = $7, outcomes = $8
                 WHERE evolution_id = $1 AND iteration = $2",
            )
            .with((&change.evolution_id, change.iteration, change.verdict))
            .with((change.gained, change.outcomes.packed()))
            .run(&mut *tx)
            .await?;
        }
        results_changed(&mut tx, run_id).await?;
        commit_change(tx).await
    }
}
