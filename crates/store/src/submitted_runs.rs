//! Runs that others submitted, and the decisions about them.

use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::{Actor, Visibility};
use swe_ci_views::leaderboard::Published;
use swe_ci_views::submitted::{ReviewDecision, ReviewState, SubmittedRun};

use super::audit::note;
use super::changes::commit_change;
use super::rows::columns::{Columns, from_row};
use super::sql::{Tx, composed, only, query};
use super::{Store, to_json};
use swe_ci_core::run::RunConfig;

/// Who submitted a run, and by which signature.
#[derive(Debug, Clone)]
pub struct NewSubmission {
    /// The account's name.
    pub account: String,
    /// Its public key.
    pub signer: String,
    /// SHA-256 of what is signed.
    pub digest: String,
}

const SELECT: &str =
    "SELECT s.run_id AS run_id, s.account AS account, s.signer AS signer, s.digest AS digest,
    s.received_at AS received_at, s.decision AS decision, r.config AS config, r.split AS split
    FROM submitted_runs s JOIN runs r ON r.id = s.run_id";

fn read(row: &AnyRow) -> Result<SubmittedRun> {
    let config: RunConfig = row.read("config")?;
    Ok(from_row!(row => SubmittedRun {
        run_id, split, account, signer, digest;
        model: config.model,
        received_at: row.time("received_at")?,
        decision: row.optional_json("decision", "the decision about a submitted run")?,
        verdicts: Vec::new(),
        state: ReviewState::Checking
    }))
}

pub(super) async fn put_submission(tx: &mut Tx, run_id: &str, new: &NewSubmission) -> Result<()> {
    query(
        "INSERT INTO submitted_runs (run_id, account, signer, digest, received_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .with((run_id, &new.account, &new.signer))
    .with((&new.digest, now_ms()))
    .run(tx)
    .await
}

impl Store {
    /// Stores the outside results of a split, instead of earlier ones.
    pub async fn put_outside_results(&self, split: &str, results: &Published) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO outside_results (split, results) VALUES ($1, $2)
             ON CONFLICT (split) DO UPDATE SET results = excluded.results",
        )
        .with((split, to_json(results)?))
        .run(&mut *tx)
        .await?;
        commit_change(tx).await
    }

    /// The outside results of a split, if some were read.
    pub async fn outside_results(&self, split: &str) -> Result<Option<Published>> {
        query("SELECT results FROM outside_results WHERE split = $1")
            .with(split)
            .first(&self.pool, |row| row.json("results", "outside results"))
            .await
    }

    /// The submitted runs of an account, or of all, the latest first.
    pub async fn submitted_runs(&self, account: Option<&str>) -> Result<Vec<SubmittedRun>> {
        composed(format!(
            "{SELECT} WHERE $1 = '' OR s.account = $1 ORDER BY s.received_at DESC, s.run_id DESC LIMIT 500"
        ))
        .with(account.unwrap_or_default())
        .all(&self.pool, read)
        .await
    }

    /// How a run was submitted; `None` for one that was made here.
    pub async fn submitted_run(&self, run_id: &str) -> Result<Option<SubmittedRun>> {
        composed(format!("{SELECT} WHERE s.run_id = $1"))
            .with(run_id)
            .first(&self.pool, read)
            .await
    }

    /// The account, other than this one, that submitted with a key before.
    pub async fn other_owner_of_key(&self, signer: &str, account: &str) -> Result<Option<String>> {
        query("SELECT account FROM submitted_runs WHERE signer = $1 AND account <> $2 LIMIT 1")
            .with((signer, account))
            .first(&self.pool, only)
            .await
    }

    /// The run that a description with this digest came as.
    pub async fn run_of_submission(&self, digest: &str) -> Result<Option<String>> {
        query("SELECT run_id FROM submitted_runs WHERE digest = $1")
            .with(digest)
            .first(&self.pool, only)
            .await
    }

    /// Records the decision about a submitted run, once, and publishes the run if that is
    /// the decision.
    ///
    /// # Errors
    /// [`Error::Conflict`] when it is decided.
    pub async fn decide_submission(
        &self,
        run_id: &str,
        decision: &ReviewDecision,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query("UPDATE submitted_runs SET decision = $2 WHERE run_id = $1 AND decision = ''")
            .with((run_id, to_json(decision)?))
            .run_or(&mut *tx, || {
                Error::Conflict(format!(
                    "run {run_id} is decided already, or was not submitted"
                ))
            })
            .await?;
        let mut action = "submission.refuse";
        if decision.published {
            action = "submission.publish";
            query("UPDATE runs SET visibility = $2 WHERE id = $1")
                .with((run_id, Visibility::Public.name()))
                .run(&mut *tx)
                .await?;
        }
        note(&mut tx, by, action, run_id, &decision.reason).await?;
        commit_change(tx).await
    }
}
