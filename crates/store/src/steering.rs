//! Steering of runs. Every action locks its run before it reads it, so that it
//! conflicts with no other action and no worker's claim.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::Progress;
use swe_ci_core::step::{Ending, StepOutcome};
use swe_ci_views::account::Actor;
use swe_ci_views::steering::Steering;

use super::audit::note;
use super::changes::{commit_change, results_changed};
use super::queue_signals::signal_workers;
use super::rows::columns::from_row;
use super::rows::runs::read_run_state;
use super::run_end::on_run_end;
use super::sql::{Tx, only, query};
use super::{Store, to_json};

/// The endings that a retry takes back.
const RETRIED: &[Ending] = &[Ending::Blocked, Ending::BudgetSpent];

/// How many evolutions of a run a retry would resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stuck {
    pub blocked: u32,
    pub budget_spent: u32,
}

impl Stuck {
    pub const NONE: Self = Self {
        blocked: 0,
        budget_spent: 0,
    };
}

impl Store {
    /// A run's progress and steering.
    pub async fn steering(&self, run_id: &str) -> Result<(Progress, Steering)> {
        query("SELECT progress, config, paused_at, at_once, budget FROM runs WHERE id = $1")
            .with(run_id)
            .first(&self.pool, read_run_state)
            .await?
            .ok_or_else(|| Error::not_found("run", run_id))
    }

    /// Replaces a run's steering by the result of `change`. Writes nothing when
    /// `change` fails or returns the same. Returns the new steering, if it is
    /// new.
    pub async fn steer(
        &self,
        run_id: &str,
        by: &Actor,
        change: impl FnOnce(Progress, Steering) -> Result<Steering> + Send,
    ) -> Result<Option<Steering>> {
        let mut tx = self.pool.begin().await?;
        let (progress, before) = lock_run(&mut tx, run_id).await?;
        let now = change(progress, before)?;
        if now == before {
            return Ok(None);
        }
        query(
            "UPDATE runs SET paused_at = CASE WHEN $2 = 1 THEN coalesce(paused_at, $3) END,
                    at_once = $4, budget = $5
             WHERE id = $1",
        )
        .with((run_id, now.paused, now_ms(), now.at_once))
        .with(to_json(&now.budget)?)
        .run(&mut *tx)
        .await?;
        for (action, detail) in audited_actions(before, now)? {
            note(&mut tx, by, action, run_id, &detail).await?;
        }
        signal_workers(&mut *tx, self.dialect).await?;
        tx.commit().await?;
        Ok(Some(now))
    }

    /// Cancels a run: its queued evolutions end at once, its running ones are
    /// stopped by their workers. `false` when it was cancelled before.
    pub async fn cancel_run(&self, run_id: &str, by: &Actor) -> Result<bool> {
        let now = now_ms();
        let mut tx = self.pool.begin().await?;
        match lock_run(&mut tx, run_id).await?.0 {
            Progress::Queued | Progress::Running => {}
            Progress::Cancelled => return Ok(false),
            Progress::Finished => {
                return Err(Error::Conflict(format!("run {run_id} is finished already")));
            }
        }
        query("UPDATE runs SET progress = 'cancelled', finished_at = $2 WHERE id = $1")
            .with((run_id, now))
            .run(&mut *tx)
            .await?;
        query(
            "UPDATE evolutions SET progress = 'cancelled', ending = 'cancelled', finished_at = $2
             WHERE run_id = $1 AND progress = 'queued'",
        )
        .with((run_id, now))
        .run(&mut *tx)
        .await?;
        note(&mut tx, by, "run.cancel", run_id, "").await?;
        on_run_end(&mut tx, run_id).await?;
        results_changed(&mut tx, run_id).await?;
        commit_change(tx).await?;
        Ok(true)
    }

    /// Queues the evolutions again that are blocked or stopped by the budget;
    /// returns their ids. Their steps stay, and get a row that records the
    /// retry. A finished run is running again.
    pub async fn retry(&self, run_id: &str, by: &Actor) -> Result<Vec<String>> {
        self.put_back(run_id, RETRIED, "run.retry", by).await
    }

    /// As [`Self::retry`], for evolutions with one of these endings. A run whose
    /// agents get another chance after they gave up is marked for ever.
    pub async fn clear(&self, run_id: &str, endings: &[Ending], by: &Actor) -> Result<Vec<String>> {
        self.put_back(run_id, endings, "run.clear", by).await
    }

    async fn put_back(
        &self,
        run_id: &str,
        endings: &[Ending],
        action: &str,
        by: &Actor,
    ) -> Result<Vec<String>> {
        let mut tx = self.pool.begin().await?;
        let (progress, _) = lock_run(&mut tx, run_id).await?;
        if progress == Progress::Cancelled {
            return Err(Error::Conflict(format!(
                "run {run_id} is cancelled already"
            )));
        }
        let mut ids: Vec<String> = Vec::new();
        for ending in endings {
            insert_retried_steps(&mut tx, run_id, *ending, by).await?;
            let put_back: Vec<String> = query(
                "UPDATE evolutions SET progress = 'queued', ending = NULL, reason = NULL, finished_at = NULL,
                        worker = NULL, lease_until = 0
                 WHERE run_id = $1 AND ending = $2
                 RETURNING id",
            )
            .with((run_id, ending.name()))
            .all(&mut *tx, only)
            .await?;
            if *ending == Ending::AgentGaveUp && !put_back.is_empty() {
                query("UPDATE runs SET cleared = cleared + $2, cleared_at = $3 WHERE id = $1")
                    .with((
                        run_id,
                        i64::try_from(put_back.len()).unwrap_or(i64::MAX),
                        now_ms(),
                    ))
                    .run(&mut *tx)
                    .await?;
            }
            ids.extend(put_back);
        }
        if ids.is_empty() {
            return Ok(ids);
        }
        // Their code grows on, and the rest of it is to be audited as well.
        query(
            "UPDATE evolution_audits SET found = ''
             WHERE evolution_id IN (SELECT id FROM evolutions WHERE run_id = $1 AND progress = 'queued')",
        )
        .with(run_id)
        .run(&mut *tx)
        .await?;
        query(
            "UPDATE runs SET progress = 'running', finished_at = NULL
             WHERE id = $1 AND progress = 'finished'",
        )
        .with(run_id)
        .run(&mut *tx)
        .await?;
        let endings: Vec<&str> = endings.iter().map(|ending| ending.name()).collect();
        let detail = format!("{} evolutions: {}", ids.len(), endings.join(", "));
        note(&mut tx, by, action, run_id, &detail).await?;
        signal_workers(&mut *tx, self.dialect).await?;
        results_changed(&mut tx, run_id).await?;
        commit_change(tx).await?;
        Ok(ids)
    }

    pub async fn stuck(&self, run_id: &str) -> Result<Stuck> {
        query(
            "SELECT count(CASE WHEN ending = 'blocked' THEN 1 END) AS blocked,
                    count(CASE WHEN ending = 'budget_spent' THEN 1 END) AS budget_spent
             FROM evolutions WHERE run_id = $1",
        )
        .with(run_id)
        .one(&self.pool, |row| {
            Ok(from_row!(row => Stuck { blocked, budget_spent }))
        })
        .await
    }
}

/// Locks a run until the end of the transaction, as its first statement.
/// Returns its progress and steering.
pub(super) async fn lock_run(tx: &mut Tx, run_id: &str) -> Result<(Progress, Steering)> {
    query(
        "UPDATE runs SET progress = progress WHERE id = $1
         RETURNING progress, config, paused_at, at_once, budget",
    )
    .with(run_id)
    .first(tx, read_run_state)
    .await?
    .ok_or_else(|| Error::not_found("run", run_id))
}

/// Adds a row to the steps of each retried evolution, at its current step.
async fn insert_retried_steps(tx: &mut Tx, run_id: &str, ending: Ending, by: &Actor) -> Result<()> {
    let outcome = match ending {
        Ending::AgentGaveUp => StepOutcome::Cleared,
        _ => StepOutcome::Retried,
    };
    query(
        "INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at)
         SELECT e.id, (SELECT coalesce(max(s.seq) + 1, 0) FROM steps s WHERE s.evolution_id = e.id),
                e.at_iteration, e.at_role, e.at_attempt, $2, $3, $4, $4
         FROM evolutions e
         WHERE e.run_id = $1 AND e.ending = $5",
    )
    .with((run_id, to_json(&outcome)?))
    .with((format!("{} had it tried again", by.name()), now_ms()))
    .with(ending.name())
    .run(tx)
    .await
}

/// The audit log entries of a change: action and detail of each.
fn audited_actions(before: Steering, now: Steering) -> Result<Vec<(&'static str, String)>> {
    let mut actions = Vec::new();
    match (before.paused, now.paused) {
        (false, true) => actions.push(("run.pause", String::new())),
        (true, false) => actions.push(("run.resume", String::new())),
        _ => {}
    }
    if before.at_once != now.at_once {
        let at_once = now.at_once.map_or("no limit".into(), |n| n.to_string());
        actions.push(("run.at_once", at_once));
    }
    if before.budget != now.budget {
        actions.push(("run.budget", to_json(&now.budget)?));
    }
    Ok(actions)
}
