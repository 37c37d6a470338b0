//! Verifications of runs, and the marks that administrators gave.

use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::verification::{Verification, Verified};

use super::audit::note;
use super::changes::commit_change;
use super::rows::columns::Columns;
use super::sql::{Tx, query};
use super::steering::lock_run;
use super::{Store, to_json};

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
        query(
            "INSERT INTO verifications (run_id, found) VALUES ($1, $2)
             ON CONFLICT (run_id) DO UPDATE SET found = excluded.found",
        )
        .with((run_id, to_json(verification)?))
        .run(&mut *tx)
        .await?;
        let detail = format!(
            "{} of {} iterations, {} otherwise than recorded",
            verification.checked,
            verification.iterations,
            verification.differences.len()
        );
        note(&mut tx, by, "run.verify", run_id, &detail).await?;
        if !verification.holds() && set_verified(&mut tx, run_id, None).await? {
            let why = "it came out otherwise when it was checked again";
            note(&mut tx, by, "run.unmark", run_id, why).await?;
        }
        commit_change(tx).await
    }

    /// The result of verifying a run, if it was verified.
    pub async fn verification(&self, run_id: &str) -> Result<Option<Verification>> {
        verification(&mut *self.pool.acquire().await?, run_id).await
    }

    /// Marks a run as verified. Does nothing if it is marked already.
    ///
    /// # Errors
    /// [`Error::Conflict`] unless a verification confirmed the recorded
    /// results.
    pub async fn mark_verified(&self, run_id: &str, mark: &Verified, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        lock_run(&mut tx, run_id).await?;
        let verification = verification(&mut tx, run_id).await?;
        ensure_verifiable(run_id, verification.as_ref())?;
        if verified_mark(&mut tx, run_id).await?.is_some() {
            return Ok(());
        }
        set_verified(&mut tx, run_id, Some(mark)).await?;
        note(&mut tx, by, "run.mark", run_id, "verified").await?;
        commit_change(tx).await
    }

    /// Removes the mark, if there is one.
    pub async fn unmark(&self, run_id: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        lock_run(&mut tx, run_id).await?;
        if set_verified(&mut tx, run_id, None).await? {
            note(&mut tx, by, "run.unmark", run_id, "").await?;
            commit_change(tx).await?;
        }
        Ok(())
    }

    /// The mark of a verified run: by whom and when.
    pub async fn verified(&self, run_id: &str) -> Result<Option<Verified>> {
        verified_mark(&mut *self.pool.acquire().await?, run_id).await
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

async fn verification(tx: &mut Tx, run_id: &str) -> Result<Option<Verification>> {
    query("SELECT found FROM verifications WHERE run_id = $1")
        .with(run_id)
        .first(tx, |row| row.json("found", "a run's verification"))
        .await
}

async fn verified_mark(tx: &mut Tx, run_id: &str) -> Result<Option<Verified>> {
    query("SELECT verified FROM runs WHERE id = $1")
        .with(run_id)
        .one(tx, |row| row.optional_json("verified", "the mark of a run"))
        .await
}

/// Sets or clears the mark; returns whether that changed anything.
async fn set_verified(tx: &mut Tx, run_id: &str, mark: Option<&Verified>) -> Result<bool> {
    let json = mark.map(to_json).transpose()?.unwrap_or_default();
    let changed = query("UPDATE runs SET verified = $2 WHERE id = $1 AND verified <> $2")
        .with((run_id, json))
        .changed(tx)
        .await?;
    Ok(changed > 0)
}
