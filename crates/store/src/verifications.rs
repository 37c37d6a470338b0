//! Verifications of runs, and the marks that administrators gave.

use sqlx::{AnyConnection, Row};
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::verification::{Verification, Verified};

use super::changes::count_up;
use super::rows::runs::read_verification;
use super::steering::lock_run;
use super::{Store, audit, from_json, to_json};

impl Store {
    /// Records the result of verifying a run, replacing an earlier one.
    pub async fn put_verification(
        &self,
        run_id: &str,
        verification: &Verification,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        lock_run(&mut tx, run_id).await?;
        sqlx::query(
            "INSERT INTO verifications (run_id, found) VALUES ($1, $2)
             ON CONFLICT (run_id) DO UPDATE SET found = excluded.found",
        )
        .bind(run_id)
        .bind(to_json(verification)?)
        .execute(&mut *tx)
        .await?;
        let detail = format!(
            "{} of {} iterations, {} otherwise than recorded",
            verification.checked,
            verification.iterations,
            verification.differences.len()
        );
        audit::note(&mut tx, by, "run.verify", run_id, &detail).await?;
        if !verification.holds() && set_verified(&mut tx, run_id, None).await? {
            let why = "it came out otherwise when it was checked again";
            audit::note(&mut tx, by, "run.unmark", run_id, why).await?;
        }
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The result of verifying a run, if it was verified.
    pub async fn verification(&self, run_id: &str) -> Result<Option<Verification>> {
        let row = sqlx::query("SELECT found FROM verifications WHERE run_id = $1")
            .bind(run_id)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(read_verification).transpose()
    }

    /// Marks a run as verified. Does nothing if it is marked already.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless a verification confirmed the recorded
    /// results.
    pub async fn mark_verified(&self, run_id: &str, mark: &Verified, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        lock_run(&mut tx, run_id).await?;
        let row = sqlx::query("SELECT found FROM verifications WHERE run_id = $1")
            .bind(run_id)
            .fetch_optional(&mut *tx)
            .await?;
        let verification = row.as_ref().map(read_verification).transpose()?;
        ensure_verifiable(run_id, verification.as_ref())?;
        if verified_mark(&mut tx, run_id).await?.is_some() {
            return Ok(());
        }
        set_verified(&mut tx, run_id, Some(mark)).await?;
        audit::note(&mut tx, by, "run.mark", run_id, "verified").await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Removes the mark, if there is one.
    pub async fn unmark(&self, run_id: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        lock_run(&mut tx, run_id).await?;
        if set_verified(&mut tx, run_id, None).await? {
            audit::note(&mut tx, by, "run.unmark", run_id, "").await?;
            count_up(&mut tx).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// The mark of a verified run: by whom and when.
    pub async fn verified(&self, run_id: &str) -> Result<Option<Verified>> {
        let mut connection = self.pool.acquire().await?;
        verified_mark(&mut connection, run_id).await
    }
}

fn ensure_verifiable(run_id: &str, verification: Option<&Verification>) -> Result<()> {
    let why = match verification {
        Some(verification) if verification.holds() => return Ok(()),
        Some(_) => "came out otherwise than recorded when it was checked",
        None => "was never checked",
    };
    Err(Error::Conflict(format!(
        "run {run_id} {why}; it can be marked as verified after `swe-ci verify {run_id}` has found no differences"
    )))
}

async fn verified_mark(tx: &mut AnyConnection, run_id: &str) -> Result<Option<Verified>> {
    let row = sqlx::query("SELECT verified FROM runs WHERE id = $1")
        .bind(run_id)
        .fetch_one(tx)
        .await?;
    let json: String = row.try_get("verified")?;
    Some(json)
        .filter(|json| !json.is_empty())
        .map(|json| from_json("the mark of a run", &json))
        .transpose()
}

/// Sets or clears the mark; returns whether that changed anything.
async fn set_verified(
    tx: &mut AnyConnection,
    run_id: &str,
    mark: Option<&Verified>,
) -> Result<bool> {
    let json = mark.map(to_json).transpose()?.unwrap_or_default();
    let changed = sqlx::query("UPDATE runs SET verified = $2 WHERE id = $1 AND verified <> $2")
        .bind(run_id)
        .bind(json)
        .execute(tx)
        .await?;
    Ok(changed.rows_affected() > 0)
}
