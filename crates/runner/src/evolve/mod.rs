//! Runs one evolution from its recorded state to its end: ask `core::step` for
//! the next step, do it in a fresh container, record it.

mod agents;
mod attempts;
mod container_pool;
mod failure;
mod hidden_tests;
mod impossible;
mod interrupts;
mod log;
mod model_usage;
mod paths;
mod programmer_files;
mod prompts;
mod provider_waits;
mod regrade;
mod run_account;
mod start;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::Agents;
use anyhow::Context;
use attempts::Attempt;
use container_pool::{ContainerFactory, ContainerPool};
use hidden_tests::HiddenTests;
use model_usage::ModelUsage;
use swe_ci_base::blocking::blocking;
use swe_ci_base::clock::now_ms;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::Finding;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_core::step::{Cursor, Ending, Role, State, StepOutcome};
use swe_ci_dataset::TaskFolders;
use swe_ci_dataset::contradictions::{Impossible, TaskContradictions};
use swe_ci_gateway::{Gateway, Ledgers};
use swe_ci_sandbox::Sandbox;
use swe_ci_store::artifacts::Artifacts;
use swe_ci_store::{Claim, IterationRow, RunToExecute, StepRow, StepToRecord, Store, TaskRow};
use swe_ci_views::container::Container;
use swe_ci_views::event::What;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

use self::regrade::Original;
use crate::events::Events;
use crate::harness::{Assignment, Harnesses};
use crate::provider_keys::Keys;

pub use interrupts::Interrupts;
pub use programmer_files::{ProgrammerFiles, agent_files, remove_hidden_tests};
pub use prompts::recorded as recorded_prompts;

/// A container engine may be away so long without costing an evolution more than
/// the attempt that it broke.
const ENGINE_PATIENCE: Duration = Duration::from_mins(5);
const ENGINE_POLL: Duration = Duration::from_secs(1);

/// Everything an evolution works with.
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
    /// Budget use of the runs this process works on.
    pub ledgers: Ledgers,
    /// Containers that are being created ahead of their steps.
    pub pending_containers: TaskTracker,
}

/// Why a worker released an evolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvolveOutcome {
    /// It has ended and everything is recorded.
    Ended(Ending),
    /// Released before its end (the process stops, the run is paused, or it has
    /// to wait); the next worker to claim it resumes it.
    Stopped,
}

impl Evolver {
    /// Runs an evolution to its end, or until it is interrupted.
    pub async fn evolve(
        &self,
        claim: &Claim,
        worker: &str,
        interrupts: &Interrupts,
    ) -> Result<EvolveOutcome> {
        let run = self.store.run_to_execute(&claim.run_id).await?;
        if run.progress == Progress::Running {
            let progress = Progress::Running;
            self.events.publish(&claim.run_id, What::Run { progress });
        }
        let steps = self.store.steps_to_resume(&claim.evolution_id).await?;
        let outcomes = steps.iter().map(|step| step.outcome);
        let mut state = State::resume(run.config.plan, outcomes).map_err(anyhow::Error::new)?;
        let mut evolution = match Evolution::load(self, claim, worker, run, steps).await {
            Ok(evolution) => evolution,
            Err(error) => return self.record_failure(claim, worker, error, interrupts).await,
        };
        while let State::Active(at) = state {
            if interrupts.drain.is_cancelled() {
                return Ok(EvolveOutcome::Stopped);
            }
            self.store.note_step(&claim.evolution_id, at).await?;
            let step = What::Step {
                evolution_id: claim.evolution_id.clone(),
                iteration: at.iteration,
                role: at.role,
                attempt: at.attempt,
            };
            self.events.publish(&claim.run_id, step);
            let started_at = now_ms();
            let attempt = tokio::select! {
                biased;
                () = interrupts.stop.cancelled() => {
                    evolution.interrupted(worker, at, started_at).await?;
                    return Ok(EvolveOutcome::Stopped);
                }
                () = interrupts.cancel.cancelled() => Attempt::cancelled(),
                attempt = evolution.attempt(at).instrument(step_span(at)) => attempt,
            };
            // Closed however the attempt ended: its usage is final, and the
            // token is void.
            evolution.close_session(at).await;
            let next = state
                .after(evolution.config.plan, attempt.outcome)
                .map_err(anyhow::Error::new)?;
            evolution
                .record(worker, at, started_at, attempt, next)
                .await?;
            let failed = matches!(
                evolution.steps.last().map(|step| step.outcome),
                Some(StepOutcome::InfraFailed | StepOutcome::ProviderFailed)
            );
            if matches!(next, State::Active(_)) && failed {
                // The next turn of the loop heeds an interruption.
                interrupts.pause(retry_delay(at.external + 1)).await;
                self.await_container_engine(interrupts).await;
            }
            state = next;
        }
        match state {
            State::Ended(ending) => Ok(EvolveOutcome::Ended(ending)),
            State::Active(_) => Ok(EvolveOutcome::Stopped),
        }
    }

    /// Waits while the container engine does not answer, as when it is restarted:
    /// attempts without it would all fail, and block the evolution.
    async fn await_container_engine(&self, interrupts: &Interrupts) {
        let began = Instant::now();
        while let Err(error) = self.sandbox.ping().await {
            if interrupts.are_raised() || began.elapsed() >= ENGINE_PATIENCE {
                return;
            }
            tracing::warn!("waiting for the container engine: {error:#}");
            interrupts.pause(ENGINE_POLL).await;
        }
    }

    /// Records an attempt failed by the platform outside a step: the
    /// evolution's inputs cannot be read, or its code panicked. So it blocks in
    /// the end instead of being claimed for ever.
    pub(crate) async fn record_failure(
        &self,
        claim: &Claim,
        worker: &str,
        error: Error,
        interrupts: &Interrupts,
    ) -> Result<EvolveOutcome> {
        let run = self.store.run_to_execute(&claim.run_id).await?;
        let plan = run.config.plan;
        let steps = self.store.steps_to_resume(&claim.evolution_id).await?;
        let outcomes = steps.iter().map(|step| step.outcome);
        let state = State::resume(plan, outcomes).map_err(anyhow::Error::new)?;
        let State::Active(at) = state else {
            return Err(error);
        };
        let attempt = if run.progress == Progress::Cancelled || interrupts.cancel.is_cancelled() {
            Attempt::cancelled()
        } else {
            let detail = format!("{:#}", anyhow::Error::new(error));
            tracing::warn!("the platform failed: {detail}");
            Attempt::of(StepOutcome::InfraFailed, detail)
        };
        let next = state
            .after(plan, attempt.outcome)
            .map_err(anyhow::Error::new)?;
        let step = step_row(at, now_ms(), &attempt, ModelUsage::default(), None);
        self.record(claim, worker, &step, None, next).await?;
        if let State::Ended(ending) = next {
            return Ok(EvolveOutcome::Ended(ending));
        }
        interrupts.pause(retry_delay(at.external + 1)).await;
        Ok(EvolveOutcome::Stopped)
    }

    /// Records an attempt, and publishes the iteration and the end it led to.
    async fn record(
        &self,
        claim: &Claim,
        worker: &str,
        step: &StepRow,
        iteration: Option<&IterationRow>,
        next: State,
    ) -> Result<()> {
        let reason = Some(step.detail.as_str()).filter(|detail| !detail.is_empty());
        let record = StepToRecord {
            step,
            iteration,
            next: match next {
                State::Active(at) => Ok(at),
                State::Ended(ending) => Err((ending, reason)),
            },
        };
        self.store.record_step(claim, worker, &record).await?;
        if let Some(iteration) = iteration {
            let what = What::Iteration {
                evolution_id: claim.evolution_id.clone(),
                iteration: iteration.view(),
            };
            self.events.publish(&claim.run_id, what);
        }
        if let State::Ended(ending) = next {
            self.publish_end(claim, ending, reason).await;
        }
        Ok(())
    }

    async fn publish_end(&self, claim: &Claim, ending: Ending, reason: Option<&str>) {
        let (evolution_id, run_id) = (claim.evolution_id.clone(), &claim.run_id);
        tracing::info!(ending = ending.name(), "evolution ended");
        let ended = What::Ended {
            evolution_id,
            ending,
            reason: reason.map(str::to_owned),
        };
        self.events.publish(run_id, ended);
        if let Ok(progress) = self.store.run_progress(run_id).await
            && progress.is_over()
        {
            self.events.publish(run_id, What::Run { progress });
        }
    }
}

/// The row of an attempt that ends now.
fn step_row(
    at: Cursor,
    started_at: i64,
    attempt: &Attempt,
    usage: ModelUsage,
    container: Option<Container>,
) -> StepRow {
    StepRow {
        iteration: at.iteration,
        role: at.role,
        attempt: at.attempt,
        outcome: attempt.outcome,
        detail: attempt.detail.clone(),
        product: attempt.product.clone(),
        log: attempt.log.clone(),
        usage: usage.usage,
        traffic: usage.traffic,
        truncation: usage.truncation.map(|(truncation, _)| truncation),
        trajectory: usage.trajectory,
        layer: usage.layer,
        container,
        started_at,
        finished_at: now_ms(),
    }
}

/// At level `error`, so that with any filter a log line names its step.
fn step_span(at: Cursor) -> Span {
    let role = at.role.name();
    let (iteration, attempt) = (at.iteration, at.attempt);
    tracing::error_span!("step", otel.name = role, role, iteration, attempt)
}

/// The pause before the next attempt after the platform or the provider failed:
/// at most 64 s.
fn retry_delay(failures: u32) -> Duration {
    Duration::from_secs(1 << failures.min(6))
}

/// A running evolution.
struct Evolution<'a> {
    evolver: &'a Evolver,
    claim: &'a Claim,
    config: RunConfig,
    /// The task as the run was started on it, with the suite that the evolution
    /// is measured against.
    task: TaskRow,
    agents: Agents<'a>,
    /// Has the code, where a run is graded again: no agent works then.
    original: Option<Original>,
    containers: ContainerPool,
    /// The code it starts from: the base with the oracle's tests, unless it goes
    /// on with other code.
    start: Arc<CodeTree>,
    /// Whether the suite counts that code. Otherwise its tests come first.
    start_measured: bool,
    /// The task's own, which grading compares with.
    base: Arc<CodeTree>,
    oracle: Arc<CodeTree>,
    /// Kept from the programmer, in the mode rdd.
    hidden_tests: Option<HiddenTests>,
    /// Shown to both agents, in the mode impossible.
    impossible: Option<Impossible>,
    /// Those that count (`Grading::known_tests`), once they were needed.
    known_tests: Option<Arc<BTreeSet<String>>>,
    steps: Vec<StepRow>,
    iterations: Vec<IterationRow>,
    /// Noticed in the steps of the current iteration, until its test step
    /// records them.
    findings: Vec<Finding>,
    /// What is known of the container of the current step, once that is asked.
    container: Option<JoinHandle<Option<Container>>>,
    /// The code read or written last, by its artifact.
    cache: Option<(String, Arc<CodeTree>)>,
}

impl<'a> Evolution<'a> {
    async fn load(
        evolver: &'a Evolver,
        claim: &'a Claim,
        worker: &str,
        run: RunToExecute,
        steps: Vec<StepRow>,
    ) -> Result<Self> {
        let row = evolver.store.evolution(&claim.evolution_id).await?;
        let task = evolver.store.task_of_evolution(&row).await?;
        let history = evolver.folders.fetched(&task).await?;
        let assignment = Assignment {
            history: history.clone(),
            base_sha: task.base_sha.clone(),
            target_sha: task.target_sha.clone(),
        };
        let agents = Agents::load(evolver, claim, worker, &run, &assignment).await?;
        let (mode, command) = (run.config.mode, task.test_command.clone());
        let contradictions = TaskContradictions {
            store: evolver.store.clone(),
            artifacts: evolver.artifacts.clone(),
            sandbox: evolver.sandbox.clone(),
            folders: evolver.folders.clone(),
        };
        let impossible = match mode {
            Mode::Impossible => {
                let shown = contradictions.impossible(&task, run.config.limits);
                Some(Box::pin(shown).await?).filter(|shown| !shown.tests.is_empty())
            }
            Mode::Tdd | Mode::Rdd => None,
        };
        let (base, oracle, hidden_tests) = blocking(move || {
            let oracle = history.code(&assignment.target_sha)?;
            let base = history.code(&assignment.base_sha)?;
            let is_test = |path: &str| command.is_test(path);
            let hidden = (mode == Mode::Rdd).then(|| HiddenTests::new([&base, &oracle], is_test));
            let base = base.with_files_of(is_test, &oracle);
            Ok((base, oracle, hidden))
        })
        .await
        .context("cannot read the code that the run was started on")?;
        let base = Arc::new(base);
        let start = match &row.start {
            Some(start) => {
                let code = evolver.artifacts.get_code(&start.code).await;
                Arc::new(code.context("cannot read the code that was handed over")?)
            }
            None => base.clone(),
        };
        let iterations = evolver.store.iterations(&claim.evolution_id).await?;
        let original = match &run.regrades {
            Some(run_id) => Some(Original::load(&evolver.store, run_id, &row).await?),
            None => None,
        };
        let factory = ContainerFactory {
            sandbox: evolver.sandbox.clone(),
            gateway: evolver.gateway.clone(),
            image: task.image.clone(),
            limits: run.config.limits,
            with_bootstrap: task.test_command.plan().is_none(),
            evolution_id: claim.evolution_id.clone(),
            pending_containers: evolver.pending_containers.clone(),
            span: Span::current(),
        };
        let roles: &[Role] = match original {
            Some(_) => &[Role::Test],
            None => &Role::ALL,
        };
        let containers = ContainerPool::new(factory, roles);
        Ok(Self {
            evolver,
            claim,
            config: run.config,
            task,
            agents,
            original,
            containers,
            start,
            start_measured: row.start_measured,
            base,
            oracle: Arc::new(oracle),
            hidden_tests,
            impossible,
            known_tests: None,
            steps,
            iterations,
            findings: Vec::new(),
            container: None,
            cache: None,
        })
    }

    /// Records the usage of an interrupted step, if it had any.
    async fn interrupted(&mut self, worker: &str, at: Cursor, started_at: i64) -> Result<()> {
        self.agents.abort();
        self.close_session(at).await;
        let traffic = self.agents.model_usage.traffic.unwrap_or_default();
        if traffic.requests == 0 {
            return Ok(());
        }
        let attempt = Attempt::interrupted();
        self.record(worker, at, started_at, attempt, State::Active(at))
            .await
    }

    /// Closes the gateway session of a step that was broken off: its recording is
    /// of use to readers alone, and the step ends without it.
    async fn close_session(&mut self, at: Cursor) {
        let key = self.key(at, paths::TRAJECTORY);
        if let Err(error) = self.agents.close_session(&key).await {
            tracing::warn!("{error:#}");
        }
    }

    /// Records a completed attempt and publishes its events.
    async fn record(
        &mut self,
        worker: &str,
        at: Cursor,
        started_at: i64,
        attempt: Attempt,
        next: State,
    ) -> Result<()> {
        let usage = std::mem::take(&mut self.agents.model_usage);
        self.findings.extend(usage.findings(at.role));
        let container = match self.container.take() {
            Some(noted) => noted.await.ok().flatten(),
            None => None,
        };
        let step = step_row(at, started_at, &attempt, usage, container);
        let iteration = attempt.iteration.as_ref();
        let (evolver, claim) = (self.evolver, self.claim);
        evolver
            .record(claim, worker, &step, iteration, next)
            .await?;
        self.steps.push(step);
        if attempt.iteration.is_some() {
            self.findings.clear();
        }
        self.iterations.extend(attempt.iteration);
        Ok(())
    }
}
