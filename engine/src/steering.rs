//! The façade's deeds on a run that is under way: pausing, resuming,
//! cancelling, trying again, changing what it may take. Each may be said twice
//! and does the same as said once.

use swe_ci_core::event::What;
use swe_ci_core::run::{BadConfig, Kind, Progress};
use swe_ci_core::steering::{Change, Steering, check_at_once};
use swe_ci_core::view::RunSummary;

use crate::Engine;
use crate::clock::now_ms;
use crate::error::{Error, Result};
use crate::gateway::Ledger;
use crate::store::Stuck;

impl Engine {
    /// Pauses a run: nothing of it is begun any more, and what is at work is
    /// broken off within seconds, to go on where it stood.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the run is over; [`Error::NotFound`],
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn pause(&self, run_id: &str) -> Result<()> {
        self.set_paused(run_id, true).await
    }

    /// Lets a paused run go on.
    ///
    /// # Errors
    /// As [`Engine::pause`].
    pub async fn resume(&self, run_id: &str) -> Result<()> {
        self.set_paused(run_id, false).await
    }

    async fn set_paused(&self, run_id: &str, paused: bool) -> Result<()> {
        self.steered_run(run_id).await?;
        let change = |progress: Progress, now: Steering| {
            if progress.is_over() {
                return Err(over(run_id, progress));
            }
            Ok(Steering { paused, ..now })
        };
        self.steer(run_id, change).await
    }

    /// Cancels a run: what is at work ends within seconds and is not scored.
    ///
    /// # Errors
    /// As [`Engine::pause`], but a run may be cancelled twice.
    pub async fn cancel(&self, run_id: &str) -> Result<()> {
        self.steered_run(run_id).await?;
        if self.inner.store.cancel_run(run_id, self.by()).await? {
            let progress = Progress::Cancelled;
            self.inner.events.tell(run_id, What::Run { progress });
        }
        Ok(())
    }

    /// Raises a run's budget, and says how many of its evolutions may be at
    /// work at the same time. The configuration stays as it was submitted; a
    /// raised budget holds at once, and what is at work goes on.
    ///
    /// # Errors
    /// [`Error::Rejected`] naming the field that is out of range, or the limit
    /// that would fall; [`Error::Conflict`] when the run is over, unless its
    /// budget is what ended it; [`Error::NotFound`],
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn change(&self, run_id: &str, change: Change) -> Result<()> {
        self.steered_run(run_id).await?;
        let unpaid = self.inner.store.stuck(run_id).await?.budget_spent > 0;
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
        let changed = self.inner.store.steer(run_id, self.by(), change).await?;
        if let Some(steering) = changed {
            self.inner.ledgers.set_budget(run_id, steering.budget);
            self.inner.events.tell(run_id, What::Steered { steering });
        }
        Ok(())
    }

    /// Puts the evolutions of a run back in the queue that are blocked or were
    /// stopped by a budget that has been raised since. They go on where they
    /// stood, and what the platform, the provider and the budget did to that
    /// step is forgotten. How many; 0 when nothing waits for it.
    ///
    /// # Errors
    /// [`Error::Conflict`] when the run is cancelled, was made elsewhere, is
    /// finished with nothing blocked, or has no budget left to go on with;
    /// [`Error::NotFound`], [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn retry_blocked(&self, run_id: &str) -> Result<u32> {
        let run = self.steered_run(run_id).await?;
        if run.config.kind == Kind::Imported {
            return Err(Error::Conflict(
                "these results were made elsewhere; nothing of them can be tried again here".into(),
            ));
        }
        let store = &self.inner.store;
        match store.stuck(run_id).await? {
            Stuck::NONE if run.progress.is_over() => return Err(over(run_id, run.progress)),
            Stuck::NONE => return Ok(0),
            _ => {}
        }
        if let Some(spent) = self.budget_reached(&run).await? {
            return Err(Error::Conflict(format!("{spent}; raise it first")));
        }
        let queued = store.retry(run_id, self.by()).await?;
        let count = u32::try_from(queued.len()).unwrap_or(u32::MAX);
        for evolution_id in queued {
            self.inner
                .events
                .tell(run_id, What::Queued { evolution_id });
        }
        if count > 0 {
            let progress = store.run_progress(run_id).await?;
            self.inner.events.tell(run_id, What::Run { progress });
        }
        Ok(count)
    }

    /// Which limit of its budget a run has reached, in words.
    async fn budget_reached(&self, run: &RunSummary) -> Result<Option<String>> {
        let store = &self.inner.store;
        let totals = store.totals_of_run(&run.run_id).await?;
        let began = store.run_began(&run.run_id).await?.unwrap_or_else(now_ms);
        let budget = run.steering.budget;
        Ok(Ledger::new(budget, began, totals.taken, totals.traffic).reached())
    }
}

/// What is over cannot be steered.
fn over(run_id: &str, progress: Progress) -> Error {
    Error::Conflict(format!("run {run_id} is {} already", progress.name()))
}

#[cfg(test)]
mod tests;
