//! Running agents: the harness behind each role, its gateway session, and the
//! model usage of an attempt.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use swe_ci_base::clock::now_ms;
use swe_ci_base::code::CodeTree;
use swe_ci_core::agent::{AgentConfig, Budget};
use swe_ci_core::agent_files::AgentFiles;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::requirement::Mode;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::task::TestCommand;
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_gateway::{self, GatewaySession, Ledger, Recording, SessionConfig, StopReason};
use swe_ci_sandbox::{Exec, Exit, WantedFiles};
use swe_ci_store::{Claim, RunToExecute, StepRow};

use super::container_pool::StepContainer;
use super::failure::Failure;
use super::log::Log;
use super::model_usage::{ModelUsage, evolution_ledger};
use super::paths::{APP, HARNESS_FOLDER};
use super::programmer_files::agent_files;
use super::provider_waits::ProviderWaits;
use super::run_account::{AttemptAtWork, RunAccount};
use super::{Evolver, prompts};
use crate::harness::builtin::{self, End};
use crate::harness::{Assignment, Harness, Job, Play, StepValues};

/// The two agents of an evolution; neither of a run graded again, which has only
/// test steps to do.
#[derive(Debug)]
pub(super) struct Agents<'a> {
    evolver: &'a Evolver,
    architect: Option<Player>,
    programmer: Option<Player>,
    ledger: Arc<Ledger>,
    evolution_budget: Budget,
    /// Of this evolution, if it has a budget of its own; new for each attempt.
    evolution_ledger: Option<Arc<Ledger>>,
    permissions: RunPermissions,
    limits: swe_ci_core::run::Limits,
    allow_hosted_tools: bool,
    mode: Mode,
    /// Files that the run gives its agents.
    files: AgentFiles,
    waits: ProviderWaits<'a>,
    /// Its name, which holds the claim.
    worker: String,
    /// Open while an agent that uses a model is running.
    session: Option<GatewaySession>,
    pub model_usage: ModelUsage,
}

#[derive(Debug)]
struct Player {
    config: AgentConfig,
    harness: Harness,
}

impl Player {
    /// The usage of an attempt before its first request.
    fn initial_usage(&self) -> ModelUsage {
        let prices = self.config.endpoint.as_ref().and_then(|e| e.prices);
        let uses_model = self.config.harness.asks_a_model();
        let traffic = Traffic {
            micro_usd: prices.map(|_| 0),
            ..Traffic::default()
        };
        ModelUsage {
            usage: uses_model.then(Usage::default),
            traffic: uses_model.then_some(traffic),
            layer: self.harness.layer().map(|layer| layer.digest.clone()),
            ..ModelUsage::default()
        }
    }
}

/// One piece of work for an agent.
pub(super) struct Work<'a> {
    /// Its row, as it stands until the attempt ends.
    pub attempt: StepRow,
    pub play: Play,
    /// How the task's tests are run, which tells its language.
    pub command: &'a TestCommand,
    pub container: &'a StepContainer,
    /// The files in the container, by folder.
    pub parts: &'a [(&'a str, &'a CodeTree)],
    /// The files that count in the end.
    pub wanted: &'a WantedFiles,
    /// Recorded answers, when the run is configured to replay them.
    pub recording: Option<Arc<Recording>>,
}

impl<'a> Agents<'a> {
    pub async fn load(
        evolver: &'a Evolver,
        claim: &'a Claim,
        worker: &str,
        run: &RunToExecute,
        assignment: &Assignment,
    ) -> swe_ci_base::error::Result<Self> {
        let say = |line: String| tracing::info!("{line}");
        let config = &run.config;
        let player = async |role| -> swe_ci_base::error::Result<Option<Player>> {
            if run.regrades.is_some() {
                return Ok(None);
            }
            let config = config
                .agent(role)
                .ok_or_else(|| anyhow::anyhow!("no agent is configured for the {}", role.name()))?;
            let ready = evolver.harnesses.ready(&config.harness, assignment, &say);
            let harness = Box::pin(ready).await?;
            Ok(Some(Player { config, harness }))
        };
        let began = evolver.store.run_began(&claim.run_id).await?;
        let began = began.unwrap_or_else(now_ms);
        let account = RunAccount {
            store: evolver.store.clone(),
            run_id: claim.run_id.clone(),
        };
        let new = || Ledger::shared(config.budget, began, Box::new(account));
        Ok(Self {
            evolver,
            architect: player(Role::Architect).await?,
            programmer: player(Role::Programmer).await?,
            ledger: evolver.ledgers.of_run(&claim.run_id, new),
            evolution_budget: config.evolution_budget,
            evolution_ledger: None,
            permissions: run.permissions.clone(),
            limits: config.limits,
            allow_hosted_tools: config.allow_hosted_tools,
            mode: config.mode,
            files: config.agent_files.clone(),
            waits: ProviderWaits {
                events: &evolver.events,
                claim,
            },
            worker: worker.to_owned(),
            session: None,
            model_usage: ModelUsage::default(),
        })
    }

    /// Resets the usage for a new attempt after these. Fails when the budget is spent.
    pub async fn begin(&mut self, role: Role, steps: &[StepRow]) -> Result<(), Failure> {
        self.evolution_ledger = evolution_ledger(self.evolution_budget, steps);
        let player = self.player(role);
        let works = player.is_some();
        self.model_usage = player.map(Player::initial_usage).unwrap_or_default();
        if !works {
            return Ok(());
        }
        self.ledger.settle().await;
        if let Some(why) = self.ledger.reached() {
            return Err(Failure::Ended(StepOutcome::BudgetSpent, why));
        }
        match self.evolution_ledger.as_ref().and_then(|own| own.reached()) {
            Some(why) => Err(Failure::Ended(StepOutcome::EvolutionBudgetSpent, why)),
            None => Ok(()),
        }
    }

    pub fn harness(&self, role: Role) -> Option<&Harness> {
        self.player(role).map(|player| &player.harness)
    }

    /// Whether the agent runs in this process, command by command.
    pub fn is_builtin(&self, role: Role) -> bool {
        matches!(self.harness(role), Some(Harness::Builtin))
    }

    /// The volume with the program of this role's harness. The builtin agent has
    /// none and calls its model from this process.
    pub fn layer(&self, role: Role) -> Option<String> {
        let layer = self.harness(role)?.layer()?;
        Some(layer.volume.clone())
    }

    /// The run whose recorded answers this role replays, if configured.
    pub fn replayed_run(&self, role: Role) -> Option<&str> {
        let endpoint = self.player(role)?.config.endpoint.as_ref()?;
        endpoint.recording.as_deref()
    }

    /// Puts the files in place and runs the agent to its end; the agent's
    /// mistakes count as its own.
    pub async fn work(&mut self, work: Work<'_>, log: &mut Log<'_>) -> Result<(), Failure> {
        match &work.play {
            Play::Job(job) => self.run_job(&work, job, log).await,
            Play::Model => self.ask_model(&work, log).await,
        }
    }

    async fn ask_model(&mut self, work: &Work<'_>, log: &mut Log<'_>) -> Result<(), Failure> {
        self.session = Some(self.open(work).await?);
        let this = &*self;
        let Some(session) = &this.session else {
            return Ok(());
        };
        let working = async {
            match this.harness(work.attempt.role) {
                Some(Harness::Program(installed)) => {
                    let values = StepValues {
                        gateway: swe_ci_gateway::ADDRESS,
                        token: session.token(),
                        model: &session.endpoint().model,
                        prompt: &prompts::prompt_for(this.mode, work.attempt.role, work.command),
                        allow_hosted_tools: this.allow_hosted_tools,
                    };
                    let job = installed.program.job(&installed.version, &values)?;
                    this.run_job(work, &job, log).await
                }
                _ => this.run_builtin(session, work, log).await,
            }
        };
        // A stopped session ends the attempt at once.
        let worked = tokio::select! {
            biased;
            reason = session.stopped() => Err(match reason {
                StopReason::Budget(why) => Failure::Ended(StepOutcome::BudgetSpent, why),
                StopReason::EvolutionBudget(why) => {
                    Failure::Ended(StepOutcome::EvolutionBudgetSpent, why)
                }
                StopReason::Provider(why) => Failure::Ended(StepOutcome::ProviderFailed, why),
            }),
            result = working => result,
            never = this.waits.watch(session) => match never {},
        };
        let Err(Failure::Ended(timed_out @ StepOutcome::AgentTimedOut, why)) = worked else {
            return worked;
        };
        Err(match session.unanswered().await {
            Ok(None) => Failure::Ended(timed_out, why),
            Ok(Some(since)) => {
                let seconds = since.as_secs();
                let why = format!("{why}; its last request was unanswered for {seconds} s");
                Failure::Ended(timed_out, why)
            }
            Err(unable) => Failure::Ended(StepOutcome::ProviderFailed, unable),
        })
    }

    async fn open(&self, work: &Work<'_>) -> Result<GatewaySession, Failure> {
        let player = self.player(work.attempt.role);
        let endpoint = player.and_then(|player| player.config.endpoint.clone());
        let endpoint = endpoint.ok_or_else(|| anyhow::anyhow!("the agent has no endpoint"))?;
        let keys = match &work.recording {
            None => {
                let ring = &self.permissions.keyring;
                let keys = self.evolver.keys.of_endpoint(ring, &endpoint).await;
                keys.map_err(anyhow::Error::new)?
            }
            Some(_) => BTreeMap::new(),
        };
        let config = SessionConfig {
            endpoint,
            grant: self.permissions.clone(),
            keys,
            recording: work.recording.clone(),
            ledger: self.ledger.clone(),
            evolution_ledger: self.evolution_ledger.clone(),
            usage_store: Some(Arc::new(self.attempt_at_work(&work.attempt))),
            patience: Duration::from_secs(self.limits.patience_seconds.into()),
            allow_hosted_tools: self.allow_hosted_tools,
            step: format!(
                "{}/{}/{}/{}",
                self.waits.claim.run_id,
                self.waits.claim.evolution_id,
                work.attempt.iteration,
                work.attempt.role.name()
            ),
        };
        let socket_mount = work.container.socket_mount.as_ref();
        Ok(self.evolver.gateway.open(socket_mount, config)?)
    }

    fn attempt_at_work(&self, row: &StepRow) -> AttemptAtWork {
        AttemptAtWork {
            store: self.evolver.store.clone(),
            claim: self.waits.claim.clone(),
            worker: self.worker.clone(),
            row: row.clone(),
        }
    }

    async fn run_builtin(
        &self,
        session: &GatewaySession,
        work: &Work<'_>,
        log: &mut Log<'_>,
    ) -> Result<(), Failure> {
        let sandbox = work.container.sandbox.as_ref();
        let files = agent_files(&self.files);
        let parts = work.parts.iter().copied().chain([(APP, &files)]);
        sandbox.put(&Vec::from_iter(parts)).await?;
        let mut prompt = prompts::prompt_for(self.mode, work.attempt.role, work.command);
        // Agent programs read them by themselves.
        if let Some(text) = self.files.instructions() {
            prompt.push_str(&format!("\n\n# {}\n\n{text}", AgentFiles::INSTRUCTIONS));
        }
        let task = builtin::Task {
            sandbox,
            session,
            prompt: &prompt,
            time_limit: self.agent_time(),
        };
        match builtin::work(&task, &mut |line| log.line(line)).await {
            Ok(()) => Ok(()),
            Err(End::Failed(why)) => Err(Failure::Ended(StepOutcome::AgentFailed, why)),
            Err(End::Sandbox(exit)) => self.result_of(exit),
            Err(End::Platform(error)) => Err(error.into()),
        }
    }

    async fn run_job(&self, work: &Work<'_>, job: &Job, log: &mut Log<'_>) -> Result<(), Failure> {
        let sandbox = work.container.sandbox.as_ref();
        let files = agent_files(&self.files);
        let own = [(HARNESS_FOLDER, &job.files), (APP, &files)];
        let parts: Vec<(&str, &CodeTree)> = work.parts.iter().copied().chain(own).collect();
        let session = self.session.as_ref();
        let exec = Exec {
            command: job.command.clone(),
            env: job.env.clone(),
            reads_input: false,
            unprivileged: false,
            wanted: Some(work.wanted.clone()),
            working_dir: APP.into(),
            time_limit: self.agent_time(),
            off: session.map(GatewaySession::off_clock).unwrap_or_default(),
        };
        let mut on_line = |line: &str| log.line(line);
        self.result_of(sandbox.exec_with(&parts, &exec, &mut on_line).await?)
    }

    fn result_of(&self, exit: Exit) -> Result<(), Failure> {
        let why = match exit {
            Exit::Code(0) => return Ok(()),
            Exit::Code(code) => format!("the agent ended with exit code {code}"),
            Exit::TimedOut => format!("the agent took longer than {} s", self.limits.agent_seconds),
            Exit::DiskSpent => format!("the agent wrote more than {} MiB", self.limits.disk_mb),
        };
        let outcome = match exit {
            Exit::TimedOut => StepOutcome::AgentTimedOut,
            Exit::Code(_) | Exit::DiskSpent => StepOutcome::AgentFailed,
        };
        Err(Failure::Ended(outcome, why))
    }

    fn agent_time(&self) -> Duration {
        Duration::from_secs(self.limits.agent_seconds.into())
    }

    /// Cuts off the current requests to the model.
    pub fn abort(&self) {
        if let Some(session) = &self.session {
            session.cut();
        }
    }

    /// Closes the gateway session and stores its exchanges as the artifact
    /// `key`.
    ///
    /// # Errors
    /// When they cannot be stored, after what they took is noted.
    pub async fn close_session(&mut self, key: &str) -> anyhow::Result<()> {
        let Some(session) = self.session.take() else {
            return Ok(());
        };
        let account = session.close().await;
        self.model_usage.usage = Some(account.usage);
        self.model_usage.traffic = Some(account.traffic);
        self.model_usage.trouble = account.trouble;
        self.model_usage.truncation = account.truncation;
        self.model_usage.refused_tools = account.refused_tools;
        if let Some(lines) = account.recording {
            let stored = self.evolver.artifacts.put(key, lines).await;
            let stored = stored.context("the recording of the step cannot be stored")?;
            self.model_usage.trajectory = Some(stored);
        }
        Ok(())
    }

    fn player(&self, role: Role) -> Option<&Player> {
        match role {
            Role::Architect => self.architect.as_ref(),
            Role::Programmer => self.programmer.as_ref(),
            Role::Test => None,
        }
    }
}
