//! What came of checking runs.

use sqlx::Row;
use swe_ci_core::account::Actor;
use swe_ci_core::verification::Verification;

use super::changes::count_up;
use super::{Store, audit, from_json, to_json};
use crate::error::Result;

impl Store {
    /// Keeps what came of checking a run, in the place of what came of it
    /// before.
    pub async fn put_verification(
        &self,
        run_id: &str,
        found: &Verification,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO verifications (run_id, found) VALUES ($1, $2)
             ON CONFLICT (run_id) DO UPDATE SET found = excluded.found",
        )
        .bind(run_id)
        .bind(to_json(found)?)
        .execute(&mut *tx)
        .await?;
        let detail = format!(
            "{} of {} iterations, {} otherwise than recorded",
            found.checked,
            found.iterations,
            found.differences.len()
        );
        audit::note(&mut tx, by, "run.verify", run_id, &detail).await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// What came of checking a run, if it ever was.
    pub async fn verification(&self, run_id: &str) -> Result<Option<Verification>> {
        let row = sqlx::query("SELECT found FROM verifications WHERE run_id = $1")
            .bind(run_id)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| from_json("a run's verification", &row.try_get::<String, _>("found")?))
            .transpose()
    }
}
