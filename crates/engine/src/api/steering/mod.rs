//! Steering of active runs: pausing, resuming, cancelling, retrying, changing
//! limits. Each of these is idempotent.

use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::run::{BadConfig, Kind, Progress};
use swe_ci_core::step::Ending;
use swe_ci_gateway::Ledger;
use swe_ci_store::Stuck;
use swe_ci_views::account::AccountRole;
use swe_ci_views::event::What;
use swe_ci_views::steering::{Change, Steering, check_at_once};
use swe_ci_views::view::RunSummary;

use crate::{Engine, as_u32};

#[swe_ci_boxed::boxed]
impl Engine {
    /// Pauses a run: nothing new of it begins, and active steps are interrupted
    /// within seconds, to resume later.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the run is over.
    pub async fn pause(&self, run_id: &str) -> Result<()> {
        self.set_paused(run_id, true).await
    }

    /// Resumes a paused run.
    ///
    /// # Errors
    /// As [`Engine::pause`].
    pub async fn resume(&self, run_id: &str) -> Result<()> {
        self.set_paused(run_id, false).await
    }

    async fn set_paused(&self, run_id: &str, paused: bool) -> Result<()> {
        self.steerable_run(run_id).await?;
        let change = |progress: Progress, now: Steering| {
            if progress.is_over() {
                return Err(over(run_id, progress));
            }
            Ok(Steering { paused, ..now })
        };
        self.steer(run_id, change).await
    }

    /// Cancels a run: active evolutions end within seconds and are not scored.
    ///
    /// # Errors
    /// As [`Engine::pause`], but a run may be cancelled twice.
    pub async fn cancel(&self, run_id: &str) -> Result<()> {
        self.steerable_run(run_id).await?;
        if self.store.cancel_run(run_id, self.by()).await? {
            let progress = Progress::Cancelled;
            self.events.publish(run_id, What::Run { progress });
        }
        Ok(())
    }

    /// Raises a run's budget, or changes how many of its evolutions may be
    /// active at once. The submitted configuration does not change; a raised
    /// budget takes effect at once, also for active evolutions.
    ///
    /// # Errors
    /// [`Error::Rejected`] naming the field that is out of range, or the limit
    /// that would fall; [`Error::Conflict`] when the run is over, unless it
    /// ended by its budget.
    pub async fn change(&self, run_id: &str, change: Change) -> Result<()> {
        self.steerable_run(run_id).await?;
        let unpaid = self.store.stuck(run_id).await?.budget_spent > 0;
        let apply = |progress: Progress, mut now: Steering| {
            if progress == Progress::Cancelled || (progress.is_over() && !unpaid) {
                return Err(over(run_id, progress));
            }
            let rejected = |bad: BadConfig| Error::Rejected(vec![bad]);
            if let Some(wanted) = change.budget {
                now.budget = now.budget.raised_to(wanted).map_err(rejected)?;
            }
            if let Some(at_once) = change.at_once {
                check_at_once(at_once).map_err(rejected)?;
                now.at_once = at_once;
            }
            Ok(now)
        };
        self.steer(run_id, apply).await
    }

    async fn steer(
        &self,
        run_id: &str,
        change: impl FnOnce(Progress, Steering) -> Result<Steering> + Send,
    ) -> Result<()> {
        let changed = self.store.steer(run_id, self.by(), change).await?;
        if let Some(steering) = changed {
            self.ledgers.set_budget(run_id, steering.budget);
            self.events.publish(run_id, What::Steered { steering });
        }
        Ok(())
    }

    /// Queues the evolutions of a run again that are blocked, or were stopped
    /// by a budget that has been raised since. They resume where they stopped;
    /// earlier failures of that step by the platform, the provider or the
    /// budget no longer count. Returns their number; 0 when there are none.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the run is cancelled, was made elsewhere, is
    /// finished with nothing blocked, or has no budget left.
    pub async fn retry_blocked(&self, run_id: &str) -> Result<u32> {
        let run = self.steerable_run(run_id).await?;
        if run.config.kind == Kind::Imported {
            return Err(Error::Conflict(
                "these results were made elsewhere and cannot be retried here".into(),
            ));
        }
        match self.store.stuck(run_id).await? {
            Stuck::NONE if run.progress == Progress::Finished => {
                return Err(Error::Conflict(format!(
                    "run {run_id} is finished, and none of its evolutions is blocked; for those whose agents gave up: swe-ci run clear {run_id} --ending agent_gave_up"
                )));
            }
            Stuck::NONE if run.progress.is_over() => return Err(over(run_id, run.progress)),
            Stuck::NONE => return Ok(0),
            _ => {}
        }
        if let Some(spent) = self.budget_reached(&run).await? {
            return Err(Error::Conflict(format!("{spent}; raise it first")));
        }
        let queued = self.store.retry(run_id, self.by()).await?;
        self.queued(run_id, queued).await
    }

    /// Queues the evolutions of a run again that ended so: those that were
    /// blocked, as [`Engine::retry_blocked`] does, or whose agents gave up. The
    /// latter is choosing results: it takes an administrator, and the run has no
    /// rank from then on. They resume at the step where they stopped, and nothing
    /// recorded is lost. Returns their number.
    ///
    /// # Errors
    /// As [`Engine::retry_blocked`]; [`Error::Invalid`] for another ending;
    /// [`Error::Conflict`] when no evolution ended so.
    pub async fn clear(&self, run_id: &str, endings: &[Ending]) -> Result<u32> {
        let run = self.steerable_run(run_id).await?;
        let possible = [Ending::Blocked, Ending::AgentGaveUp];
        if let Some(other) = endings.iter().find(|ending| !possible.contains(ending)) {
            return Err(Error::Invalid(format!(
                "endings: `{}` cannot be cleared; `blocked` and `agent_gave_up` can",
                other.name()
            )));
        }
        if endings.contains(&Ending::AgentGaveUp) {
            self.require(AccountRole::Admin)?;
        }
        if run.config.kind == Kind::Imported {
            return Err(Error::Conflict(
                "these results were made elsewhere and cannot be run again here".into(),
            ));
        }
        if run.progress == Progress::Cancelled {
            return Err(over(run_id, run.progress));
        }
        if let Some(spent) = self.budget_reached(&run).await? {
            return Err(Error::Conflict(format!("{spent}; raise it first")));
        }
        let queued = self.store.clear(run_id, endings, self.by()).await?;
        if queued.is_empty() {
            let names: Vec<&str> = endings.iter().map(|ending| ending.name()).collect();
            return Err(Error::Conflict(format!(
                "no evolution of run {run_id} ended as {}",
                names.join(" or ")
            )));
        }
        self.queued(run_id, queued).await
    }

    /// Tells of evolutions that are in the queue again; returns their number.
    async fn queued(&self, run_id: &str, queued: Vec<String>) -> Result<u32> {
        let count = as_u32(queued.len());
        for evolution_id in queued {
            self.events.publish(run_id, What::Queued { evolution_id });
        }
        if count > 0 {
            let progress = self.store.run_progress(run_id).await?;
            self.events.publish(run_id, What::Run { progress });
        }
        Ok(count)
    }

    /// The limit of its budget that a run has reached, in words.
    async fn budget_reached(&self, run: &RunSummary) -> Result<Option<String>> {
        // Its budget was the original's: no agent works here.
        if run.regraded_from.is_some() {
            return Ok(None);
        }
        let store = &self.store;
        let totals = store.totals_of_run(&run.run_id).await?;
        let began = store.run_began(&run.run_id).await?.unwrap_or_else(now_ms);
        let budget = run.steering.budget;
        Ok(Ledger::new(budget, began, totals.taken, totals.traffic).reached())
    }
}

/// The error for steering a finished run.
pub fn over(run_id: &str, progress: Progress) -> Error {
    Error::Conflict(format!("run {run_id} is {} already", progress.name()))
}

#[cfg(test)]
mod tests;
