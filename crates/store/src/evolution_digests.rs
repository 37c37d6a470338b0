//! The numbers of recordings and code changes, kept because a finished step never
//! changes and its recording may have hundreds of megabytes.

use swe_ci_base::error::Result;
use swe_ci_core::step::StepOutcome;

use super::rows::columns::{Columns, from_row};
use super::rows::evolutions::read_step;
use super::sql::{composed, list_of, query};
use super::{Store, to_json};
use crate::StepRow;

/// The digest of an evolution, as the engine wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDigest {
    pub evolution_id: String,
    pub digest: String,
}

impl Store {
    /// The stored digests of a format, of the evolutions of a run.
    pub async fn evolution_digests(&self, run_id: &str, format: u32) -> Result<Vec<StoredDigest>> {
        query(
            "SELECT d.evolution_id AS evolution_id, d.digest AS digest
             FROM evolution_digests d JOIN evolutions e ON e.id = d.evolution_id
             WHERE e.run_id = $1 AND d.format = $2",
        )
        .with((run_id, format))
        .all(&self.pool, |row| {
            Ok(from_row!(row => StoredDigest { evolution_id, digest }))
        })
        .await
    }

    /// The losses in the stored digests of a format, of the evolutions of these runs:
    /// each a run and a JSON object that has `losses`.
    pub async fn losses_of_runs(
        &self,
        runs: &[String],
        format: u32,
    ) -> Result<Vec<(String, String)>> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let (list, last) = (list_of(runs.len()), runs.len() + 1);
        composed(format!(
            "SELECT e.run_id AS run_id, coalesce(d.losses, d.digest) AS losses
             FROM evolution_digests d JOIN evolutions e ON e.id = d.evolution_id
             WHERE e.run_id IN {list} AND d.format = ${last}"
        ))
        .with(runs)
        .with(format)
        .all(&self.pool, |row| {
            Ok((row.read("run_id")?, row.read("losses")?))
        })
        .await
    }

    /// Stores the digest of an evolution and its losses, replacing earlier ones. A
    /// visitor's request makes digests, so only what shows them counts it as a change.
    pub async fn put_evolution_digest(
        &self,
        evolution_id: &str,
        format: u32,
        digest: &str,
        losses: &str,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let changed = query(
            "INSERT INTO evolution_digests (evolution_id, format, digest, losses) VALUES ($1, $2, $3, $4)
             ON CONFLICT (evolution_id) DO UPDATE
             SET format = excluded.format, digest = excluded.digest, losses = excluded.losses
             WHERE evolution_digests.format <> excluded.format OR evolution_digests.digest <> excluded.digest",
        )
        .with((evolution_id, format, digest, losses))
        .changed(&mut *tx)
        .await?;
        if changed > 0 {
            query("UPDATE stored_digests SET n = n + 1")
                .run(&mut *tx)
                .await?;
        }
        Ok(tx.commit().await?)
    }

    /// The attempts of a run that ended with one of these outcomes, by evolution.
    pub async fn steps_of_run_with(
        &self,
        run_id: &str,
        outcomes: &[StepOutcome],
    ) -> Result<Vec<(String, StepRow)>> {
        let outcomes: Vec<String> = outcomes.iter().map(to_json).collect::<Result<_>>()?;
        let list: Vec<String> = outcomes.iter().map(|json| format!("'{json}'")).collect();
        composed(format!(
            "SELECT s.* FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND s.at_work = 0 AND s.outcome IN ({})",
            list.join(", ")
        ))
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("evolution_id")?, read_step(row)?))
        })
        .await
    }

    /// The attempts of all evolutions of a run, by evolution, in order.
    pub async fn steps_of_run(&self, run_id: &str) -> Result<Vec<(String, StepRow)>> {
        query(
            "SELECT s.* FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND s.at_work = 0 ORDER BY s.evolution_id, s.seq",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("evolution_id")?, read_step(row)?))
        })
        .await
    }
}
