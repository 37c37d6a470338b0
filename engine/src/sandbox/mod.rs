//! The place where code of others runs: a fresh container for every step.
//! One trait for the outside boundary, with Docker behind it, and an
//! in-memory stand-in for tests of what is around it.

mod docker;
#[cfg(test)]
mod fake;

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use swe_ci_core::run::Limits;

pub use docker::{Docker, Instance, LABEL_INSTANCE, LABEL_PURPOSE, Left};
#[cfg(test)]
pub use fake::{FakeFiles, FakeSandbox};

use crate::clock::OffClock;
use crate::code::CodeTree;

/// Where a layer stands in a container.
pub const LAYER_FOLDER: &str = "/opt/swe-ci/agent";

/// The platform failed, not the code inside: such a step is tried again and
/// never scored.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the container was removed or stopped from outside")]
    Lost,
    #[error("the container engine failed: {0}")]
    Engine(String),
    #[error("the container engine does not have the image {0}")]
    NoImage(String),
    /// Not the platform's fault: what the step left behind is over its limit.
    #[error("{path} weighs more than {max_mb} MiB")]
    TooBig { path: String, max_mb: u64 },
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

/// A container to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxSpec {
    /// Content digest or name of the image.
    pub image: String,
    pub limits: Limits,
    pub purpose: Purpose,
    /// Volume with what is installed beside the image, read only at
    /// [`LAYER_FOLDER`].
    pub layer: Option<String>,
    /// For those in which an agent asks a model.
    pub gateway: Option<GatewayMount>,
}

impl BoxSpec {
    /// Of an image as it is.
    pub fn new(image: &str, limits: Limits, purpose: Purpose) -> Self {
        Self {
            image: image.to_owned(),
            limits,
            purpose,
            layer: None,
            gateway: None,
        }
    }
}

/// The way to the gateway, which cannot be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayMount {
    /// Absolute folder of this machine: the relay, and the gateway's socket
    /// while a step works.
    pub folder: PathBuf,
    /// Where it is found inside.
    pub inside: &'static str,
    /// Starts the relay as process 1, which nothing in the container can end.
    pub relay: [&'static str; 3],
}

/// What a container is for; told in its labels, for whoever looks at the
/// engine, and for cleaning up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A step of an evolution.
    Step { evolution_id: String },
    /// Getting tasks ready, and measuring what was written.
    Preparation(String),
}

impl Purpose {
    fn name(&self) -> &'static str {
        match self {
            Self::Step { .. } => "step",
            Self::Preparation(_) => "preparation",
        }
    }

    fn detail(&self) -> &str {
        match self {
            Self::Step { evolution_id } => evolution_id,
            Self::Preparation(what) => what,
        }
    }
}

/// A command to run in a container.
#[derive(Debug, Clone)]
pub struct Exec {
    pub command: Vec<String>,
    pub env: Vec<String>,
    pub working_dir: String,
    pub time_limit: Duration,
    /// Time that is not charged against the limit.
    pub off: OffClock,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i64),
    /// It took longer than it may; the container is gone.
    TimedOut,
    /// It wrote more than it may; the container is gone.
    DiskSpent,
}

/// What the engine knows of a container, and of what ran in it until now.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// Content digest of its image.
    pub image: String,
    pub image_name: Option<String>,
    /// Of the command that ended last by itself.
    pub exit_code: Option<i64>,
    /// Whether anything in it was killed for want of memory.
    pub out_of_memory: bool,
    /// Seconds its commands took.
    pub seconds: f64,
}

/// Takes a line the command printed.
pub type OnLine<'a> = &'a mut (dyn FnMut(&str) + Send);

#[async_trait]
pub trait Sandbox: Debug + Send + Sync {
    /// A fresh, started container without a network.
    async fn open(&self, spec: &BoxSpec) -> Result<Box<dyn StepBox>, SandboxError>;

    /// Answers when the engine does.
    async fn ping(&self) -> Result<(), SandboxError>;
}

/// One container. Dropping it removes it.
#[async_trait]
pub trait StepBox: Debug + Send + Sync {
    /// Puts files below absolute folders (created when absent). One call for
    /// all of them: each costs the engine the same, however little it carries.
    async fn put(&self, parts: &[(&str, &CodeTree)]) -> Result<(), SandboxError>;

    async fn exec(&self, exec: &Exec, on_line: OnLine<'_>) -> Result<Exit, SandboxError>;

    /// The files below an absolute folder; an error when they weigh more than
    /// `max_bytes`. `None` when there is no such folder.
    async fn get(&self, folder: &str, max_bytes: u64) -> Result<Option<CodeTree>, SandboxError>;

    /// One file by its absolute path; `None` when there is no such file.
    async fn read(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, SandboxError>;

    /// What is known of it; `None` when the engine does not know it any more,
    /// and was not asked in time.
    async fn seen(&self) -> Option<Seen>;
}
