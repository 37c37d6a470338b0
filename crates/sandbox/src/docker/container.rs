//! One running container: files go in, commands run, files come out.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use bollard::container::LogOutput;
use bollard::exec::StartExecResults;
use bollard::models::ExecConfig;
use bollard::query_parameters::{
    DownloadFromContainerOptionsBuilder, InspectContainerOptionsBuilder,
    RemoveContainerOptionsBuilder, UploadToContainerOptionsBuilder,
};
use futures::{Stream, StreamExt, TryStreamExt};
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;

use super::error::{engine_error, status_of};
use crate::{Exec, Exit, OnOutput, Output, RunningCommand, SandboxContainer, SandboxError, Seen};

const DISK_CHECK_INTERVAL: Duration = Duration::from_secs(5);

pub(super) struct DockerContainer {
    pub(super) api: bollard::Docker,
    pub(super) id: String,
    pub(super) disk_bytes: i64,
    pub(super) created: SystemTime,
    pub(super) record: Mutex<Record>,
}

/// The commands so far, and the result of the latest inspection.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) exit_code: Option<i64>,
    pub(super) run_time: Duration,
    pub(super) latest: Option<Seen>,
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
    async fn put(&self, parts: &[(&str, &CodeTree)]) -> Result<(), SandboxError> {
        let parts: Vec<(String, CodeTree)> = parts
            .iter()
            .map(|(folder, files)| (folder.trim_start_matches('/').to_owned(), (*files).clone()))
            .collect();
        let tar = blocking(move || pack(&parts)).await?;
        let options = UploadToContainerOptionsBuilder::default().path("/").build();
        self.api
            .upload_to_container(&self.id, Some(options), bollard::body_full(tar.into()))
            .await
            .map_err(|e| lost_or(&e, "accept files"))
    }

    async fn start(&self, exec: &Exec) -> Result<RunningCommand, SandboxError> {
        let config = ExecConfig {
            cmd: Some(exec.command.clone()),
            env: Some(exec.env.clone()),
            working_dir: Some(exec.working_dir.clone()),
            attach_stdin: Some(exec.reads_input),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            ..ExecConfig::default()
        };
        let created = self.api.create_exec(&self.id, config).await;
        let created = created.map_err(|e| lost_or(&e, "accept a command"))?;
        let started = self.api.start_exec(&created.id, None).await;
        let started = started.map_err(|e| lost_or(&e, "run a command"))?;
        let StartExecResults::Attached { output, input } = started else {
            return Err(SandboxError::Engine(
                "it did not attach to the command's output".into(),
            ));
        };
        let output = output.map(|chunk| match chunk {
            Ok(LogOutput::StdOut { message }) => Ok(Output::Stdout(message)),
            Ok(other) => Ok(Output::Stderr(other.into_bytes())),
            Err(error) => Err(lost_or(&error, "stream a command's output")),
        });
        Ok(RunningCommand {
            id: created.id,
            input,
            output: Box::pin(output),
        })
    }

    async fn wait(
        &self,
        command: RunningCommand,
        exec: &Exec,
        on_output: OnOutput<'_>,
    ) -> Result<Exit, SandboxError> {
        let started_at = Instant::now();
        let RunningCommand { id, input, output } = command;
        // Nothing more is written: a command that reads on sees the end.
        drop(input);
        let read = async {
            let mut output = output;
            while let Some(chunk) = output.try_next().await? {
                if on_output(chunk).is_break() {
                    return self.ended(&id, output).await;
                }
            }
            Ok::<_, SandboxError>(())
        };
        let over_limit = tokio::select! {
            read = read => {
                read?;
                None
            }
            () = time_spent(exec) => Some(Exit::TimedOut),
            () = self.disk_spent() => Some(Exit::DiskSpent),
        };
        if let Some(exit) = over_limit {
            self.record_command(started_at.elapsed(), None);
            // A last inspection.
            self.inspect().await;
            remove(&self.api, &self.id).await;
            return Ok(exit);
        }
        let run_time = started_at.elapsed();
        let exit = self.exit_of(&id).await;
        self.record_command(run_time, exit.as_ref().ok());
        exit
    }

    async fn get(&self, folder: &str, max_bytes: u64) -> Result<Option<CodeTree>, SandboxError> {
        let Some(tar) = self.archive(folder, max_bytes).await? else {
            return Ok(None);
        };
        let tree = blocking(move || CodeTree::from_tar(tar.as_slice(), 1, max_bytes)).await?;
        Ok(Some(tree))
    }

    async fn read(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        let Some(tar) = self.archive(path, max_bytes).await? else {
            return Ok(None);
        };
        let tree = CodeTree::from_tar(tar.as_slice(), 0, max_bytes)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        Ok(tree.file(name).map(<[u8]>::to_vec))
    }

    async fn seen(&self) -> Option<Seen> {
        self.inspect().await
    }
}

impl DockerContainer {
    /// Downloads a path of the container as a tar archive.
    async fn archive(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        let options = DownloadFromContainerOptionsBuilder::default()
            .path(path)
            .build();
        let mut stream = std::pin::pin!(self.api.download_from_container(&self.id, Some(options)));
        let mut tar = Vec::new();
        // A tar has up to 1 KiB of overhead for each file; allow for that.
        let max_tar_bytes = max_bytes.saturating_add(256 << 20);
        loop {
            match stream.try_next().await {
                Ok(Some(chunk)) => tar.extend_from_slice(&chunk),
                Ok(None) => return Ok(Some(tar)),
                Err(error) if status_of(&error) == Some(404) && self.is_running().await => {
                    return Ok(None);
                }
                Err(error) => return Err(lost_or(&error, "return files")),
            }
            if tar.len() as u64 > max_tar_bytes {
                return Err(SandboxError::TooBig {
                    path: path.into(),
                    max_mb: max_bytes >> 20,
                });
            }
        }
    }

    /// Returns when a command whose last word was read has ended. The output is
    /// read on: the engine ends a command when nobody listens any more. It may
    /// have no end, because a process that was left behind holds it open.
    async fn ended(
        &self,
        exec_id: &str,
        output: impl Stream<Item = Result<Output, SandboxError>>,
    ) -> Result<(), SandboxError> {
        let drained = output.for_each(|_| std::future::ready(()));
        let ended = async {
            loop {
                let inspected = self.api.inspect_exec(exec_id).await;
                if !inspected.is_ok_and(|exec| exec.running == Some(true)) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::select! {
            () = drained => (),
            () = ended => (),
        }
        Ok(())
    }

    async fn exit_of(&self, exec_id: &str) -> Result<Exit, SandboxError> {
        let inspected = self.api.inspect_exec(exec_id).await;
        match inspected.map(|exec| exec.exit_code) {
            // Commands also end with 137 when somebody kills the container, so
            // the exit code counts only while the container keeps running.
            Ok(Some(code)) if code != 137 || self.goes_on_running().await => Ok(Exit::Code(code)),
            _ => Err(SandboxError::Lost),
        }
    }

    /// Whether the container outlives its command. The engine notices the end
    /// of a command and the end of its container one after the other.
    async fn goes_on_running(&self) -> bool {
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            if !self.is_running().await {
                return false;
            }
        }
        true
    }

    async fn is_running(&self) -> bool {
        let container = self.api.inspect_container(&self.id, None).await;
        container.is_ok_and(|c| c.state.and_then(|s| s.running) == Some(true))
    }

    /// Returns once the container has written more than its limit.
    async fn disk_spent(&self) {
        let options = || InspectContainerOptionsBuilder::default().size(true).build();
        loop {
            tokio::time::sleep(DISK_CHECK_INTERVAL).await;
            let container = self.api.inspect_container(&self.id, Some(options())).await;
            if container.is_ok_and(|c| c.size_rw.is_some_and(|bytes| bytes > self.disk_bytes)) {
                return;
            }
        }
    }
}

fn lost_or(error: &bollard::errors::Error, action: &str) -> SandboxError {
    match status_of(error) {
        Some(404 | 409) => SandboxError::Lost,
        _ => engine_error(action, error),
    }
}

/// Returns once a command has used up its time limit, excluded time aside.
async fn time_spent(exec: &Exec) {
    let began = Instant::now();
    loop {
        let charged = began.elapsed().saturating_sub(exec.off.total());
        match exec.time_limit.checked_sub(charged) {
            Some(left) if !left.is_zero() => tokio::time::sleep(left).await,
            _ => return,
        }
    }
}

fn pack(parts: &[(String, CodeTree)]) -> anyhow::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (folder, files) in parts {
        files.append_to(&mut archive, folder)?;
    }
    Ok(archive.into_inner()?)
}
