//! What came of checking runs, and which of them an administrator has marked.

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};
use swe_ci_core::account::Actor;
use swe_ci_core::verification::{Verification, Verified};

use super::changes::count_up;
use super::steering::hold_run;
use super::{Store, audit, from_json, to_json};
use crate::error::{Error, Result};

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
        hold_run(&mut tx, run_id).await?;
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
        if !found.holds() && set_verified(&mut tx, run_id, None).await? {
            let why = "it came out otherwise when it was checked again";
            audit::note(&mut tx, by, "run.unmark", run_id, why).await?;
        }
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
        row.as_ref().map(read_found).transpose()
    }

    /// Marks a run as verified. A run that is marked already stays as it is.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless it was checked, and came out as recorded.
    pub async fn mark_verified(&self, run_id: &str, mark: &Verified, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        hold_run(&mut tx, run_id).await?;
        let row = sqlx::query("SELECT found FROM verifications WHERE run_id = $1")
            .bind(run_id)
            .fetch_optional(&mut *tx)
            .await?;
        let found = row.as_ref().map(read_found).transpose()?;
        may_be_marked(run_id, found.as_ref())?;
        if read_verified(&mut tx, run_id).await?.is_some() {
            return Ok(());
        }
        set_verified(&mut tx, run_id, Some(mark)).await?;
        audit::note(&mut tx, by, "run.mark", run_id, "verified").await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Takes the mark away, where there is one.
    pub async fn unmark(&self, run_id: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        hold_run(&mut tx, run_id).await?;
        if set_verified(&mut tx, run_id, None).await? {
            audit::note(&mut tx, by, "run.unmark", run_id, "").await?;
            count_up(&mut tx).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Who marked a run as verified, and when.
    pub async fn verified(&self, run_id: &str) -> Result<Option<Verified>> {
        let mut connection = self.pool.acquire().await?;
        read_verified(&mut connection, run_id).await
    }
}

fn may_be_marked(run_id: &str, found: Option<&Verification>) -> Result<()> {
    let why = match found {
        Some(found) if found.holds() => return Ok(()),
        Some(_) => "came out otherwise than recorded when it was checked",
        None => "was never checked",
    };
    Err(Error::Conflict(format!(
        "run {run_id} {why}; it can be marked as verified after `swe-ci verify {run_id}` has found no differences"
    )))
}

fn read_found(row: &AnyRow) -> Result<Verification> {
    from_json("a run's verification", &row.try_get::<String, _>("found")?)
}

async fn read_verified(tx: &mut AnyConnection, run_id: &str) -> Result<Option<Verified>> {
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

/// Whether that changed anything.
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
