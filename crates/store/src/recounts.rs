//! Recounts: corrected results of runs that are over.

use sqlx::Row;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::outcomes::Outcomes;
use swe_ci_views::view::Provenance;

use super::changes::count_up;
use super::evolutions::Counts;
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
        let rows = sqlx::query(
            "SELECT id FROM runs WHERE progress IN ('finished', 'cancelled') ORDER BY id",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok(row.try_get("id")?)).collect()
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
        sqlx::query("UPDATE runs SET provenance = $2 WHERE id = $1")
            .bind(run_id)
            .bind(to_json(provenance)?)
            .execute(&mut *tx)
            .await?;
        for change in changes {
            let counts = Counts::from_verdict(change.verdict);
            sqlx::query(
                "UPDATE iterations SET verdict = $3, in_target = $4, passed = $5, lost = $6, gained = $7, outcomes = $8
                 WHERE evolution_id = $1 AND iteration = $2",
            )
            .bind(&change.evolution_id)
            .bind(i64::from(change.iteration))
            .bind(counts.verdict)
            .bind(counts.in_target)
            .bind(counts.passed)
            .bind(counts.lost)
            .bind(i64::from(change.gained))
            .bind(change.outcomes.letters())
            .execute(&mut *tx)
            .await?;
        }
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }
}
