//! One running container: files go in, commands run, files come out.

use std::fmt;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bollard::container::LogOutput;
use bytes::BytesMut;
use futures::{TryStreamExt, stream};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use swe_ci_base::code::{CodeTree, UnpackError};
use swe_ci_core::run::Limits;
use swe_ci_views::container::{Engine, Hold};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::sync::watch;

use super::command::Recipe;
use super::{Bubblewrap, files, spawn};
use crate::docker::archive::{PIECES, PieceReader, PieceWriter};
use crate::docker::disk_use::{CHECK_INTERVAL, exceeds};
use crate::watch::{Holds, hold};
use crate::{
    CommandEnd, ContainerSpec, Exec, Exit, OnOutput, Output, RawOutput, RunningCommand,
    SandboxContainer, SandboxError, Seen, WantedFiles,
};

/// What idles as the first process, unless the relay does its work there. It waits for
/// processes whose parents have ended, which would count as long as nobody does.
const IDLE: [&str; 3] = ["sh", "-c", "while :; do sleep 86400 & wait; done"];
/// How long bubblewrap may take to make a container.
const START_LIMIT: Duration = Duration::from_secs(30);
/// How long output may pause behind the end of a command: processes that it left may
/// hold it open.
const LAST_OUTPUT: Duration = Duration::from_millis(50);

pub(crate) struct BubblewrapContainer {
    recipe: Arc<Recipe>,
    engine: Bubblewrap,
    image: String,
    limits: Limits,
    /// bubblewrap's own process, and the first of the container.
    outer: Pid,
    inner: Pid,
    /// Of the first process, once it has ended.
    ended: watch::Receiver<Option<ExitStatus>>,
    record: Mutex<Record>,
}

#[derive(Default)]
struct Record {
    exit_code: Option<i64>,
    run_time: Duration,
    out_of_memory: bool,
    has_run_code: bool,
    killed: bool,
}

impl fmt::Debug for BubblewrapContainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BubblewrapContainer({})", self.recipe.folder.display())
    }
}

impl Drop for BubblewrapContainer {
    fn drop(&mut self) {
        self.kill();
        let (recipe, mut ended) = (self.recipe.clone(), self.ended.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = ended.wait_for(Option::is_some).await;
                let removed = move || files::remove(&recipe.folder);
                if let Ok(Err(error)) = tokio::task::spawn_blocking(removed).await {
                    tracing::warn!("a container's files were not removed: {error:#}");
                }
            });
        }
    }
}

impl BubblewrapContainer {
    pub(super) async fn start(
        engine: &Bubblewrap,
        recipe: Recipe,
        spec: &ContainerSpec,
    ) -> Result<Self, SandboxError> {
        let command = spec.gateway.as_ref().map_or(IDLE, |gateway| gateway.relay);
        let mut launch = recipe.launch(&command);
        launch
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = spawn(launch).await?;
        let inner = first_process(&recipe, &mut child).await?;
        let outer = pid(child.id()).ok_or(SandboxError::Lost)?;
        let (sender, ended) = watch::channel(None);
        tokio::spawn(async move {
            let status = child.wait().await.unwrap_or(ExitStatus::from_raw(9));
            sender.send_replace(Some(status));
        });
        Ok(Self {
            recipe: Arc::new(recipe),
            engine: engine.clone(),
            image: spec.image.clone(),
            limits: spec.limits,
            outer,
            inner,
            ended,
            record: Mutex::default(),
        })
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills its first process, and the kernel the others.
    fn kill(&self) {
        self.record().killed = true;
        if self.ended.borrow().is_none() {
            let _ = kill_process(self.inner, Signal::KILL);
            let _ = kill_process(self.outer, Signal::KILL);
        }
    }

    /// Why it takes no more requests, if it has ended.
    fn end(&self) -> Option<SandboxError> {
        let status = (*self.ended.borrow())?;
        let record = self.record();
        Some(match record.killed || !record.has_run_code {
            true => SandboxError::Lost,
            false => SandboxError::Died(format!("its first process ended ({status})")),
        })
    }

    /// Its files, as its processes see them.
    fn root(&self) -> Result<PathBuf, SandboxError> {
        match self.end() {
            Some(error) => Err(error),
            None => {
                let root = self.recipe.root();
                let outer = self.outer.as_raw_nonzero();
                Ok(PathBuf::from(format!(
                    "/proc/{outer}/root{}",
                    root.display()
                )))
            }
        }
    }

    /// What work on its files ended with, on another thread.
    async fn on_files<T: Send + 'static>(
        &self,
        work: impl FnOnce(OwnedFd) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<T, SandboxError> {
        let root = self.root()?;
        let work = move || work(files::open_root(&root)?);
        let done = tokio::task::spawn_blocking(work)
            .await
            .map_err(anyhow::Error::new)?;
        done.map_err(|error| match (self.end(), self.record().has_run_code) {
            (Some(end), _) => end,
            (None, true) if !is_full(&error) => SandboxError::Died(format!("{error:#}")),
            (None, _) => error.into(),
        })
    }

    async fn disk_spent(&self) {
        let limit = u64::from(self.limits.disk_mb) << 20;
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let upper = self.recipe.upper();
            let spent = move || exceeds(0, None, vec![upper], limit);
            if tokio::task::spawn_blocking(spent).await.unwrap_or(false) {
                return;
            }
        }
    }

    fn holds(&self) -> Holds {
        Holds {
            memory: Hold::Watched,
            processes: Hold::Held,
            first: Some(self.inner),
        }
    }
}

#[async_trait]
impl SandboxContainer for BubblewrapContainer {
    async fn put(&self, parts: &[(&str, &CodeTree)]) -> Result<(), SandboxError> {
        let parts: Vec<(String, CodeTree)> = parts
            .iter()
            .map(|(folder, files)| ((*folder).to_owned(), (*files).clone()))
            .collect();
        self.on_files(move |root| {
            parts
                .iter()
                .try_for_each(|(folder, code)| files::write(&root, folder, code))
        })
        .await
    }

    async fn start(&self, exec: &Exec) -> Result<RunningCommand, SandboxError> {
        if let Some(error) = self.end() {
            return Err(error);
        }
        if exec.unprivileged {
            return Err(anyhow::anyhow!(
                "bubblewrap has one user in a container, and these tests need a second; use Podman or Docker"
            )
            .into());
        }
        let [outer, inner] = [self.outer, self.inner].map(|pid| pid.as_raw_nonzero().get());
        let mut enter = self.recipe.enter(outer, inner, exec);
        let input = if exec.reads_input {
            Stdio::piped()
        } else {
            Stdio::null()
        };
        enter
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = spawn(enter).await?;
        self.record().has_run_code = true;
        let exit_code = Arc::new(OnceLock::new());
        Ok(RunningCommand {
            input: match child.stdin.take() {
                Some(input) => Box::pin(input),
                None => Box::pin(tokio::io::sink()),
            },
            output: output_of(child, exit_code.clone()),
            end: CommandEnd::Marked(exit_code),
        })
    }

    async fn wait(
        &self,
        command: RunningCommand,
        exec: &Exec,
        on_output: OnOutput<'_>,
    ) -> Result<Exit, SandboxError> {
        let began = Instant::now();
        let RunningCommand {
            input,
            mut output,
            end,
        } = command;
        // Nothing more is written: a command that reads on sees the end.
        drop(input);
        let read = async {
            let mut wanted = true;
            while let Ok(Some(piece)) = output.try_next().await {
                let piece = match piece {
                    LogOutput::StdOut { message } => Output::Stdout(message),
                    other => Output::Stderr(other.into_bytes()),
                };
                wanted = wanted && on_output(piece).is_continue();
            }
        };
        let over = tokio::select! {
            () = read => None,
            () = exec.off.spent(exec.time_limit) => Some(Exit::TimedOut),
            () = self.disk_spent() => Some(Exit::DiskSpent),
            never = hold(self.holds(), self.limits, || self.record().out_of_memory = true) => match never {},
        };
        self.record().run_time += began.elapsed();
        self.record().exit_code = None;
        if let Some(over) = over {
            self.kill();
            return Ok(over);
        }
        let CommandEnd::Marked(code) = end else {
            return Err(SandboxError::Lost);
        };
        // A command ends with its container, and both are noticed one after the other.
        if code.get().is_none_or(|code| *code == 137) {
            tokio::time::sleep(LAST_OUTPUT * 4).await;
        }
        match (self.end(), code.get()) {
            (None, Some(code)) => {
                self.record().exit_code = Some(*code);
                Ok(Exit::Code(*code))
            }
            (end, _) => Err(end.unwrap_or(SandboxError::Lost)),
        }
    }

    async fn get(&self, wanted: &WantedFiles) -> Result<Option<CodeTree>, SandboxError> {
        let (sender, receiver) = tokio::sync::mpsc::channel(PIECES);
        let (of_archive, path) = (wanted.clone(), wanted.path.clone());
        let reading = tokio::task::spawn_blocking(move || {
            of_archive.read_archive(PieceReader::new(receiver))
        });
        let packed = self
            .on_files(move |root| files::pack(&root, &path, PieceWriter(sender)))
            .await;
        match (packed, reading.await.map_err(anyhow::Error::new)?) {
            (_, Err(UnpackError::TooBig(excess))) => Err(SandboxError::TooBig {
                path: wanted.path.clone(),
                excess,
            }),
            (Err(error), _) => Err(error),
            (Ok(false), _) => Ok(None),
            (Ok(true), tree) => Ok(Some(tree.map_err(anyhow::Error::new)?)),
        }
    }

    async fn seen(&self) -> Option<Seen> {
        let (store, name) = (self.engine.store.clone(), self.image.clone());
        let look = move || {
            let image = store.image(&name)?;
            let names = store.names_of(&image.digest);
            Some((image.digest, names.into_iter().next()))
        };
        let (image, image_name) = tokio::task::spawn_blocking(look).await.ok()??;
        let (record, holds) = (self.record(), self.holds());
        Some(Seen {
            image,
            image_name,
            exit_code: record.exit_code,
            out_of_memory: record.out_of_memory,
            seconds: record.run_time.as_secs_f64(),
            engine: Some(Engine {
                name: format!("bubblewrap {}", self.engine.version),
                memory: holds.memory,
                processes: holds.processes,
            }),
        })
    }
}

/// The container's first process, as soon as bubblewrap tells of it.
async fn first_process(recipe: &Recipe, child: &mut Child) -> Result<Pid, SandboxError> {
    let began = Instant::now();
    loop {
        let info = tokio::fs::read(recipe.file("info"))
            .await
            .unwrap_or_default();
        let info: Value = serde_json::from_slice(&info).unwrap_or_default();
        let found = info["child-pid"]
            .as_u64()
            .and_then(|pid| u32::try_from(pid).ok());
        if let Some(found) = pid(found) {
            return Ok(found);
        }
        let ended = child.try_wait().map_err(anyhow::Error::new)?;
        if ended.is_some() || began.elapsed() > START_LIMIT {
            let why = tokio::fs::read_to_string(recipe.file("problem")).await;
            let why = why.unwrap_or_default();
            return Err(SandboxError::Engine(format!(
                "bubblewrap made no container: {}",
                why.trim()
            )));
        }
        tokio::time::sleep(Duration::from_millis(4)).await;
    }
}

fn pid(number: Option<u32>) -> Option<Pid> {
    Pid::from_raw(i32::try_from(number?).ok()?)
}

fn is_full(error: &anyhow::Error) -> bool {
    let mut causes = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>());
    causes.any(|cause| cause.kind() == std::io::ErrorKind::StorageFull)
}

/// A command's output until it ends; sets its exit code then.
fn output_of(mut child: Child, exit_code: Arc<OnceLock<i64>>) -> RawOutput {
    let outputs = (child.stdout.take(), child.stderr.take());
    let pieces = stream::try_unfold((child, outputs), move |(mut child, mut outputs)| {
        let exit_code = exit_code.clone();
        async move {
            let piece = loop {
                if exit_code.get().is_some() {
                    break tokio::time::timeout(LAST_OUTPUT, next(&mut outputs))
                        .await
                        .ok()
                        .flatten();
                }
                tokio::select! {
                    biased;
                    piece = next(&mut outputs) => match piece {
                        Some(piece) => break Some(piece),
                        None => { let _ = exit_code.set(code_of(child.wait().await)); }
                    },
                    status = child.wait() => { let _ = exit_code.set(code_of(status)); }
                }
            };
            Ok(piece.map(|piece| (piece, (child, outputs))))
        }
    });
    Box::pin(pieces)
}

fn code_of(status: std::io::Result<ExitStatus>) -> i64 {
    let code = |status: ExitStatus| status.code().or(status.signal().map(|signal| 128 + signal));
    status.ok().and_then(code).unwrap_or(137).into()
}

/// The next piece of either output, `None` behind the end of both.
async fn next(outputs: &mut (Option<ChildStdout>, Option<ChildStderr>)) -> Option<LogOutput> {
    loop {
        let (out, errors) = outputs;
        if out.is_none() && errors.is_none() {
            return None;
        }
        tokio::select! {
            piece = piece(out), if out.is_some() => match piece {
                Some(message) => return Some(LogOutput::StdOut { message: message.freeze() }),
                None => *out = None,
            },
            piece = piece(errors), if errors.is_some() => match piece {
                Some(message) => return Some(LogOutput::StdErr { message: message.freeze() }),
                None => *errors = None,
            },
        }
    }
}

async fn piece(output: &mut Option<impl AsyncRead + Unpin>) -> Option<BytesMut> {
    let mut bytes = BytesMut::with_capacity(32 << 10);
    let read = output.as_mut()?.read_buf(&mut bytes).await;
    read.is_ok_and(|read| read > 0).then_some(bytes)
}
