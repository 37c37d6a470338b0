//! Letting agents work: what plays each role, its way to the model while it
//! does, and what it took.

use std::sync::Arc;
use std::time::Duration;

use swe_ci_core::agent::AgentConfig;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_core::usage::{Traffic, Usage};

use super::Evolver;
use super::boxes::{Needs, Room};
use super::log::Log;
use super::prompts;
use super::steps::{APP, Failure, HARNESS_FOLDER};
use super::waits::Waits;
use crate::artifacts::Artifacts;
use crate::code::CodeTree;
use crate::gateway::{self, Doom, Door, Gateway, Ledger, Pass, Recording};
use crate::grant::Grant;
use crate::harness::builtin::{self, End};
use crate::harness::{Assignment, Harness, Job, Play, Words};
use crate::keys::Keys;
use crate::sandbox::{Exec, Exit, StepBox};
use crate::store::Claim;

/// The two agents of an evolution.
#[derive(Debug)]
pub(super) struct Agents {
    architect: Player,
    programmer: Player,
    ledger: Arc<Ledger>,
    gateway: Gateway,
    keys: Keys,
    grant: Grant,
    artifacts: Artifacts,
    limits: swe_ci_core::run::Limits,
    waits: Waits,
    /// Open while an agent that asks a model is at work.
    door: Option<Door>,
    /// What the attempt at hand took.
    pub talk: Talk,
}

/// What plays a role.
#[derive(Debug)]
struct Player {
    config: AgentConfig,
    harness: Harness,
}

impl Player {
    /// The account of an attempt in which nothing was said yet.
    fn silence(&self) -> Talk {
        let prices = self.config.endpoint.as_ref().and_then(|e| e.prices);
        let asks = self.config.harness.asks_a_model();
        let traffic = Traffic {
            micro_usd: prices.map(|_| 0),
            ..Traffic::default()
        };
        Talk {
            usage: asks.then(Usage::default),
            traffic: asks.then_some(traffic),
            layer: self.harness.layer().map(|layer| layer.digest.clone()),
            ..Talk::default()
        }
    }
}

/// What an attempt took of the model.
#[derive(Debug, Default)]
pub(super) struct Talk {
    pub usage: Option<Usage>,
    pub traffic: Option<Traffic>,
    /// Artifact: what was said.
    pub trajectory: Option<String>,
    pub layer: Option<String>,
    /// Why the provider is to blame, if it is.
    pub trouble: Option<String>,
}

/// One piece of work for an agent.
pub(super) struct Work<'a> {
    pub role: Role,
    pub play: Play,
    pub room: &'a Room,
    /// What it finds, by folder.
    pub parts: &'a [(&'a str, &'a CodeTree)],
    /// Earlier answers, when the run is configured to hear those again.
    pub recording: Option<Arc<Recording>>,
}

impl Agents {
    pub async fn load(
        evolver: &Evolver,
        claim: &Claim,
        config: &RunConfig,
        assignment: &Assignment,
    ) -> crate::error::Result<Self> {
        let say = |line: String| tracing::info!("{line}");
        let player = async |role| -> crate::error::Result<Player> {
            let config = config
                .agent(role)
                .ok_or_else(|| anyhow::anyhow!("nobody plays the {}", role.name()))?;
            let ready = evolver.harnesses.ready(&config.harness, assignment, &say);
            let harness = Box::pin(ready).await?;
            Ok(Player { config, harness })
        };
        let totals = evolver.store.totals_of_run(&claim.run_id).await?;
        let began = evolver.store.run_began(&claim.run_id).await?;
        let began = began.unwrap_or_else(crate::clock::now_ms);
        let new = || Ledger::new(config.budget, began, totals.taken, totals.traffic);
        Ok(Self {
            architect: player(Role::Architect).await?,
            programmer: player(Role::Programmer).await?,
            ledger: evolver.ledgers.of_run(&claim.run_id, new),
            gateway: evolver.gateway.clone(),
            keys: evolver.keys.clone(),
            grant: evolver.store.grant(&claim.run_id).await?,
            artifacts: evolver.artifacts.clone(),
            limits: config.limits,
            waits: Waits::new(&evolver.events, claim),
            door: None,
            talk: Talk::default(),
        })
    }

    /// Begins the account of an attempt. Fails when the budget is spent.
    pub fn begin(&mut self, role: Role) -> Result<(), Failure> {
        self.talk = self.player(role).map(Player::silence).unwrap_or_default();
        if role == Role::Test {
            return Ok(());
        }
        match self.ledger.reached() {
            Some(why) => Err(Failure::Ended(StepOutcome::BudgetSpent, why)),
            None => Ok(()),
        }
    }

    pub fn harness(&self, role: Role) -> Option<Harness> {
        self.player(role).map(|player| player.harness.clone())
    }

    /// Whether a role is played from this process, command by command.
    pub fn is_builtin(&self, role: Role) -> bool {
        matches!(
            self.player(role).map(|player| &player.harness),
            Some(Harness::Builtin)
        )
    }

    /// What a container for this role needs.
    pub fn needs(&self, role: Role) -> Needs {
        match self.player(role).map(|player| &player.harness) {
            // The builtin agent speaks to its model from this process.
            None | Some(Harness::Replay(_) | Harness::Builtin) => Needs::Nothing,
            Some(Harness::Program(installed)) => Needs::Gateway {
                layer: installed.layer.volume.clone(),
            },
        }
    }

    /// The run whose answers a role hears again, if it is configured so.
    pub fn replayed_run(&self, role: Role) -> Option<&str> {
        let endpoint = self.player(role)?.config.endpoint.as_ref()?;
        endpoint.recording.as_deref()
    }

    /// Gives an agent what it works on and lets it work to its end; whatever
    /// it does wrong is its own.
    pub async fn work(&mut self, work: Work<'_>, log: &mut Log) -> Result<(), Failure> {
        match work.play {
            Play::Job(job) => {
                self.run_job(work.room.sandbox.as_ref(), work.parts, &job, log)
                    .await
            }
            Play::Model => self.ask_model(work, log).await,
        }
    }

    async fn ask_model(&mut self, work: Work<'_>, log: &mut Log) -> Result<(), Failure> {
        self.door = Some(self.open(&work).await?);
        let this = &*self;
        let Some(door) = &this.door else {
            return Ok(());
        };
        let sandbox = work.room.sandbox.as_ref();
        let working = async {
            match this.harness(work.role) {
                Some(Harness::Program(installed)) => {
                    let words = Words {
                        gateway: gateway::ADDRESS,
                        token: door.token(),
                        model: &door.endpoint().model,
                        prompt: prompts::of(work.role),
                    };
                    let job = installed.program.job(&installed.version, &words)?;
                    this.run_job(sandbox, work.parts, &job, log).await
                }
                _ => this.run_builtin(door, sandbox, &work, log).await,
            }
        };
        // The moment it cannot go on, it is over.
        tokio::select! {
            biased;
            doom = door.doomed() => Err(match doom {
                Doom::Budget(why) => Failure::Ended(StepOutcome::BudgetSpent, why),
                Doom::Provider(why) => Failure::Ended(StepOutcome::ProviderFailed, why),
            }),
            worked = working => worked,
            never = this.waits.watch(door) => match never {},
        }
    }

    async fn open(&self, work: &Work<'_>) -> Result<Door, Failure> {
        let player = self.player(work.role);
        let endpoint = player.and_then(|player| player.config.endpoint.clone());
        let endpoint = endpoint.ok_or_else(|| anyhow::anyhow!("the agent has no endpoint"))?;
        let key = match (&endpoint.key, &work.recording) {
            (Some(name), None) => {
                let key = self.keys.open(&self.grant.keyring, name).await;
                Some(key.map_err(anyhow::Error::new)?)
            }
            _ => None,
        };
        let pass = Pass {
            endpoint,
            grant: self.grant.clone(),
            key,
            recording: work.recording.clone(),
            ledger: self.ledger.clone(),
            patience: Duration::from_secs(self.limits.patience_seconds.into()),
        };
        Ok(self.gateway.open(work.room.hatch.as_ref(), pass)?)
    }

    async fn run_builtin(
        &self,
        door: &Door,
        sandbox: &dyn StepBox,
        work: &Work<'_>,
        log: &mut Log,
    ) -> Result<(), Failure> {
        sandbox.put(work.parts).await?;
        let task = builtin::Task {
            sandbox,
            gateway: door.router(),
            token: door.token(),
            model: &door.endpoint().model,
            prompt: prompts::of(work.role),
            time_limit: self.agent_time(),
            off: door.off_clock(),
        };
        match builtin::work(&task, &mut |line| log.line(line)).await? {
            End::Done => Ok(()),
            End::Failed(why) => Err(Failure::Ended(StepOutcome::AgentFailed, why)),
            End::Sandbox(exit) => self.judged(exit),
        }
    }

    async fn run_job(
        &self,
        sandbox: &dyn StepBox,
        parts: &[(&str, &CodeTree)],
        job: &Job,
        log: &mut Log,
    ) -> Result<(), Failure> {
        let own = (HARNESS_FOLDER, &job.files);
        let parts: Vec<(&str, &CodeTree)> = parts.iter().copied().chain([own]).collect();
        sandbox.put(&parts).await?;
        let exec = Exec {
            command: job.command.clone(),
            env: job.env.clone(),
            working_dir: APP.into(),
            time_limit: self.agent_time(),
            off: self.door.as_ref().map(Door::off_clock).unwrap_or_default(),
        };
        self.judged(sandbox.exec(&exec, &mut |line| log.line(line)).await?)
    }

    fn judged(&self, exit: Exit) -> Result<(), Failure> {
        let (outcome, why) = match exit {
            Exit::Code(0) => return Ok(()),
            Exit::Code(code) => (
                StepOutcome::AgentFailed,
                format!("the agent ended with exit code {code}"),
            ),
            Exit::TimedOut => (
                StepOutcome::AgentTimedOut,
                format!("the agent took longer than {} s", self.limits.agent_seconds),
            ),
            Exit::DiskSpent => (
                StepOutcome::AgentFailed,
                format!("the agent wrote more than {} MiB", self.limits.disk_mb),
            ),
        };
        Err(Failure::Ended(outcome, why))
    }

    fn agent_time(&self) -> Duration {
        Duration::from_secs(self.limits.agent_seconds.into())
    }

    /// Ends what is being said to the model.
    pub fn cut_off(&self) {
        if let Some(door) = &self.door {
            door.cut();
        }
    }

    /// Closes the way to the model and writes down what went over it, under
    /// `key` as an artifact.
    pub async fn hang_up(&mut self, key: &str) {
        let Some(door) = self.door.take() else { return };
        let account = door.close().await;
        self.talk.usage = Some(account.usage);
        self.talk.traffic = Some(account.traffic);
        self.talk.trouble = account.trouble;
        if let Some(lines) = account.recording {
            match self.artifacts.put(key, lines).await {
                Ok(kept) => self.talk.trajectory = Some(kept),
                Err(error) => tracing::warn!("what was said could not be kept: {error:#}"),
            }
        }
    }

    fn player(&self, role: Role) -> Option<&Player> {
        match role {
            Role::Architect => Some(&self.architect),
            Role::Programmer => Some(&self.programmer),
            Role::Test => None,
        }
    }
}
