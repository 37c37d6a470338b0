//! Runs graded again: a new run on the tasks of today, linked to the run whose
//! code it grades.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_views::account::Actor;
use swe_ci_views::view::Provenance;

use super::audit::note;
use super::changes::commit_change;
use super::queue_signals::signal_workers;
use super::sql::{composed, only, query};
use super::tasks::REVISION_OF_EVOLUTION;
use super::{Store, new_id, to_json};

/// A run to queue that grades another one's code.
#[derive(Debug, Clone)]
pub struct NewRegrade {
    pub original: String,
    pub provenance: Provenance,
    /// The evolutions of the original whose code it grades.
    pub evolutions: Vec<String>,
}

impl Store {
    /// Writes the run with an evolution for each of the original's, in one
    /// transaction; returns its id. Configuration, owner and the mark of cleared
    /// evolutions are the original's; the tasks are pinned as they are today. It
    /// is public if the original is.
    pub async fn insert_regrade(&self, regrade: &NewRegrade, by: &Actor) -> Result<String> {
        let (id, original, now) = (new_id(), regrade.original.as_str(), now_ms());
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, owner, visibility,
                               keys_of, reach, forget_keys, regrades, cleared, cleared_at)
             SELECT $1, split, kind, config, $3, 'queued', $4, owner,
                    CASE visibility WHEN 'public' THEN 'public' ELSE 'private' END,
                    keys_of, reach, 0, id, cleared, cleared_at
             FROM runs WHERE id = $2",
        )
        .with((&id, original, to_json(&regrade.provenance)?, now))
        .run_or(&mut *tx, || Error::not_found("run", original))
        .await?;
        for evolution in &regrade.evolutions {
            composed(format!(
                "INSERT INTO evolutions (id, run_id, task_id, sample, progress, lease_until, expected_seconds,
                                         queued_at, at_iteration, at_role, at_attempt, suite,
                                         base_sha, target_sha, image, base_report, test_command)
                 SELECT $1, $2, t.id, e.sample, 'queued', 0, t.suite_seconds, $4, 1, 'architect', 1, t.suite,
                        t.base_sha, t.target_sha, t.image, t.base_report, t.test_command
                 FROM evolutions e JOIN task_revisions t ON t.id = e.task_id
                 WHERE e.id = $3 AND t.revision = {REVISION_OF_EVOLUTION}"
            ))
            .with((new_id(), &id, evolution, now))
            .run_or(&mut *tx, || Error::not_found("evolution", evolution))
            .await?;
        }
        query(
            "INSERT INTO run_needs (run_id, need) SELECT $1, need FROM run_needs WHERE run_id = $2",
        )
        .with((&id, original))
        .run(&mut *tx)
        .await?;
        note(
            &mut tx,
            by,
            "run.regrade",
            &id,
            &format!("the code of {original}"),
        )
        .await?;
        signal_workers(&mut *tx, self.dialect).await?;
        commit_change(tx).await?;
        Ok(id)
    }

    /// The runs that graded the code of this one again, oldest first.
    pub async fn regrades_of(&self, run_id: &str) -> Result<Vec<String>> {
        query("SELECT id FROM runs WHERE regrades = $1 ORDER BY id")
            .with(run_id)
            .all(&self.pool, only)
            .await
    }
}
