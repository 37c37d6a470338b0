//! Runs: submitted, listed, published.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::task::TaskId;
use swe_ci_views::account::{Actor, Standing, Visibility};
use swe_ci_views::view::{Provenance, RunSummary};

use super::audit::note;
use super::changes::commit_change;
use super::costs::is_scored;
use super::handovers::{NewStart, pin_start};
use super::queue_signals::signal_workers;
use super::rows::columns::from_row;
use super::rows::runs::{
    RunListing, RunToExecute, read_listing, read_run_summary, read_run_to_execute,
};
use super::sql::{composed, only, query};
use super::tasks::other_revisions;
use super::{Store, new_id, to_json};

/// A run to queue with all its evolutions.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub config: RunConfig,
    /// Its owner and visibility.
    pub standing: Standing,
    pub grant: RunPermissions,
    pub provenance: Provenance,
    /// Each task, with the expected seconds of one of its evolutions.
    pub tasks: Vec<(TaskId, f64)>,
    /// Whether it waits for a preflight.
    pub preflight: bool,
    /// Whether to remove its owner's keys that it names when it is over.
    pub forget_keys: bool,
}

pub(super) const ITERATIONS: &str =
    "(SELECT count(*) FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
            WHERE e.run_id = r.id)";

/// Columns that tell why the history of a run `r` keeps it from a rank. `beside` is
/// the run that stands for the result of a run graded again, unless that is the
/// run itself: a later regrade, or the original until it is withdrawn or its tasks
/// have other content.
pub(super) fn set_aside() -> String {
    format!(
        "r.cleared AS cleared, {} AS other_revisions,
         CASE WHEN r.regrades IS NOT NULL THEN coalesce(
             (SELECT max(n.id) FROM runs n WHERE n.regrades = r.regrades AND n.id > r.id
                 AND n.visibility = 'public' AND n.progress = 'finished'),
             (SELECT o.id FROM runs o WHERE o.id = r.regrades AND o.visibility <> 'withdrawn'
                 AND {} = 0)) END AS beside",
        other_revisions("r"),
        other_revisions("o")
    )
}

/// The columns of a run's summary; `iterations` is the number of its iterations.
pub(super) fn select_summary(iterations: &str) -> String {
    format!(
        "SELECT r.id AS id, r.config AS config, r.visibility AS visibility,
                r.regrades AS regrades, r.cleared_at AS cleared_at, {},
                r.withdrawn AS withdrawn, r.verified AS verified, r.progress AS progress, r.created_at AS created_at,
                r.started_at AS started_at, r.finished_at AS finished_at,
                p.state AS preflight_state, p.at AS preflight_at, p.findings AS preflight_findings,
                r.paused_at AS paused_at, r.at_once AS at_once, r.budget AS budget,
                (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id) AS evolutions,
                (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.progress = 'finished') AS over,
                (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND {}) AS scored,
                (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.ending = 'blocked') AS blocked,
                (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.ending = 'solved') AS solved,
                (SELECT count(*) FROM evolutions e WHERE e.run_id = r.id AND e.ending = 'agent_gave_up') AS gave_up,
                {iterations} AS iterations
         FROM runs r LEFT JOIN preflights p ON p.run_id = r.id",
        set_aside(),
        is_scored()
    )
}

impl Store {
    /// Writes a run and its evolutions in one transaction; returns its id.
    pub async fn insert_run(&self, run: &NewRun, by: &Actor) -> Result<String> {
        self.insert(run, None, by).await
    }

    /// The same for a handover: only the evolutions that have a start, each on
    /// its own.
    pub async fn insert_handover(
        &self,
        run: &NewRun,
        starts: &[NewStart],
        by: &Actor,
    ) -> Result<String> {
        self.insert(run, Some(starts), by).await
    }

    async fn insert(
        &self,
        run: &NewRun,
        starts: Option<&[NewStart]>,
        by: &Actor,
    ) -> Result<String> {
        let id = new_id();
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, owner, visibility,
                               keys_of, reach, forget_keys)
             VALUES ($1, $2, $3, $4, $5, 'queued', $6, $7, $8, $9, $10, $11)",
        )
        .with((&id, &run.config.split, run.config.kind.name()))
        .with((to_json(&run.config)?, to_json(&run.provenance)?, now))
        .with(run.standing.owner.as_deref())
        .with((run.standing.visibility.name(), run.grant.keyring.owner()))
        .with((run.grant.reach.name(), run.forget_keys))
        .run(&mut *tx)
        .await?;
        for (task, expected_seconds) in &run.tasks {
            for sample in 1..=run.config.samples {
                let is_own = |start: &&NewStart| start.task == *task && start.sample == sample;
                let start = starts.map(|starts| starts.iter().find(is_own));
                if start == Some(None) {
                    continue;
                }
                let evolution_id = new_id();
                query(
                    "INSERT INTO evolutions (id, run_id, task_id, sample, progress, lease_until, expected_seconds,
                                             queued_at, at_iteration, at_role, at_attempt, suite,
                                             base_sha, target_sha, image, base_report, test_command)
                     SELECT $1, $2, t.id, $4, 'queued', 0, $5, $6, 1, 'architect', 1, t.suite,
                            t.base_sha, t.target_sha, t.image, t.base_report, t.test_command
                     FROM split_tasks s JOIN task_revisions t ON t.id = s.task_id AND t.revision = s.revision
                     WHERE s.task_id = $3 AND s.split = $7",
                )
                .with((&evolution_id, &id, task.as_str()))
                .with((sample, *expected_seconds, now))
                .with(&run.config.split)
                .run_or(&mut *tx, || Error::not_found("task", task))
                .await?;
                if let Some(start) = start.flatten() {
                    pin_start(&mut tx, &evolution_id, start).await?;
                }
            }
        }
        for need in run.config.needs.texts() {
            query("INSERT INTO run_needs (run_id, need) VALUES ($1, $2)")
                .with((&id, need))
                .run(&mut *tx)
                .await?;
        }
        if run.preflight {
            query(
                "INSERT INTO preflights (run_id, state, at, findings) VALUES ($1, 'waiting', $2, '[]')",
            )
            .with((&id, now))
            .run(&mut *tx)
            .await?;
        }
        let detail = format!("{}: {}", run.standing.visibility.name(), run.config.model);
        note(&mut tx, by, "run.submit", &id, &detail).await?;
        signal_workers(&mut *tx, self.dialect).await?;
        commit_change(tx).await?;
        Ok(id)
    }

    /// The data that a worker needs to execute the evolutions of a run.
    pub async fn run_to_execute(&self, id: &str) -> Result<RunToExecute> {
        query(
            "SELECT progress, config, paused_at, at_once, budget, keys_of, reach, regrades
             FROM runs WHERE id = $1",
        )
        .with(id)
        .first(&self.pool, read_run_to_execute)
        .await?
        .ok_or_else(|| Error::not_found("run", id))
    }

    /// When a worker first started on a run, in unix milliseconds.
    pub async fn run_began(&self, id: &str) -> Result<Option<i64>> {
        query("SELECT started_at FROM runs WHERE id = $1")
            .with(id)
            .one(&self.pool, only)
            .await
    }

    pub async fn run(&self, id: &str) -> Result<RunSummary> {
        composed(format!("{} WHERE r.id = $1", select_summary(ITERATIONS)))
            .with(id)
            .first(&self.pool, read_run_summary)
            .await?
            .ok_or_else(|| Error::not_found("run", id))
    }

    /// The runs whose ids begin so, oldest first.
    pub async fn runs_that_begin(&self, start: &str) -> Result<Vec<String>> {
        let is_plain = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
        if start.is_empty() || !start.bytes().all(is_plain) {
            return Ok(Vec::new());
        }
        query("SELECT id FROM runs WHERE id LIKE $1 || '%' ORDER BY id")
            .with(start)
            .all(&self.pool, only)
            .await
    }

    /// The owner and visibility of a run.
    pub async fn standing(&self, id: &str) -> Result<Standing> {
        query("SELECT owner, visibility FROM runs WHERE id = $1")
            .with(id)
            .first(&self.pool, |row| {
                Ok(from_row!(row => Standing { owner, visibility }))
            })
            .await?
            .ok_or_else(|| Error::not_found("run", id))
    }

    /// Makes a run public.
    pub async fn publish(&self, id: &str, by: &Actor) -> Result<()> {
        self.set_visibility(id, Visibility::Public, "", "run.publish", by)
            .await
    }

    /// Withdraws a public run; `why` is shown to those who can still see it.
    pub async fn withdraw(&self, id: &str, why: &str, by: &Actor) -> Result<()> {
        self.set_visibility(id, Visibility::Withdrawn, why, "run.withdraw", by)
            .await
    }

    async fn set_visibility(
        &self,
        id: &str,
        visibility: Visibility,
        why: &str,
        action: &str,
        by: &Actor,
    ) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let changed = query(
            "UPDATE runs SET visibility = $2, withdrawn = $3 WHERE id = $1 AND visibility <> $2",
        )
        .with((id, visibility.name(), why))
        .changed(&mut *tx)
        .await?;
        if changed == 0 {
            return Ok(());
        }
        note(&mut tx, by, action, id, why).await?;
        commit_change(tx).await
    }

    /// All public runs, newest first.
    pub async fn list_runs(&self) -> Result<Vec<RunListing>> {
        query(
            "SELECT id, config, finished_at FROM runs WHERE visibility = 'public' ORDER BY id DESC",
        )
        .all(&self.pool, read_listing)
        .await
    }

    /// Finished public runs, the latest first; with equal times, the younger
    /// run first.
    pub async fn latest_results(&self, limit: u32) -> Result<Vec<String>> {
        query(
            "SELECT id FROM runs WHERE progress = 'finished' AND visibility = 'public'
             ORDER BY coalesce(finished_at, created_at) DESC, id DESC LIMIT $1",
        )
        .with(limit)
        .all(&self.pool, only)
        .await
    }

    /// How many runs of an account are queued or at work.
    pub async fn unfinished_runs(&self, owner: &str) -> Result<u32> {
        query("SELECT count(*) FROM runs WHERE owner = $1 AND progress IN ('queued', 'running')")
            .with(owner)
            .one(&self.pool, only)
            .await
    }

    pub async fn provenance(&self, run_id: &str) -> Result<Provenance> {
        let provenance: Option<Provenance> = query("SELECT provenance FROM runs WHERE id = $1")
            .with(run_id)
            .first(&self.pool, only)
            .await?;
        let engines = "SELECT DISTINCT engine FROM evolutions
            WHERE run_id = $1 AND engine IS NOT NULL ORDER BY engine";
        Ok(Provenance {
            engines: query(engines).with(run_id).all(&self.pool, only).await?,
            ..provenance.ok_or_else(|| Error::not_found("run", run_id))?
        })
    }

    pub async fn run_progress(&self, id: &str) -> Result<Progress> {
        query("SELECT progress FROM runs WHERE id = $1")
            .with(id)
            .first(&self.pool, only)
            .await?
            .ok_or_else(|| Error::not_found("run", id))
    }
}
