//! A sandbox in memory: its "containers" are maps of files, and its commands
//! are a function. Tests of the evolve loop use it to run without an engine.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use async_trait::async_trait;
use swe_ci_base::code::{CodeTree, Entry};

use tokio::io::AsyncWrite;

use super::{
    CommandEnd, ContainerSpec, Exec, Exit, OnOutput, Output, RunningCommand, Sandbox,
    SandboxContainer, SandboxError, Seen, WantedFiles,
};

/// Where a fake command finds its standard input among the files.
pub const STDIN: &str = "/dev/stdin";
/// Where a fake command leaves what it prints.
pub const STDOUT: &str = "/dev/stdout";

/// Files by absolute path.
pub type FakeFiles = BTreeMap<String, Vec<u8>>;

type Command = dyn Fn(&Exec, &mut FakeFiles) -> Result<Exit, SandboxError> + Send + Sync;

#[derive(Clone)]
pub struct FakeSandbox {
    command: Arc<Command>,
    opened: Arc<AtomicUsize>,
    /// The pings that fail yet.
    away_for: Arc<AtomicUsize>,
}

impl FakeSandbox {
    pub fn new(
        command: impl Fn(&Exec, &mut FakeFiles) -> Result<Exit, SandboxError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            command: Arc::new(command),
            opened: Arc::default(),
            away_for: Arc::default(),
        }
    }

    /// Lets it not answer so many pings, and open nothing meanwhile.
    pub fn go_away_for(&self, pings: usize) {
        self.away_for.store(pings, Ordering::Relaxed);
    }

    pub fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for FakeSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FakeSandbox")
    }
}

#[async_trait]
impl Sandbox for FakeSandbox {
    async fn open(&self, spec: &ContainerSpec) -> Result<Box<dyn SandboxContainer>, SandboxError> {
        if self.away_for.load(Ordering::Relaxed) > 0 {
            return Err(SandboxError::Engine("it is away".into()));
        }
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(FakeContainer {
            image: spec.image.clone(),
            command: self.command.clone(),
            state: Arc::default(),
        }))
    }

    async fn ping(&self) -> Result<(), SandboxError> {
        let fewer = |left: usize| left.checked_sub(1);
        let order = Ordering::Relaxed;
        match self.away_for.fetch_update(order, order, fewer) {
            Ok(_) => Err(SandboxError::Engine("it is away".into())),
            Err(_) => Ok(()),
        }
    }
}

struct FakeContainer {
    image: String,
    command: Arc<Command>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    files: FakeFiles,
    last_exit: Option<Exit>,
}

/// Keeps what is written to a command among the container's files.
struct FakeInput(Arc<Mutex<State>>);

impl AsyncWrite for FakeInput {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let input = state.files.entry(STDIN.into()).or_default();
        input.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl FakeContainer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for FakeContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FakeContainer")
    }
}

#[async_trait]
impl SandboxContainer for FakeContainer {
    async fn put(&self, parts: &[(&str, &CodeTree)]) -> Result<(), SandboxError> {
        let mut state = self.state();
        for (folder, files) in parts {
            for (path, entry) in files.iter() {
                if let Entry::File { bytes, .. } = entry {
                    state
                        .files
                        .insert(format!("{folder}/{path}"), bytes.to_vec());
                }
            }
        }
        Ok(())
    }

    async fn start(&self, _exec: &Exec) -> Result<RunningCommand, SandboxError> {
        let input = FakeInput(self.state.clone());
        Ok(RunningCommand {
            input: Box::pin(input),
            output: Box::pin(futures::stream::empty()),
            end: CommandEnd::Marked(Arc::default()),
        })
    }

    async fn wait(
        &self,
        _command: RunningCommand,
        exec: &Exec,
        on_output: OnOutput<'_>,
    ) -> Result<Exit, SandboxError> {
        let mut state = self.state();
        let exit = (self.command)(exec, &mut state.files)?;
        state.last_exit = Some(exit);
        if let Some(printed) = state.files.remove(STDOUT) {
            let _ = on_output(Output::Stdout(printed.into()));
        }
        Ok(exit)
    }

    async fn get(&self, wanted: &WantedFiles) -> Result<Option<CodeTree>, SandboxError> {
        let folder = match wanted.is_folder {
            true => wanted.path.as_str(),
            false => wanted.path.rsplit_once('/').unwrap_or_default().0,
        };
        let mut tree = CodeTree::default();
        for (path, bytes) in &self.state().files {
            let below = path.strip_prefix(folder);
            let below = below.and_then(|path| path.strip_prefix('/'));
            if let Some(below) = below.filter(|_| wanted.is_folder || *path == wanted.path) {
                tree.insert_file(below, bytes.clone());
            }
        }
        let found = tree.paths().next().is_some();
        Ok(found.then_some(tree))
    }

    async fn seen(&self) -> Option<Seen> {
        let exit_code = match self.state().last_exit {
            Some(Exit::Code(code)) => Some(code),
            _ => None,
        };
        Some(Seen {
            image: self.image.clone(),
            image_name: None,
            exit_code,
            out_of_memory: exit_code == Some(137),
            seconds: 0.0,
            engine: None,
        })
    }
}
