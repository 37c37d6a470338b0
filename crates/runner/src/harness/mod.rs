//! The programs that play architect and programmer.
//!
//! Two are the platform's own: `replay` (the real commits; uses no model) and
//! `builtin` (a small agent that needs nothing in the image). All others are
//! programs with a description; see [`program`].

pub(crate) mod builtin;
mod layers;
mod program;
mod replay;
mod shared_build;

use std::path::PathBuf;
use std::sync::Arc;

pub use layers::{Layer, Layers};
pub use program::{Catalogue, Program, Recipe, StepValues};
use replay::Replay;
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_core::agent::{AgentConfig, Protocol};
use swe_ci_core::run::{BadConfig, HarnessConfig};
use swe_ci_core::step::Role;
use swe_ci_dataset::History;
use swe_ci_sandbox::images::BuildNetwork;

#[derive(Debug, Clone)]
pub struct Assignment {
    pub history: History,
    pub base_sha: String,
    pub target_sha: String,
}

/// The files and the command of one step of a harness. Its working folder is
/// `/app`; the code is in `/app/code`.
#[derive(Debug)]
pub struct Job {
    /// Put at `/app/harness`.
    pub files: CodeTree,
    pub command: Vec<String>,
    pub env: Vec<String>,
}

/// How an agent works in an iteration.
#[derive(Debug)]
pub enum Play {
    /// It runs a command that needs no model.
    Job(Job),
    Model,
}

#[derive(Debug, Clone)]
pub enum Harness {
    Replay(Arc<Replay>),
    Builtin,
    Program(Arc<Installed>),
}

#[derive(Debug)]
pub struct Installed {
    pub program: Program,
    pub version: String,
    pub layer: Layer,
}

impl Harness {
    /// How a role works in an iteration; `None` when no work is left. Blocks.
    pub fn play(&self, role: Role, iteration: u32) -> anyhow::Result<Option<Play>> {
        match (self, role) {
            (Self::Replay(replay), Role::Architect) => {
                Ok(replay.architect(iteration)?.map(Play::Job))
            }
            (Self::Replay(replay), _) => Ok(Some(Play::Job(replay.programmer(iteration)?))),
            (Self::Builtin | Self::Program(_), _) => Ok(Some(Play::Model)),
        }
    }

    /// Whether there may be work in an iteration. A model tells only when it is
    /// asked.
    pub fn may_reach(&self, iteration: u32) -> bool {
        match self {
            Self::Replay(replay) => replay.reaches(iteration),
            Self::Builtin | Self::Program(_) => true,
        }
    }

    pub fn layer(&self) -> Option<&Layer> {
        match self {
            Self::Program(installed) => Some(&installed.layer),
            Self::Replay(_) | Self::Builtin => None,
        }
    }
}

/// All harnesses of an installation.
#[derive(Debug, Clone)]
pub struct Harnesses {
    /// Folder of the operator's own descriptions.
    folder: PathBuf,
    layers: Layers,
    network: BuildNetwork,
}

impl Harnesses {
    pub fn new(folder: PathBuf, layers: Layers, network: BuildNetwork) -> Self {
        Self {
            folder,
            layers,
            network,
        }
    }

    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// All programs, ours and the operator's. Read each time, so that a new
    /// description needs no restart. Blocks.
    pub fn catalogue(&self) -> Result<Catalogue, String> {
        Catalogue::open(&self.folder)
    }

    /// Checks that an agent can run as configured; returns the version that
    /// would run. Blocks.
    ///
    /// # Errors
    /// [`BadConfig`] naming the agent's invalid field.
    pub fn check(&self, agent: &AgentConfig) -> Result<String, BadConfig> {
        let (protocol, version) = match &agent.harness {
            HarnessConfig::Replay { .. } => return Ok(replay::VERSION.to_owned()),
            HarnessConfig::Elsewhere { program } => {
                let problem = format!(
                    "{program} cannot be run here; import its results with `swe-ci import-results`"
                );
                return Err(BadConfig::new("harness.name", problem));
            }
            HarnessConfig::Builtin => (Protocol::Chat, builtin::VERSION.to_owned()),
            HarnessConfig::Program { program, version } => {
                let known = self.catalogue();
                let known = known.map_err(|why| BadConfig::new("harness.name", why))?;
                let found = program_of(&known, program)?;
                let version = version.clone().unwrap_or_else(|| found.version.clone());
                (found.protocol, version)
            }
        };
        match &agent.endpoint {
            Some(endpoint) if endpoint.protocol != protocol => Err(BadConfig::new(
                "endpoint.protocol",
                format!(
                    "the harness `{}` speaks `{protocol}`, the endpoint `{}`",
                    agent.harness.name(),
                    endpoint.protocol
                ),
            )),
            _ => Ok(version),
        }
    }

    /// Prepares a harness: reads the history, or builds its layer, which takes
    /// up to minutes the first time.
    pub async fn ready(
        &self,
        config: &HarnessConfig,
        assignment: &Assignment,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<Harness> {
        match config {
            HarnessConfig::Replay { max_chunks } => {
                let (assignment, chunks) = (assignment.clone(), *max_chunks);
                let replay = blocking(move || Replay::new(&assignment, chunks)).await?;
                Ok(Harness::Replay(Arc::new(replay)))
            }
            HarnessConfig::Elsewhere { program } => {
                anyhow::bail!("{program} was run elsewhere and cannot be run here")
            }
            HarnessConfig::Builtin => Ok(Harness::Builtin),
            HarnessConfig::Program { program, version } => {
                let installed = self.installed(program, version.as_deref(), say).await?;
                Ok(Harness::Program(Arc::new(installed)))
            }
        }
    }

    /// The layer of a recipe, built if it does not exist.
    pub async fn layer(
        &self,
        recipe: &Recipe,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<Layer> {
        self.layers.ready(recipe, &self.network, say).await
    }

    /// A program with its layer, built if it does not exist.
    pub async fn installed(
        &self,
        name: &str,
        version: Option<&str>,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> anyhow::Result<Installed> {
        let (all, wanted) = (self.clone(), name.to_owned());
        let program = blocking(move || {
            let known = all.catalogue().map_err(anyhow::Error::msg)?;
            Ok(program_of(&known, &wanted)?.clone())
        });
        let program = program.await?;
        let version = version.unwrap_or(&program.version).to_owned();
        let layer = self.layer(&program.recipe(&version), say).await?;
        Ok(Installed {
            program,
            version,
            layer,
        })
    }
}

fn program_of<'a>(known: &'a Catalogue, name: &str) -> Result<&'a Program, BadConfig> {
    known.get(name).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|program| program.name.as_str()).collect();
        let problem = format!(
            "there is no harness `{name}`; there are replay, builtin, {}",
            names.join(", ")
        );
        BadConfig::new("harness.name", problem)
    })
}
