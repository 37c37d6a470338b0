//! One evolution, from where its rows say it stands to its end: ask
//! `core::step` what comes next, do it in a fresh container, record it.

mod agents;
mod boxes;
mod integrity;
mod log;
mod prompts;
mod steps;
#[cfg(test)]
mod tests;
mod waits;

use std::sync::Arc;
use std::time::Duration;

use swe_ci_core::container::Container;
use swe_ci_core::event::What;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::step::{Cursor, Ending, Plan, State, StepOutcome};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::artifacts::Artifacts;
use crate::blocking::blocking;
use crate::clock::now_ms;
use crate::dataset::TaskFolders;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::gateway::{Gateway, Ledgers};
use crate::harness::{Assignment, Harnesses};
use crate::keys::Keys;
use crate::sandbox::Sandbox;
use crate::store::{Claim, IterationRow, StepRow, StepToRecord, Store, Suite, TaskRow};
use agents::Agents;
use boxes::Boxes;
use steps::Attempt;

pub use prompts::recorded as recorded_prompts;

/// What an evolution needs of the world.
#[derive(Debug, Clone)]
pub struct Evolver {
    pub store: Store,
    pub artifacts: Artifacts,
    pub sandbox: Arc<dyn Sandbox>,
    pub folders: TaskFolders,
    pub events: Events,
    pub harnesses: Harnesses,
    pub gateway: Gateway,
    pub keys: Keys,
    /// What the runs at work here have taken of their budgets.
    pub ledgers: Ledgers,
    /// Containers that are being made ahead of their steps.
    pub makings: TaskTracker,
}

/// Why an evolution is put down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// It has ended; all is recorded.
    Ended(Ending),
    /// Put down in between (the process is to stop, the run is paused, or it
    /// has to wait); whoever claims it next goes on.
    Stopped,
}

/// Tokens that interrupt an evolution at any moment.
#[derive(Debug, Clone)]
pub struct Interrupts {
    /// The process stops, or the run is paused: leave everything resumable.
    pub stop: CancellationToken,
    /// The run was cancelled.
    pub cancel: CancellationToken,
}

impl Evolver {
    /// Carries an evolution on to its end.
    pub async fn evolve(
        &self,
        claim: &Claim,
        worker: &str,
        interrupts: &Interrupts,
    ) -> Result<Left> {
        let run = self.store.run(&claim.run_id).await?;
        if run.progress == Progress::Running {
            self.events.tell(
                &claim.run_id,
                What::Run {
                    progress: Progress::Running,
                },
            );
        }
        let steps = self.store.steps(&claim.evolution_id).await?;
        let outcomes = steps.iter().map(|step| step.outcome);
        let mut state = State::resume(run.config.plan, outcomes).map_err(anyhow::Error::new)?;
        let plan = run.config.plan;
        // What it may take now, which may be more than was submitted.
        let config = RunConfig {
            budget: run.steering.budget,
            ..run.config
        };
        let mut evolution = match Evolution::load(self, claim, config, steps).await {
            Ok(evolution) => evolution,
            Err(error) => {
                let next = self.cannot_begin(claim, worker, plan, state, error).await?;
                return Ok(self.put_down(next, state, interrupts).await);
            }
        };
        while let State::Active(at) = state {
            self.store.note_step(&claim.evolution_id, at).await?;
            self.events.tell(
                &claim.run_id,
                What::Step {
                    evolution_id: claim.evolution_id.clone(),
                    iteration: at.iteration,
                    role: at.role,
                    attempt: at.attempt,
                },
            );
            let started_at = now_ms();
            let attempt = tokio::select! {
                biased;
                () = interrupts.stop.cancelled() => {
                    evolution.interrupted(worker, at, started_at).await?;
                    return Ok(Left::Stopped);
                }
                () = interrupts.cancel.cancelled() => Attempt::cancelled(),
                attempt = evolution.attempt(at) => attempt,
            };
            // However it ended: what it took is known, and nobody is let in.
            evolution.hang_up(at).await;
            let next = state
                .after(evolution.config.plan, attempt.outcome)
                .map_err(anyhow::Error::new)?;
            evolution
                .record(worker, at, started_at, attempt, next)
                .await?;
            let failed = [
                Some(StepOutcome::InfraFailed),
                Some(StepOutcome::ProviderFailed),
            ];
            if matches!(next, State::Active(_)) && failed.contains(&evolution.last_outcome()) {
                tokio::select! {
                    () = interrupts.stop.cancelled() => return Ok(Left::Stopped),
                    () = tokio::time::sleep(patience(at.tries())) => {}
                }
            }
            state = next;
        }
        match state {
            State::Ended(ending) => Ok(Left::Ended(ending)),
            State::Active(_) => Ok(Left::Stopped),
        }
    }

    /// What an evolution works on cannot be read: an attempt the platform
    /// failed, recorded like any other, so that it blocks in the end instead
    /// of being claimed for ever.
    async fn cannot_begin(
        &self,
        claim: &Claim,
        worker: &str,
        plan: Plan,
        state: State,
        error: Error,
    ) -> Result<State> {
        let State::Active(at) = state else {
            return Err(error);
        };
        let next = state
            .after(plan, StepOutcome::InfraFailed)
            .map_err(anyhow::Error::new)?;
        let now = now_ms();
        let step = StepRow {
            iteration: at.iteration,
            role: at.role,
            attempt: at.attempt,
            outcome: StepOutcome::InfraFailed,
            detail: format!("{:#}", anyhow::Error::new(error)),
            product: None,
            log: None,
            usage: None,
            traffic: None,
            trajectory: None,
            layer: None,
            container: None,
            started_at: now,
            finished_at: now,
        };
        tracing::warn!(
            evolution = claim.evolution_id,
            "cannot begin: {}",
            step.detail
        );
        let record = StepToRecord {
            step: &step,
            iteration: None,
            next: match next {
                State::Active(at) => Ok(at),
                State::Ended(ending) => Err((ending, Some(step.detail.as_str()))),
            },
        };
        self.store.record_step(claim, worker, &record).await?;
        if let State::Ended(ending) = next {
            self.tell_ended(claim, ending, Some(&step.detail)).await;
        }
        Ok(next)
    }

    /// Waits before an evolution that could not begin is claimed again.
    async fn put_down(&self, next: State, before: State, interrupts: &Interrupts) -> Left {
        match (next, before) {
            (State::Ended(ending), _) => Left::Ended(ending),
            (_, State::Active(at)) => {
                tokio::select! {
                    () = interrupts.stop.cancelled() => {}
                    () = tokio::time::sleep(patience(at.tries())) => {}
                }
                Left::Stopped
            }
            _ => Left::Stopped,
        }
    }

    async fn tell_ended(&self, claim: &Claim, ending: Ending, reason: Option<&str>) {
        let (evolution_id, run_id) = (claim.evolution_id.clone(), &claim.run_id);
        tracing::info!(evolution = evolution_id, task = %claim.task_id, ending = ending.name(), "evolution ended");
        self.events.tell(
            run_id,
            What::Ended {
                evolution_id,
                ending,
                reason: reason.map(str::to_owned),
            },
        );
        if let Ok(progress) = self.store.run_progress(run_id).await
            && progress.is_over()
        {
            self.events.tell(run_id, What::Run { progress });
        }
    }
}

/// How long to wait before the next attempt after the platform failed.
fn patience(tries: u32) -> Duration {
    Duration::from_secs(1 << tries.min(6))
}

/// An evolution at work.
struct Evolution<'a> {
    evolver: &'a Evolver,
    claim: &'a Claim,
    config: RunConfig,
    task: TaskRow,
    /// What it is measured against: the task's suite when it was submitted.
    suite: Suite,
    agents: Agents,
    boxes: Boxes,
    base: Arc<crate::code::CodeTree>,
    oracle: Arc<crate::code::CodeTree>,
    steps: Vec<StepRow>,
    iterations: Vec<IterationRow>,
    /// Where the step at hand worked.
    container: Option<Container>,
    /// The code read or written last, by its artifact.
    cache: Option<(String, Arc<crate::code::CodeTree>)>,
}

impl<'a> Evolution<'a> {
    async fn load(
        evolver: &'a Evolver,
        claim: &'a Claim,
        config: RunConfig,
        steps: Vec<StepRow>,
    ) -> Result<Self> {
        let task = evolver.store.task(&claim.task_id).await?;
        let history = evolver.folders.history(&task.id);
        let assignment = Assignment {
            history: history.clone(),
            base_sha: task.base_sha.clone(),
            target_sha: task.target_sha.clone(),
        };
        let agents = Agents::load(evolver, claim, &config, &assignment).await?;
        let (base, oracle) = blocking(move || {
            let oracle = history.code(&assignment.target_sha)?;
            let base = history
                .code(&assignment.base_sha)?
                .with_folder_of(crate::suite::TESTS, &oracle);
            Ok((base, oracle))
        })
        .await?;
        let row = evolver.store.evolution(&claim.evolution_id).await?;
        let suite = evolver.store.suite(&row.suite).await?;
        let iterations = evolver.store.iterations(&claim.evolution_id).await?;
        let boxes = Boxes::new(
            evolver.sandbox.clone(),
            evolver.gateway.clone(),
            task.image.clone(),
            config.limits,
            claim.evolution_id.clone(),
            evolver.makings.clone(),
        );
        Ok(Self {
            evolver,
            claim,
            config,
            task,
            suite,
            agents,
            boxes,
            base: Arc::new(base),
            oracle: Arc::new(oracle),
            steps,
            iterations,
            container: None,
            cache: None,
        })
    }

    fn last_outcome(&self) -> Option<StepOutcome> {
        self.steps.last().map(|step| step.outcome)
    }

    /// Writes down what a step took that is broken off, if it took anything.
    async fn interrupted(&mut self, worker: &str, at: Cursor, started_at: i64) -> Result<()> {
        self.agents.cut_off();
        self.hang_up(at).await;
        let traffic = self.agents.talk.traffic.unwrap_or_default();
        if traffic.requests == 0 {
            return Ok(());
        }
        let attempt = Attempt::interrupted();
        self.record(worker, at, started_at, attempt, State::Active(at))
            .await
    }

    /// Closes what the step at hand left open.
    async fn hang_up(&mut self, at: Cursor) {
        let key = self.key(at, steps::TRAJECTORY);
        self.agents.hang_up(&key).await;
    }

    /// Writes down a completed attempt and tells those who watch.
    async fn record(
        &mut self,
        worker: &str,
        at: Cursor,
        started_at: i64,
        attempt: Attempt,
        next: State,
    ) -> Result<()> {
        let talk = std::mem::take(&mut self.agents.talk);
        let step = StepRow {
            iteration: at.iteration,
            role: at.role,
            attempt: at.attempt,
            outcome: attempt.outcome,
            detail: attempt.detail,
            product: attempt.product,
            log: attempt.log,
            usage: talk.usage,
            traffic: talk.traffic,
            trajectory: talk.trajectory,
            layer: talk.layer,
            container: self.container.take(),
            started_at,
            finished_at: now_ms(),
        };
        let reason = Some(step.detail.as_str()).filter(|detail| !detail.is_empty());
        let record = StepToRecord {
            step: &step,
            iteration: attempt.iteration.as_ref(),
            next: match next {
                State::Active(at) => Ok(at),
                State::Ended(ending) => Err((ending, reason)),
            },
        };
        self.evolver
            .store
            .record_step(self.claim, worker, &record)
            .await?;
        self.announce(attempt.iteration.as_ref(), next, reason)
            .await;
        self.steps.push(step);
        self.iterations.extend(attempt.iteration);
        Ok(())
    }

    async fn announce(&self, iteration: Option<&IterationRow>, next: State, reason: Option<&str>) {
        if let Some(iteration) = iteration {
            let evolution_id = self.claim.evolution_id.clone();
            let what = What::Iteration {
                evolution_id,
                iteration: iteration.view(),
            };
            self.evolver.events.tell(&self.claim.run_id, what);
        }
        if let State::Ended(ending) = next {
            self.evolver.tell_ended(self.claim, ending, reason).await;
        }
    }
}
