//! Imported runs, written as a whole.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::results::Change;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_views::account::Standing;
use swe_ci_views::view::Provenance;

use super::changes::{commit_change, results_changed};
use super::evolutions::{insert_iterations, insert_steps};
use super::rows::columns::{Columns, from_row};
use super::rows::evolutions::{IterationRow, StepRow};
use super::rows::suites::Suite;
use super::rows::tasks::TaskRow;
use super::sql::{Tx, only, query};
use super::submitted_runs::{NewSubmission, put_submission};
use super::suites::put_suite;
use super::{Store, new_id, tasks, to_json};

/// A finished run with all its evolutions.
#[derive(Debug, Clone)]
pub struct ImportedRun {
    /// Identifies the run when it is imported again.
    pub source: String,
    /// Whose it is, and who may see it.
    pub standing: Standing,
    /// For a run that somebody else submitted.
    pub submission: Option<NewSubmission>,
    pub config: RunConfig,
    pub provenance: Provenance,
    /// In the split's order; tasks that the store lacks are added.
    pub tasks: Vec<TaskRow>,
    pub evolutions: Vec<ImportedEvolution>,
}

#[derive(Debug, Clone)]
pub struct ImportedEvolution {
    pub task_id: TaskId,
    pub sample: u32,
    pub suite: Suite,
    pub ending: Ending,
    pub reason: Option<String>,
    pub steps: Vec<StepRow>,
    pub iterations: Vec<IterationRow>,
}

impl Store {
    /// Writes a run, or updates it if it was imported before, in one
    /// transaction; returns its id.
    ///
    /// # Errors
    /// [`Error::Invalid`] when its split exists with other tasks, or a task
    /// exists with other commits. Nothing is written then.
    pub async fn put_import(&self, run: &ImportedRun) -> Result<(String, Change)> {
        let mut tx = self.pool.begin().await?;
        tasks::put_split(&mut tx, &run.config.split).await?;
        let content = [to_json(&run.config)?, to_json(&run.provenance)?];
        let before: Option<(String, [String; 2])> =
            query("SELECT id, config, provenance FROM runs WHERE source = $1")
                .with(&run.source)
                .first(&mut *tx, |row| {
                    let content = [row.read("config")?, row.read("provenance")?];
                    Ok((row.read("id")?, content))
                })
                .await?;
        let (id, put) = match before {
            None => (new_id(), Change::New),
            Some((id, before)) if before == content => return Ok((id, Change::Unchanged)),
            Some((id, _)) => {
                remove_evolutions(&mut tx, &id).await?;
                (id, Change::Replaced)
            }
        };
        put_tasks(&mut tx, run).await?;
        put_run(&mut tx, &id, run).await?;
        if let Some(submission) = &run.submission {
            put_submission(&mut tx, &id, submission).await?;
        }
        for evolution in &run.evolutions {
            let task = run.tasks.iter().find(|task| task.id == evolution.task_id);
            // Submitted code is graded again, with the task of today.
            let again = task.filter(|_| run.submission.is_some());
            put_evolution(&mut tx, &id, evolution, task, again).await?;
        }
        results_changed(&mut tx, &id).await?;
        commit_change(tx).await?;
        Ok((id, put))
    }
}

pub(super) async fn remove_evolutions(tx: &mut Tx, run_id: &str) -> Result<()> {
    for sql in [
        // Other findings need other decisions.
        "DELETE FROM finding_reviews WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM judgements WHERE run_id = $1",
        "DELETE FROM evolution_digests WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM evolution_audits WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM evolution_styles WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM iterations WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM steps WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1)",
        "DELETE FROM evolutions WHERE run_id = $1",
        // Earlier verifications do not apply to the new results.
        "DELETE FROM verifications WHERE run_id = $1",
    ] {
        query(sql).with(run_id).run(&mut *tx).await?;
    }
    Ok(())
}

/// Adds the missing tasks. A split that already has tasks gets no others, or
/// its other runs would no longer belong to the same split.
async fn put_tasks(tx: &mut Tx, run: &ImportedRun) -> Result<()> {
    let split = &run.config.split;
    let is_new = query("SELECT task_id FROM split_tasks WHERE split = $1 LIMIT 1")
        .with(split)
        .first(&mut *tx, only::<String>)
        .await?
        .is_none();
    for (position, task) in (0u32..).zip(&run.tasks) {
        let known = revisions(&mut *tx, &task.id, split).await?;
        let same = known.iter().find(|known| known.has_commits_of(task));
        if is_new {
            let revision = match same {
                Some(known) => known.revision.clone(),
                None => tasks::put_revision(&mut *tx, task).await?,
            };
            tasks::put_in_split(&mut *tx, split, position, &task.id, &revision).await?;
            continue;
        }
        match known.iter().find(|known| known.is_listed) {
            Some(listed) if listed.has_commits_of(task) => {}
            Some(listed) => return Err(listed.differs_from(task)),
            None => {
                return Err(Error::Invalid(format!(
                    "the split `{split}` exists and has no task `{}`; choose another split with --split",
                    task.id
                )));
            }
        }
    }
    Ok(())
}

/// A revision of a task, and whether the split lists it.
struct KnownRevision {
    revision: String,
    base_sha: String,
    target_sha: String,
    is_listed: bool,
}

/// The revisions of a task, the newest first.
async fn revisions(tx: &mut Tx, task: &TaskId, split: &str) -> Result<Vec<KnownRevision>> {
    query(
        "SELECT t.revision AS revision, t.base_sha AS base_sha, t.target_sha AS target_sha,
                CASE WHEN s.split IS NULL THEN 0 ELSE 1 END AS is_listed
         FROM task_revisions t
         LEFT JOIN split_tasks s ON s.task_id = t.id AND s.revision = t.revision AND s.split = $2
         WHERE t.id = $1 ORDER BY t.imported_at DESC",
    )
    .with((task.as_str(), split))
    .all(tx, |row| {
        Ok(from_row!(row => KnownRevision { revision, base_sha, target_sha, is_listed }))
    })
    .await
}

impl KnownRevision {
    /// Experiments may shorten their commits.
    fn has_commits_of(&self, task: &TaskRow) -> bool {
        let same = |a: &str, b: &str| a.starts_with(b) || b.starts_with(a);
        same(&self.base_sha, &task.base_sha) && same(&self.target_sha, &task.target_sha)
    }

    fn differs_from(&self, task: &TaskRow) -> Error {
        Error::Invalid(format!(
            "the task `{}` is known as {} → {}, here it is {} → {}; choose another split with --split",
            task.id, self.base_sha, self.target_sha, task.base_sha, task.target_sha
        ))
    }
}

async fn put_run(tx: &mut Tx, id: &str, run: &ImportedRun) -> Result<()> {
    query(
        "INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, finished_at, source,
                           owner, visibility)
         VALUES ($1, $2, $3, $4, $5, 'finished', $6, $6, $7, $8, $9)
         ON CONFLICT (id) DO UPDATE SET config = excluded.config, provenance = excluded.provenance,
             finished_at = excluded.finished_at, verified = ''",
    )
    .with((id, &run.config.split, run.config.kind.name()))
    .with((to_json(&run.config)?, to_json(&run.provenance)?, now_ms()))
    .with((&run.source, &run.standing.owner, run.standing.visibility.name()))
    .run(tx)
    .await
}

/// `task` tells the commits that its results are of.
async fn put_evolution(
    tx: &mut Tx,
    run_id: &str,
    evolution: &ImportedEvolution,
    task: Option<&TaskRow>,
    again: Option<&TaskRow>,
) -> Result<()> {
    let id = new_id();
    let suite = put_suite(&mut *tx, &evolution.suite).await?;
    query(
        "INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, reason, lease_until, expected_seconds,
                                 queued_at, finished_at, at_iteration, at_role, at_attempt, suite, base_sha, target_sha,
                                 image, base_report, test_command)
         VALUES ($1, $2, $3, $4, 'finished', $5, $6, 0, 0.0, $7, $7, 1, 'architect', 1, $8, $9, $10, $11, $12, $13)",
    )
    .with((&id, run_id, evolution.task_id.as_str(), evolution.sample))
    .with((evolution.ending.name(), &evolution.reason, now_ms()))
    .with((suite, task.map(|t| t.base_sha.as_str()), task.map(|t| t.target_sha.as_str())))
    .with((again.map(|t| t.image.as_str()), again.and_then(|t| t.base_report.as_deref())))
    .with(again.map(|t| t.test_command.to_string()))
    .run(&mut *tx)
    .await?;
    insert_steps(&mut *tx, &id, 0, &evolution.steps).await?;
    insert_iterations(&mut *tx, &id, &evolution.iterations).await
}
