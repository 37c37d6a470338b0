//! The sandbox runs untrusted code: every step gets a fresh container. Traits
//! draw the boundary; Docker implements them, and so does an in-memory fake for
//! tests of the surrounding code.

pub mod host;
pub mod image_cache;
pub mod images;
pub mod test_suite;

mod docker;
mod fake;

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use swe_ci_core::run::Limits;

pub use docker::{Docker, Instance, LABEL_INSTANCE, LABEL_PURPOSE, SweepScope, status_of};
#[doc(hidden)]
pub use fake::{FakeFiles, FakeSandbox};

use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::{CodeTree, Excess};

/// Mount point of a layer in a container.
pub const LAYER_FOLDER: &str = "/opt/swe-ci/agent";

/// Why a container did not do what was asked of it.
///
/// Most are failures of the platform: the step is retried and never scored.
/// [`Self::blames_the_code`] names the others.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the container was removed or stopped from outside")]
    Lost,
    #[error("the container engine failed: {0}")]
    Engine(String),
    #[error("the container engine does not have the image {0}")]
    NoImage(String),
    /// The code in the container ended it, or left it unusable.
    #[error("the code ended its container: {0}")]
    Died(String),
    /// The files that the code left exceed a limit.
    #[error("{path} has {excess}")]
    TooBig { path: String, excess: Excess },
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl SandboxError {
    /// Whether the code in the container is at fault, so that its outcome
    /// counts: an agent has failed, a test run has collapsed.
    pub fn blames_the_code(&self) -> bool {
        match self {
            Self::Died(_) | Self::TooBig { .. } => true,
            Self::Lost | Self::Engine(_) | Self::NoImage(_) | Self::Other(_) => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerSpec {
    /// Content digest or name of the image.
    pub image: String,
    pub limits: Limits,
    pub purpose: Purpose,
    /// Volume with the software installed beside the image, mounted read-only
    /// at [`LAYER_FOLDER`].
    pub layer: Option<String>,
    /// Set for containers in which an agent calls a model.
    pub gateway: Option<GatewayMount>,
}

impl ContainerSpec {
    /// A container from an image, without layer or gateway.
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

/// The read-only mount that leads to the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayMount {
    /// Absolute folder on this machine: it holds the relay and, while a step
    /// works, the gateway's socket.
    pub folder: PathBuf,
    pub inside: &'static str,
    /// Starts the relay as process 1, which nothing in the container can end.
    pub relay: [&'static str; 3],
}

/// The purpose of a container. Its labels carry it, for operators who look at
/// the engine and for cleaning up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A step of the evolution with this id.
    Step(String),
    /// Preparing tasks, or measuring code.
    Preparation(String),
}

impl Purpose {
    fn name(&self) -> &'static str {
        match self {
            Self::Step(_) => "step",
            Self::Preparation(_) => "preparation",
        }
    }

    fn detail(&self) -> &str {
        let (Self::Step(detail) | Self::Preparation(detail)) = self;
        detail
    }
}

#[derive(Debug, Clone)]
pub struct Exec {
    pub command: Vec<String>,
    pub env: Vec<String>,
    pub working_dir: String,
    pub time_limit: Duration,
    /// Time that does not count against the limit.
    pub off: ExcludedTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i64),
    /// It exceeded the time limit; the container is gone.
    TimedOut,
    /// It wrote more than the limit; the container is gone.
    DiskSpent,
}

/// The engine's view of a container and its commands so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub image: String,
    pub image_name: Option<String>,
    /// Of the latest command that ended by itself.
    pub exit_code: Option<i64>,
    /// Whether a process in it was killed because memory ran out.
    pub out_of_memory: bool,
    /// Total run time of its commands, in seconds.
    pub seconds: f64,
}

/// Receives each line that the command prints.
pub type OnLine<'a> = &'a mut (dyn FnMut(&str) + Send);

#[async_trait]
pub trait Sandbox: Debug + Send + Sync {
    /// Creates and starts a fresh container without a network.
    async fn open(&self, spec: &ContainerSpec) -> Result<Box<dyn SandboxContainer>, SandboxError>;

    /// Succeeds when the engine answers.
    async fn ping(&self) -> Result<(), SandboxError>;
}

/// One container. Dropping it removes it.
#[async_trait]
pub trait SandboxContainer: Debug + Send + Sync {
    /// Writes files below absolute folders (created when absent). Pass all of
    /// them in one call: each call costs the engine the same, however little it
    /// carries.
    async fn put(&self, parts: &[(&str, &CodeTree)]) -> Result<(), SandboxError>;

    async fn exec(&self, exec: &Exec, on_line: OnLine<'_>) -> Result<Exit, SandboxError>;

    /// The files below an absolute folder; [`SandboxError::TooBig`] when their
    /// contents and names exceed `max_bytes`. `None` when there is no such
    /// folder. Memory holds the code alone, never its archive.
    async fn get(&self, folder: &str, max_bytes: u64) -> Result<Option<CodeTree>, SandboxError>;

    /// One file by its absolute path; `None` when there is no such file.
    async fn read(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, SandboxError>;

    /// The engine's view of it; `None` when the engine no longer has the
    /// container and never reported on it.
    async fn seen(&self) -> Option<Seen>;
}
