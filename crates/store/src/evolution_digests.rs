//! The numbers of recordings and code changes, kept because a finished step never
//! changes and its recording may have hundreds of megabytes.

use swe_ci_base::error::Result;
use swe_ci_core::step::StepOutcome;

use super::rows::columns::{Columns, from_row};
use super::rows::evolutions::read_step;
use super::sql::{composed, query};
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

    /// Stores the digest of an evolution, replacing an earlier one. The data stays
    /// as it was: a visitor's request makes digests, and must empty no cache.
    pub async fn put_evolution_digest(
        &self,
        evolution_id: &str,
        format: u32,
        digest: &str,
    ) -> Result<()> {
        query(
            "INSERT INTO evolution_digests (evolution_id, format, digest) VALUES ($1, $2, $3)
             ON CONFLICT (evolution_id) DO UPDATE SET format = excluded.format, digest = excluded.digest",
        )
        .with((evolution_id, format, digest))
        .run(&self.pool)
        .await
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
             WHERE e.run_id = $1 AND s.outcome IN ({})",
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
             WHERE e.run_id = $1 ORDER BY s.evolution_id, s.seq",
        )
        .with(run_id)
        .all(&self.pool, |row| {
            Ok((row.read("evolution_id")?, read_step(row)?))
        })
        .await
    }
}
