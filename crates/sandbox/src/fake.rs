//! A sandbox in memory: its "containers" are maps of files, and its commands
//! are a function. Tests of the evolve loop use it to run without an engine.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use swe_ci_base::code::{CodeTree, Entry};

use super::{ContainerSpec, Exec, Exit, OnLine, Sandbox, SandboxContainer, SandboxError, Seen};

/// Files by absolute path.
pub type FakeFiles = BTreeMap<String, Vec<u8>>;

type Command = dyn Fn(&Exec, &mut FakeFiles) -> Result<Exit, SandboxError> + Send + Sync;

#[derive(Clone)]
pub struct FakeSandbox {
    command: Arc<Command>,
    opened: Arc<AtomicUsize>,
}

impl FakeSandbox {
    pub fn new(
        command: impl Fn(&Exec, &mut FakeFiles) -> Result<Exit, SandboxError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            command: Arc::new(command),
            opened: Arc::default(),
        }
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
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(FakeContainer {
            image: spec.image.clone(),
            command: self.command.clone(),
            state: Mutex::default(),
        }))
    }

    async fn ping(&self) -> Result<(), SandboxError> {
        Ok(())
    }
}

struct FakeContainer {
    image: String,
    command: Arc<Command>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: FakeFiles,
    last_exit: Option<Exit>,
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
                        .insert(format!("{folder}/{path}"), bytes.clone());
                }
            }
        }
        Ok(())
    }

    async fn exec(&self, exec: &Exec, _on_line: OnLine<'_>) -> Result<Exit, SandboxError> {
        let mut state = self.state();
        let exit = (self.command)(exec, &mut state.files)?;
        state.last_exit = Some(exit);
        Ok(exit)
    }

    async fn get(&self, folder: &str, _max_bytes: u64) -> Result<Option<CodeTree>, SandboxError> {
        let prefix = format!("{folder}/");
        let mut tree = CodeTree::default();
        for (path, bytes) in &self.state().files {
            if let Some(path) = path.strip_prefix(&prefix) {
                tree.insert_file(path, bytes.clone());
            }
        }
        let found = tree.paths().next().is_some();
        Ok(found.then_some(tree))
    }

    async fn read(&self, path: &str, _max_bytes: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        Ok(self.state().files.get(path).cloned())
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
        })
    }
}
