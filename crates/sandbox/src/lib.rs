//! The sandbox runs untrusted code: every step gets a fresh container. Traits
//! draw the boundary; Docker, Podman and bubblewrap implement them, and so does an in-memory fake for
//! tests of the surrounding code.

pub mod host;
pub mod image_cache;
pub mod images;

mod bubblewrap;
mod docker;
mod fake;
mod lines;
mod probe;
mod pulls;
mod watch;

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bollard::container::LogOutput;
use bollard::errors::Error as EngineError;
use bytes::Bytes;
use futures::Stream;
use swe_ci_core::run::Limits;
use swe_ci_views::container::Engine;
use tokio::io::{AsyncWrite, AsyncWriteExt};

pub use docker::{
    Docker, EngineChoice, EngineFacts, Instance, LABEL_INSTANCE, LABEL_PURPOSE, SweepScope,
    lost_engine, status_of,
};
#[doc(hidden)]
pub use fake::{FakeFiles, FakeSandbox, STDIN, STDOUT};
pub use lines::Lines;
pub use probe::probe;
pub use pulls::{PullCounter, Pulls};

use swe_ci_base::clock::ExcludedTime;
use swe_ci_base::code::{CodeTree, Excess};

/// Folder of the code in every container.
pub const CODE_FOLDER: &str = "/app/code";

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
    /// Whether its standard input stays open for [`RunningCommand::write`];
    /// otherwise it is empty.
    pub reads_input: bool,
    /// Whether it runs as a user who owns nothing in the container. Needs a shell to
    /// have run there before.
    pub unprivileged: bool,
    /// What is asked for behind [`SandboxContainer::exec_with`]: then it comes
    /// with the output, which costs the engine less.
    pub wanted: Option<WantedFiles>,
    pub working_dir: String,
    pub time_limit: Duration,
    /// Time that does not count against the limit.
    pub off: ExcludedTime,
}

/// The files below a folder, or one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedFiles {
    /// Absolute.
    pub path: String,
    pub is_folder: bool,
    /// Of all contents and of the names in a folder.
    pub max_bytes: u64,
}

impl WantedFiles {
    /// The files below a folder.
    pub fn folder(path: &str, max_bytes: u64) -> Self {
        Self {
            path: path.to_owned(),
            is_folder: true,
            max_bytes,
        }
    }

    /// One file.
    pub fn file(path: &str, max_bytes: u64) -> Self {
        Self {
            is_folder: false,
            ..Self::folder(path, max_bytes)
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i64),
    /// It exceeded the time limit; the container is gone.
    TimedOut,
    /// It wrote more than the limit; the container is gone.
    DiskSpent,
}

/// A command that has started: it waits for input, and its two outputs are
/// apart.
pub struct RunningCommand {
    pub(crate) input: Pin<Box<dyn AsyncWrite + Send>>,
    pub(crate) output: RawOutput,
    pub(crate) end: CommandEnd,
}

/// How a command's exit code is learned.
#[derive(Debug)]
pub(crate) enum CommandEnd {
    /// From the engine, by the id of the exec.
    Exec(String),
    /// It is set when the output ends.
    Marked(Arc<OnceLock<i64>>),
}

/// The output of a command as it comes from the engine.
pub(crate) type RawOutput = Pin<Box<dyn Stream<Item = Result<LogOutput, EngineError>> + Send>>;

impl RunningCommand {
    /// Writes to its standard input.
    ///
    /// # Errors
    /// [`SandboxError::Lost`] when nobody reads there any more.
    pub async fn write(&mut self, input: &[u8]) -> Result<(), SandboxError> {
        let written = async {
            self.input.write_all(input).await?;
            self.input.flush().await
        };
        written.await.map_err(|_| SandboxError::Lost)
    }
}

impl RunningCommand {
    /// Its standard input, for who writes there while [`SandboxContainer::wait`]
    /// hands out the output; it is open until that is dropped.
    pub fn take_input(&mut self) -> Pin<Box<dyn AsyncWrite + Send>> {
        std::mem::replace(&mut self.input, Box::pin(tokio::io::sink()))
    }

    /// Ends its standard input.
    pub(crate) async fn end_input(&mut self) {
        // A command that has ended needs none.
        let _ = self.input.shutdown().await;
    }
}

impl Debug for RunningCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RunningCommand({:?})", self.end)
    }
}

/// A piece of a command's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    Stdout(Bytes),
    Stderr(Bytes),
}

/// Receives pieces of output; breaks off when no more is wanted.
pub type OnOutput<'a> = &'a mut (dyn FnMut(Output) -> ControlFlow<()> + Send);

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
    pub engine: Option<Engine>,
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

    /// Starts a command.
    async fn start(&self, exec: &Exec) -> Result<RunningCommand, SandboxError>;

    /// Hands out a command's output until it ends, a limit of `exec` is reached
    /// or `on_output` breaks off; the limits count from this call on. A process
    /// that outlives the command may hold its output open.
    async fn wait(
        &self,
        command: RunningCommand,
        exec: &Exec,
        on_output: OnOutput<'_>,
    ) -> Result<Exit, SandboxError>;

    /// Runs a command without input to its end.
    async fn exec(&self, exec: &Exec, on_line: OnLine<'_>) -> Result<Exit, SandboxError> {
        let command = self.start(exec).await?;
        let mut lines = Lines::new(on_line);
        let mut on_output = |output| {
            let (Output::Stdout(bytes) | Output::Stderr(bytes)) = output;
            lines.push(&bytes);
            ControlFlow::Continue(())
        };
        let exit = self.wait(command, exec, &mut on_output).await;
        lines.finish();
        exit
    }

    /// Puts files in place and runs a command on them, in less time than
    /// [`Self::put`] and [`Self::exec`] take.
    async fn exec_with(
        &self,
        parts: &[(&str, &CodeTree)],
        exec: &Exec,
        on_line: OnLine<'_>,
    ) -> Result<Exit, SandboxError> {
        self.put(parts).await?;
        self.exec(exec, on_line).await
    }

    /// Files of the container; a single one by its name. [`SandboxError::TooBig`]
    /// when they exceed their limit, `None` when there is no such path. Memory
    /// holds the code alone, never its archive.
    async fn get(&self, wanted: &WantedFiles) -> Result<Option<CodeTree>, SandboxError>;

    /// One file by its absolute path; `None` when there is no such file.
    async fn read(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        let tree = self.get(&WantedFiles::file(path, max_bytes)).await?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Ok(tree.and_then(|tree| tree.file(name).map(<[u8]>::to_vec)))
    }

    /// The engine's view of it; `None` when the engine no longer has the
    /// container and never reported on it.
    async fn seen(&self) -> Option<Seen>;
}
