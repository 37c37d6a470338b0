//! Docker, through its API.
//!
//! A container idles until it is told what to run, so that the next step's
//! container can be made and started while the current step works. What
//! agents and tests get is the same: no network, no capabilities, no new
//! privileges, limits on processor, memory, processes, disk and time.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use async_trait::async_trait;
use bollard::exec::StartExecResults;
use bollard::models::{
    ContainerCreateBody, ContainerSummary, ExecConfig, HostConfig, ResourcesUlimits,
};
use bollard::query_parameters::{
    CreateContainerOptions, DownloadFromContainerOptionsBuilder, InspectContainerOptionsBuilder,
    ListContainersOptionsBuilder, RemoveContainerOptionsBuilder, StartContainerOptions,
    UploadToContainerOptionsBuilder,
};
use futures::{StreamExt, TryStreamExt};

use super::{BoxSpec, Exec, Exit, OnLine, Sandbox, SandboxError, StepBox};
use crate::blocking::blocking;
use crate::code::CodeTree;

/// Label of every container, image and network of an installation.
const LABEL_INSTANCE: &str = "swe-ci.instance";
const LABEL_PURPOSE: &str = "swe-ci.purpose";
const LABEL_DETAIL: &str = "swe-ci.detail";
const LABEL_PROCESS: &str = "swe-ci.process";
/// How often a container's writes are weighed.
const WEIGH_EVERY: Duration = Duration::from_secs(5);
/// A line longer than this is cut.
const MAX_LINE: usize = 16 * 1024;

/// Name of an installation (a data folder), so that one never removes the
/// containers of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance(pub String);

/// Which containers of an installation nobody needs any more, as the process
/// knows that holds the worker's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// Steps that other processes began, which must be dead, and preparations
    /// so old that no process can be about them.
    ByOthers,
    /// Those, and all that this process made.
    ByAnyone,
}

/// No preparation takes this long.
const LONG_AGO: Duration = Duration::from_hours(24);

#[derive(Debug, Clone)]
pub struct Docker {
    api: Arc<OnceLock<bollard::Docker>>,
    instance: Instance,
    /// Tells what this process made from what others did.
    process: Arc<str>,
}

impl Docker {
    /// The engine the environment names (`DOCKER_HOST`), or the local one. It
    /// need not run yet: whoever only looks at results needs none.
    pub fn new(instance: Instance) -> Self {
        Self {
            api: Arc::default(),
            instance,
            process: uuid::Uuid::now_v7().to_string().into(),
        }
    }

    /// The engine's API. Fails when there is no such engine, and looks again
    /// the next time.
    pub fn api(&self) -> Result<&bollard::Docker, SandboxError> {
        if let Some(api) = self.api.get() {
            return Ok(api);
        }
        let api = bollard::Docker::connect_with_defaults().map_err(|e| {
            SandboxError::Engine(format!("it is not there ({e}); `swe-ci doctor` tells more"))
        })?;
        Ok(self.api.get_or_init(|| api))
    }

    fn create_body(&self, spec: &BoxSpec) -> ContainerCreateBody {
        let limits = spec.limits;
        let memory = i64::from(limits.memory_mb) * 1024 * 1024;
        let file_size = i64::from(limits.disk_mb) * 1024 * 1024;
        ContainerCreateBody {
            image: Some(spec.image.clone()),
            // Idles as process 1, whatever the image would have started.
            entrypoint: Some(vec!["sleep".into()]),
            cmd: Some(vec!["infinity".into()]),
            user: Some("0".into()),
            network_disabled: Some(true),
            labels: Some(HashMap::from([
                (LABEL_INSTANCE.into(), self.instance.0.clone()),
                (LABEL_PURPOSE.into(), spec.purpose.name().into()),
                (LABEL_DETAIL.into(), spec.purpose.detail().into()),
                (LABEL_PROCESS.into(), self.process.to_string()),
            ])),
            host_config: Some(HostConfig {
                network_mode: Some("none".into()),
                cap_drop: Some(vec!["ALL".into()]),
                security_opt: Some(vec!["no-new-privileges".into()]),
                nano_cpus: Some(i64::from(limits.cpus_milli) * 1_000_000),
                memory: Some(memory),
                memory_swap: Some(memory),
                pids_limit: Some(i64::from(limits.pids)),
                shm_size: Some(64 * 1024 * 1024),
                ulimits: Some(vec![ResourcesUlimits {
                    name: Some("fsize".into()),
                    soft: Some(file_size),
                    hard: Some(file_size),
                }]),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        }
    }
}

impl Docker {
    /// Removes containers of this installation that are left; how many there
    /// were.
    pub async fn sweep(&self, left_by: Left) -> Result<usize, SandboxError> {
        let label = format!("{LABEL_INSTANCE}={}", self.instance.0);
        let options = ListContainersOptionsBuilder::default()
            .all(true)
            .filters(&HashMap::from([("label", vec![label.as_str()])]))
            .build();
        let api = self.api()?;
        let left = api
            .list_containers(Some(options))
            .await
            .map_err(|e| refused("list containers", &e))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = i64::try_from(now.unwrap_or_default().as_secs()).unwrap_or(i64::MAX);
        let stale = left.into_iter().filter(|c| self.is_left(c, left_by, now));
        let ids: Vec<String> = stale.filter_map(|container| container.id).collect();
        for id in &ids {
            remove(api, id).await;
        }
        Ok(ids.len())
    }

    /// `now` in seconds, as the container engine counts.
    fn is_left(&self, container: &ContainerSummary, left_by: Left, now: i64) -> bool {
        let label = |name| container.labels.as_ref()?.get(name).map(String::as_str);
        if label(LABEL_PROCESS) == Some(&*self.process) {
            return left_by == Left::ByAnyone;
        }
        let age = now.saturating_sub(container.created.unwrap_or(now));
        label(LABEL_PURPOSE) == Some("step") || age > LONG_AGO.as_secs().cast_signed()
    }
}

#[async_trait]
impl Sandbox for Docker {
    /// Goes on to the end when nobody waits for it any more: a container that
    /// was asked for must be known to be removed.
    async fn open(&self, spec: &BoxSpec) -> Result<Box<dyn StepBox>, SandboxError> {
        let (api, body) = (self.api()?.clone(), self.create_body(spec));
        let disk_bytes = i64::from(spec.limits.disk_mb) * 1024 * 1024;
        let opened = tokio::spawn(async move {
            let created = api
                .create_container(None::<CreateContainerOptions>, body)
                .await
                .map_err(|e| refused("make a container", &e))?;
            // From here on the container is removed when the box is dropped.
            let container = DockerBox {
                api,
                id: created.id,
                disk_bytes,
            };
            container
                .api
                .start_container(&container.id, None::<StartContainerOptions>)
                .await
                .map_err(|e| refused("start a container", &e))?;
            Ok(Box::new(container) as Box<dyn StepBox>)
        });
        opened.await.map_err(anyhow::Error::new)?
    }

    async fn ping(&self) -> Result<(), SandboxError> {
        self.api()?
            .ping()
            .await
            .map(|_| ())
            .map_err(|e| refused("answer", &e))
    }
}

struct DockerBox {
    api: bollard::Docker,
    id: String,
    disk_bytes: i64,
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

async fn remove(api: &bollard::Docker, id: &str) {
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
            done = tokio::time::timeout(exec.time_limit, read) => match done {
                Ok(done) => done?,
                Err(_) => {
                    remove(&self.api, &self.id).await;
                    return Ok(Exit::TimedOut);
                }
            },
            () = self.disk_spent() => {
                remove(&self.api, &self.id).await;
                return Ok(Exit::DiskSpent);
            }
        }
        self.exit_of(&created.id).await
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

    fn lost_or(&self, error: &bollard::errors::Error, what: &str) -> SandboxError {
        match status_of(error) {
            Some(404 | 409) => SandboxError::Lost,
            _ => refused(what, error),
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

fn status_of(error: &bollard::errors::Error) -> Option<u16> {
    match error {
        bollard::errors::Error::DockerResponseServerError { status_code, .. } => Some(*status_code),
        _ => None,
    }
}

fn refused(what: &str, error: &bollard::errors::Error) -> SandboxError {
    SandboxError::Engine(format!(
        "it did not {what} ({error}); `swe-ci doctor` tells more"
    ))
}

/// Cuts a stream of bytes into lines.
struct Lines<'a> {
    rest: Vec<u8>,
    on_line: OnLine<'a>,
}

impl<'a> Lines<'a> {
    fn new(on_line: OnLine<'a>) -> Self {
        Self {
            rest: Vec::new(),
            on_line,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let room = MAX_LINE.saturating_sub(self.rest.len());
            self.rest.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.finish();
            }
        }
    }

    fn finish(&mut self) {
        if !self.rest.is_empty() {
            let text = String::from_utf8_lossy(&self.rest);
            (self.on_line)(text.trim_end_matches(['\n', '\r']));
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_by_whom() {
        let docker = Docker::new(Instance("here".into()));
        let ours = docker.process.to_string();
        let check = |process: &str, purpose: &str, hours: i64, left_by, expect: bool| {
            let container = ContainerSummary {
                created: Some(1_000_000 - hours * 3_600),
                labels: Some(HashMap::from([
                    (LABEL_PROCESS.to_owned(), process.to_owned()),
                    (LABEL_PURPOSE.to_owned(), purpose.to_owned()),
                ])),
                ..ContainerSummary::default()
            };
            let left = docker.is_left(&container, left_by, 1_000_000);
            assert_eq!(left, expect, "{process} {purpose} {hours} {left_by:?}");
        };
        check(&ours, "step", 48, Left::ByOthers, false);
        check(&ours, "preparation", 0, Left::ByOthers, false);
        check("dead", "step", 0, Left::ByOthers, true);
        // An import may be under way in a process beside the server.
        check("other", "preparation", 1, Left::ByOthers, false);
        check("other", "preparation", 1, Left::ByAnyone, false);
        check("dead", "preparation", 25, Left::ByOthers, true);
        check(&ours, "step", 0, Left::ByAnyone, true);
        check(&ours, "preparation", 0, Left::ByAnyone, true);
    }

    #[test]
    fn output_is_cut_into_lines() {
        let mut seen = Vec::new();
        let mut on_line = |line: &str| seen.push(line.to_owned());
        let mut lines = Lines::new(&mut on_line);
        for chunk in ["one\ntw", "o\r\n\n", "thr", "ee", "\u{1F980}"] {
            lines.take(chunk.as_bytes());
        }
        lines.take(&[0xff, b'\n']);
        lines.take("x".repeat(MAX_LINE + 5).as_bytes());
        lines.finish();
        assert_eq!(seen[..4], ["one", "two", "", "three🦀\u{fffd}"]);
        assert_eq!(seen[4].len(), MAX_LINE);
    }
}
