//! One container, from files in to files out.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context;
use async_trait::async_trait;
use bollard::exec::StartExecResults;
use bollard::models::ExecConfig;
use bollard::query_parameters::{
    DownloadFromContainerOptionsBuilder, InspectContainerOptionsBuilder,
    RemoveContainerOptionsBuilder, UploadToContainerOptionsBuilder,
};
use futures::{StreamExt, TryStreamExt};

use super::lines::Lines;
use super::look::Account;
use super::{refused, status_of};
use crate::blocking::blocking;
use crate::code::CodeTree;
use crate::sandbox::{Exec, Exit, OnLine, SandboxError, Seen, StepBox};

/// How often a container's writes are weighed.
const WEIGH_EVERY: Duration = Duration::from_secs(5);

pub(super) struct DockerBox {
    pub(super) api: bollard::Docker,
    pub(super) id: String,
    pub(super) disk_bytes: i64,
    pub(super) made: SystemTime,
    pub(super) account: Mutex<Account>,
}

impl std::fmt::Debug for DockerBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DockerBox({:.12})", self.id)
    }
}

impl Drop for DockerBox {
    /// Removal goes on beside the next step. What a dying process does not
    /// get to remove is swept at the next start.
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
impl StepBox for DockerBox {
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
            .map_err(|e| self.lost_or(&e, "take files in"))
    }

    async fn exec(&self, exec: &Exec, on_line: OnLine<'_>) -> Result<Exit, SandboxError> {
        let config = ExecConfig {
            cmd: Some(exec.command.clone()),
            env: Some(exec.env.clone()),
            working_dir: Some(exec.working_dir.clone()),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            ..ExecConfig::default()
        };
        let created = self
            .api
            .create_exec(&self.id, config)
            .await
            .map_err(|e| self.lost_or(&e, "take a command"))?;
        let started = self
            .api
            .start_exec(&created.id, None)
            .await
            .map_err(|e| self.lost_or(&e, "run a command"))?;
        let StartExecResults::Attached { output, .. } = started else {
            return Err(SandboxError::Engine(
                "it ran the command without its output".into(),
            ));
        };
        let began = Instant::now();
        let mut lines = Lines::new(on_line);
        let read = async {
            let mut output = output;
            while let Some(chunk) = output.next().await {
                match chunk {
                    Ok(chunk) => lines.take(&chunk.into_bytes()),
                    Err(error) => {
                        return Err(self.lost_or(&error, "pass on what a command printed"));
                    }
                }
            }
            lines.finish();
            Ok(())
        };
        tokio::select! {
            done = read => done?,
            () = time_spent(exec) => {
                self.gone(began).await;
                return Ok(Exit::TimedOut);
            }
            () = self.disk_spent() => {
                self.gone(began).await;
                return Ok(Exit::DiskSpent);
            }
        }
        let took = began.elapsed();
        let exit = self.exit_of(&created.id).await;
        self.charge(took, exit.as_ref().ok());
        exit
    }

    async fn get(&self, folder: &str, max_bytes: u64) -> Result<Option<CodeTree>, SandboxError> {
        let Some(tar) = self.archive(folder, max_bytes).await? else {
            return Ok(None);
        };
        let tree =
            tokio::task::spawn_blocking(move || CodeTree::from_tar(tar.as_slice(), 1, max_bytes))
                .await
                .context("unpacking failed")??;
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
        self.look().await
    }
}

impl DockerBox {
    /// A path of the container as a tar archive.
    async fn archive(&self, path: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, SandboxError> {
        let options = DownloadFromContainerOptionsBuilder::default()
            .path(path)
            .build();
        let mut stream = std::pin::pin!(self.api.download_from_container(&self.id, Some(options)));
        let mut tar = Vec::new();
        // A tar has up to 1 KiB of overhead for each file; give that much room.
        let room = max_bytes.saturating_add(256 * 1024 * 1024);
        loop {
            match stream.try_next().await {
                Ok(Some(chunk)) => tar.extend_from_slice(&chunk),
                Ok(None) => return Ok(Some(tar)),
                Err(error) if status_of(&error) == Some(404) && self.is_running().await => {
                    return Ok(None);
                }
                Err(error) => return Err(self.lost_or(&error, "give files out")),
            }
            if tar.len() as u64 > room {
                return Err(SandboxError::TooBig {
                    path: path.into(),
                    max_mb: max_bytes >> 20,
                });
            }
        }
    }

    async fn exit_of(&self, exec_id: &str) -> Result<Exit, SandboxError> {
        let inspected = self.api.inspect_exec(exec_id).await;
        match inspected.map(|exec| exec.exit_code) {
            // When somebody kills the container, its commands end with 137
            // too: only a container that goes on running vouches for the code.
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

    /// Returns once the container has written more than it may.
    async fn disk_spent(&self) {
        let options = || InspectContainerOptionsBuilder::default().size(true).build();
        loop {
            tokio::time::sleep(WEIGH_EVERY).await;
            if let Ok(container) = self.api.inspect_container(&self.id, Some(options())).await
                && container
                    .size_rw
                    .is_some_and(|bytes| bytes > self.disk_bytes)
            {
                return;
            }
        }
    }

    /// Removes a container whose command took more than it may; what is known
    /// of it is looked at before.
    async fn gone(&self, began: Instant) {
        self.charge(began.elapsed(), None);
        self.look().await;
        remove(&self.api, &self.id).await;
    }

    fn lost_or(&self, error: &bollard::errors::Error, what: &str) -> SandboxError {
        match status_of(error) {
            Some(404 | 409) => SandboxError::Lost,
            _ => refused(what, error),
        }
    }
}

/// Returns once a command has had its time, less what is not charged.
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
