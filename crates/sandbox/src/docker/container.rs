//! One running container: files go in, commands run, files come out.

use std::io::ErrorKind;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::exec::StartExecResults;
use bollard::models::ExecConfig;
use bollard::query_parameters::RemoveContainerOptionsBuilder;
use futures::{FutureExt, StreamExt, TryStreamExt};
use jiff::Timestamp;
use swe_ci_base::code::CodeTree;
use swe_ci_core::run::Limits;
use tokio::sync::OnceCell;

use super::NOBODY;
use super::connection::EngineFacts;
use super::error::{engine_error, is_refused_inside, status_of};
use crate::watch::Holds;
use crate::{
    CommandEnd, Exec, Exit, OnLine, OnOutput, Output, RawOutput, RunningCommand, SandboxContainer,
    SandboxError, Seen, WantedFiles,
};

pub(super) const STATE_CHECK_INTERVAL: Duration = Duration::from_millis(200);

pub(super) struct DockerContainer {
    pub(super) api: bollard::Docker,
    pub(super) id: String,
    /// As it was asked for.
    pub(super) image: String,
    pub(super) engine: EngineFacts,
    pub(super) limits: Limits,
    pub(super) holds: OnceCell<Holds>,
    pub(super) disk_bytes: u64,
    /// Before the engine was asked for it.
    pub(super) created: Instant,
    pub(super) record: Mutex<Record>,
    /// Process 1, while it waits for the first command.
    pub(super) shell: Mutex<Option<RunningCommand>>,
}

/// The commands so far, and the result of the latest inspection.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) exit_code: Option<i64>,
    /// Whether a command has started: before that, no code ran.
    pub(super) has_run_code: bool,
    pub(super) run_time: Duration,
    pub(super) latest: Option<Seen>,
    /// By the engine's clock, once it is known.
    pub(super) creation: Option<Timestamp>,
    /// Whether a process was killed here because memory ran out.
    pub(super) out_of_memory: bool,
    /// The files that the latest command has sent.
    pub(super) sent: Option<(WantedFiles, CodeTree)>,
}

impl std::fmt::Debug for DockerContainer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DockerContainer({:.12})", self.id)
    }
}

impl Drop for DockerContainer {
    /// Removal runs in the background while the next step proceeds. The sweep
    /// at the next start removes the containers that a dying process could not.
    fn drop(&mut self) {
        let (api, id) = (self.api.clone(), self.id.clone());
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { remove(&api, &id).await });
        }
    }
}

#[tracing::instrument(name = "remove a container", level = "debug", skip_all)]
pub(super) async fn remove(api: &bollard::Docker, id: &str) {
    let options = RemoveContainerOptionsBuilder::default()
        .force(true)
        .v(true)
        .build();
    if let Err(error) = api.remove_container(id, Some(options)).await {
        tracing::debug!(container = id, %error, "container not removed");
    }
}

#[async_trait]
impl SandboxContainer for DockerContainer {
    #[tracing::instrument(name = "put files", level = "debug", skip_all)]
    async fn put(&self, parts: &[(&str, &CodeTree)]) -> Result<(), SandboxError> {
        self.pack(owned(parts)).await
    }

    #[tracing::instrument(name = "start a command", level = "debug", skip_all)]
    async fn start(&self, exec: &Exec) -> Result<RunningCommand, SandboxError> {
        if !exec.unprivileged
            && let Some(started) = self.start_first(exec).await
        {
            return started;
        }
        let config = ExecConfig {
            cmd: Some(exec.command.clone()),
            env: Some(exec.env.clone()),
            working_dir: Some(exec.working_dir.clone()),
            user: exec.unprivileged.then(|| NOBODY.to_owned()),
            attach_stdin: Some(exec.reads_input),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            ..ExecConfig::default()
        };
        match self.started(config).await {
            Ok(started) => Ok(started),
            Err(error) => Err(self.failed(&error, "run a command").await),
        }
    }

    #[tracing::instrument(name = "wait for a command", level = "debug", skip_all)]
    async fn wait(
        &self,
        command: RunningCommand,
        exec: &Exec,
        on_output: OnOutput<'_>,
    ) -> Result<Exit, SandboxError> {
        let started_at = Instant::now();
        let RunningCommand { input, output, end } = command;
        // Nothing more is written: a command that reads on sees the end.
        drop(input);
        let ended = tokio::select! {
            ended = self.read_to_the_end(&end, output, on_output) => Ok(ended),
            () = exec.off.spent(exec.time_limit) => Err(Exit::TimedOut),
            () = self.disk_spent() => Err(Exit::DiskSpent),
            never = self.hold_limits() => match never {},
        };
        let run_time = started_at.elapsed();
        let exit = match ended {
            Ok(Ok(code)) => self.exit_of(code).await,
            Ok(Err(error)) => Err(self.failed(&error, "stream a command's output").await),
            Err(over_limit) => {
                self.record_command(run_time, None);
                // A last inspection.
                self.inspect().await;
                remove(&self.api, &self.id).await;
                return Ok(over_limit);
            }
        };
        self.record_command(run_time, exit.as_ref().ok());
        exit
    }

    async fn exec_with(
        &self,
        parts: &[(&str, &CodeTree)],
        exec: &Exec,
        on_line: OnLine<'_>,
    ) -> Result<Exit, SandboxError> {
        match self.unpack_and_run(owned(parts), exec, on_line).await? {
            Some(exit) => Ok(exit),
            None => {
                self.put(parts).await?;
                self.exec(exec, on_line).await
            }
        }
    }

    async fn get(&self, wanted: &WantedFiles) -> Result<Option<CodeTree>, SandboxError> {
        match self.take_sent(wanted) {
            Some(files) => Ok(Some(files)),
            None => self.unpack(wanted).await,
        }
    }

    async fn seen(&self) -> Option<Seen> {
        self.inspect().await
    }
}

impl DockerContainer {
    async fn started(&self, config: ExecConfig) -> Result<RunningCommand, Error> {
        let created = self.api.create_exec(&self.id, config).await?;
        self.record_start();
        match self.api.start_exec(&created.id, None).await? {
            StartExecResults::Attached { output, input } => Ok(RunningCommand {
                input,
                output,
                end: CommandEnd::Exec(created.id),
            }),
            StartExecResults::Detached => Err(Error::DockerStreamError {
                error: "it did not attach to the command's output".into(),
            }),
        }
    }

    /// Hands out a command's output; returns its exit code, if the engine knows
    /// it.
    async fn read_to_the_end(
        &self,
        end: &CommandEnd,
        mut output: RawOutput,
        on_output: OnOutput<'_>,
    ) -> Result<Option<i64>, Error> {
        while let Some(chunk) = next_piece(&mut output).await? {
            let chunk = match chunk {
                LogOutput::StdOut { message } => Output::Stdout(message),
                other => Output::Stderr(other.into_bytes()),
            };
            if on_output(chunk).is_break() {
                // The engine ends a command when nobody listens any more, and a
                // process that was left behind may hold the output open.
                let drained = output.for_each(|_| std::future::ready(()));
                let CommandEnd::Exec(id) = end else {
                    drained.await;
                    break;
                };
                let never = drained.then(|()| std::future::pending::<Option<i64>>());
                return Ok(tokio::select! {
                    code = self.exit_code(id) => code,
                    code = never => code,
                });
            }
        }
        Ok(match end {
            CommandEnd::Exec(id) => self.exit_code(id).await,
            CommandEnd::Marked(code) => code.get().copied(),
        })
    }

    /// Waits until a command has ended whose output has: code may close its
    /// output and go on. Returns its exit code, if the engine knows it.
    #[tracing::instrument(name = "learn an exit code", level = "debug", skip_all)]
    async fn exit_code(&self, exec_id: &str) -> Option<i64> {
        let mut pause = Duration::from_millis(2);
        loop {
            let exec = self.api.inspect_exec(exec_id).await.ok()?;
            if exec.running != Some(true) {
                return exec.exit_code;
            }
            tokio::time::sleep(pause).await;
            pause = STATE_CHECK_INTERVAL.min(pause * 2);
        }
    }

    /// Commands also end with 137 when their container is killed, so that exit
    /// code counts only while the container keeps running.
    async fn exit_of(&self, code: Option<i64>) -> Result<Exit, SandboxError> {
        match code {
            Some(code) if code != 137 || self.goes_on_running().await => Ok(Exit::Code(code)),
            _ => Err(self.end().await),
        }
    }

    /// Whether the container outlives its command. The engine notices the end
    /// of a command and the end of its container one after the other.
    async fn goes_on_running(&self) -> bool {
        for _ in 0..5 {
            tokio::time::sleep(STATE_CHECK_INTERVAL).await;
            if !self.is_running().await {
                return false;
            }
        }
        true
    }

    pub(super) async fn is_running(&self) -> bool {
        let container = self.api.inspect_container(&self.id, None).await;
        container.is_ok_and(|c| c.state.and_then(|s| s.running) == Some(true))
    }

    /// The engine refused what `action` names.
    pub(super) async fn failed(&self, error: &Error, action: &str) -> SandboxError {
        match status_of(error) {
            Some(404 | 409) => self.end().await,
            Some(400..) if self.has_run_code() && is_refused_inside(&error.to_string()) => {
                SandboxError::Died(format!("it does not {action} any more: {error}"))
            }
            _ => engine_error(action, error),
        }
    }
}

/// The next piece of output, and `None` at its end. The engine resets the
/// connection of a command that ends without reading all of its input, behind
/// the last piece of its output.
async fn next_piece(output: &mut RawOutput) -> Result<Option<LogOutput>, Error> {
    match output.try_next().await {
        Err(Error::IOError { err }) if err.kind() == ErrorKind::ConnectionReset => Ok(None),
        next => next,
    }
}

/// Clones share the contents.
fn owned(parts: &[(&str, &CodeTree)]) -> Vec<(String, CodeTree)> {
    let parts = parts.iter();
    let parts = parts.map(|(folder, files)| ((*folder).to_owned(), (*files).clone()));
    parts.collect()
}
