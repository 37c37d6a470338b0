//! Docker, or another engine that has its API: Podman. Where there is none, it stands
//! for bubblewrap.
//!
//! A container idles until it receives a command, so that the next step's
//! container can be created and started while the current step works. Agents
//! and tests get the same environment: no network, no capabilities, no new
//! privileges, few system calls, limits on processor, memory, processes, disk
//! and time.

pub(crate) mod archive;
mod connection;
mod container;
pub(crate) mod disk_use;
mod end;
mod error;
mod exec_with;
mod first_process;
mod inspection;
mod leftover_containers;
mod process;
mod seccomp;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use async_trait::async_trait;
use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount, MountType, ResourcesUlimits,
};
use bollard::query_parameters::{CreateContainerOptions, StartContainerOptions};

use self::connection::Connection;
pub use self::connection::{EngineChoice, EngineFacts};
use self::container::DockerContainer;
use self::error::engine_error;
pub use self::error::{lost_engine, status_of};
pub use self::leftover_containers::SweepScope;
use self::process::Process;
use super::{ContainerSpec, LAYER_FOLDER, Sandbox, SandboxContainer, SandboxError};
use crate::pulls::PullCounter;
use swe_ci_base::blocking::blocking;
use tokio::sync::OnceCell;
use tracing::Instrument;

/// Label of everything that an installation owns in the engine: containers,
/// images, networks, volumes.
pub const LABEL_INSTANCE: &str = "swe-ci.instance";
/// Why the labelled object exists.
pub const LABEL_PURPOSE: &str = "swe-ci.purpose";
const LABEL_DETAIL: &str = "swe-ci.detail";
const LABEL_PROCESS: &str = "swe-ci.process";

/// The user of commands. It has no capabilities.
const ROOT: &str = "0";
/// The user and group of unprivileged commands.
const NOBODY: &str = "65534:65534";

/// Names of this machine that test suites use, with their addresses.
const LOCAL_NAMES: [&str; 2] = ["ip6-localhost:::1", "ip6-loopback:::1"];

/// Name of an installation (a data folder), so that one never removes the
/// containers of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance(pub String);

#[derive(Debug, Clone)]
pub struct Docker {
    connection: Arc<OnceLock<Connection>>,
    instance: Instance,
    /// Distinguishes the containers of this process from those of others.
    process: Arc<Process>,
    /// Name of the runtime that executes containers, as the engine's
    /// configuration has it; the engine's default when absent.
    runtime: Option<String>,
    choice: EngineChoice,
    /// Where the user's sockets are.
    runtime_folder: Option<PathBuf>,
    facts: Arc<OnceCell<EngineFacts>>,
    data: PathBuf,
    pulls: Arc<PullCounter>,
}

impl Docker {
    /// Uses the engine named by `DOCKER_HOST`, or the local one. It need not
    /// run yet: reading results needs no engine. The data folder holds the lock
    /// files by which processes detect each other.
    pub fn new(instance: Instance, data: &Path) -> Self {
        Self {
            connection: Arc::default(),
            data: data.to_owned(),
            instance,
            process: Arc::new(Process::new(data)),
            runtime: None,
            choice: EngineChoice::default(),
            runtime_folder: None,
            facts: Arc::default(),
            pulls: Arc::default(),
        }
    }

    /// Executes containers by this runtime of the engine, such as `runsc`.
    #[must_use]
    pub fn with_runtime(self, runtime: Option<String>) -> Self {
        Self { runtime, ..self }
    }

    /// The same engine, for another installation.
    #[must_use]
    pub fn of_instance(self, instance: Instance) -> Self {
        Self { instance, ..self }
    }

    /// The installation whose containers these are.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Counts what this process pulls.
    pub fn pulls(&self) -> &PullCounter {
        &self.pulls
    }

    /// For engines that read the profile of system calls themselves.
    fn seccomp_file(&self) -> PathBuf {
        self.data.join("seccomp.json")
    }

    /// Docker takes the profile itself, Podman the path of its file.
    fn seccomp(&self, podman: bool) -> String {
        match podman {
            true => format!("seccomp={}", self.seccomp_file().display()),
            false => seccomp::option(),
        }
    }

    fn create_body(&self, spec: &ContainerSpec, podman: bool) -> ContainerCreateBody {
        let limits = spec.limits;
        let memory = i64::from(limits.memory_mb) << 20;
        let file_size = i64::from(limits.disk_mb) << 20;
        ContainerCreateBody {
            image: Some(spec.image.clone()),
            entrypoint: Some(first_process::command(spec)),
            user: Some(ROOT.into()),
            working_dir: Some("/".into()),
            open_stdin: Some(true),
            stdin_once: Some(true),
            labels: Some(HashMap::from([
                (LABEL_INSTANCE.into(), self.instance.0.clone()),
                (LABEL_PURPOSE.into(), spec.purpose.name().into()),
                (LABEL_DETAIL.into(), spec.purpose.detail().into()),
                (LABEL_PROCESS.into(), self.process.name.clone()),
            ])),
            host_config: Some(HostConfig {
                // Only the loopback, and with it the names of `localhost`, which a
                // container without a network mode would not know.
                network_mode: Some("none".into()),
                cap_drop: Some(vec!["ALL".into()]),
                security_opt: Some(vec!["no-new-privileges".into(), self.seccomp(podman)]),
                // Docker writes these names by itself.
                extra_hosts: podman.then(|| LOCAL_NAMES.map(str::to_owned).into()),
                runtime: self.runtime.clone(),
                nano_cpus: Some(i64::from(limits.cpus_milli) * 1_000_000),
                memory: Some(memory),
                memory_swap: Some(memory),
                pids_limit: Some(i64::from(limits.pids)),
                shm_size: Some(64 << 20),
                mounts: Some(mounts(spec)),
                ulimits: Some(vec![ResourcesUlimits {
                    name: Some("fsize".into()),
                    soft: Some(file_size),
                    hard: Some(file_size),
                }]),
                log_config: Some(HostConfigLogConfig {
                    typ: Some("none".into()),
                    ..HostConfigLogConfig::default()
                }),
                ..HostConfig::default()
            }),
            ..ContainerCreateBody::default()
        }
    }
}

#[async_trait]
impl Sandbox for Docker {
    /// Runs to the end even if the caller stops waiting: the process must know
    /// every container it requested, to remove it.
    async fn open(&self, spec: &ContainerSpec) -> Result<Box<dyn SandboxContainer>, SandboxError> {
        if let Connection::Bubblewrap(engine) = self.connection()? {
            let container = engine.container(spec, seccomp::PROFILE).await?;
            return Ok(Box::new(container));
        }
        let facts = self.facts().await?.clone();
        let (api, body) = (self.api()?.clone(), self.create_body(spec, facts.podman));
        let (limits, seccomp_file) = (spec.limits, self.seccomp_file());
        let disk_bytes = u64::from(spec.limits.disk_mb) << 20;
        let (image, with_shell) = (spec.image.clone(), spec.gateway.is_none());
        let process = self.process.clone();
        let container = tokio::spawn(async move {
            let podman = facts.podman;
            blocking(move || {
                if podman {
                    seccomp::write(&seccomp_file)?;
                }
                process.announce()
            })
            .await?;
            let before = Instant::now();
            let created = api
                .create_container(None::<CreateContainerOptions>, body)
                .instrument(tracing::debug_span!("create a container"))
                .await
                .map_err(|e| match status_of(&e) {
                    Some(404) => SandboxError::NoImage(image.clone()),
                    _ => engine_error("make a container", &e),
                })?;
            // From here on, dropping the container removes it.
            let mut container = DockerContainer {
                api,
                id: created.id,
                image,
                engine: facts,
                limits,
                holds: OnceCell::new(),
                disk_bytes,
                created: before,
                record: Mutex::default(),
                shell: Mutex::default(),
            };
            if with_shell {
                container.attach().await?;
            }
            let api = &container.api;
            api.start_container(&container.id, None::<StartContainerOptions>)
                .instrument(tracing::debug_span!("start a container"))
                .await
                .map_err(|e| engine_error("start a container", &e))?;
            Ok(Box::new(container) as Box<dyn SandboxContainer>)
        });
        container.await.map_err(anyhow::Error::new)?
    }

    async fn ping(&self) -> Result<(), SandboxError> {
        let Connection::Api(api) = self.connection()? else {
            return Ok(());
        };
        let answer = api.ping().await;
        answer.map(drop).map_err(|e| engine_error("answer", &e))
    }
}

fn mounts(spec: &ContainerSpec) -> Vec<Mount> {
    let mount = |kind, source: String, target: &str| Mount {
        typ: Some(kind),
        source: Some(source),
        target: Some(target.to_owned()),
        read_only: Some(true),
        ..Mount::default()
    };
    let gateway = spec.gateway.as_ref().map(|gateway| {
        let folder = gateway.folder.display().to_string();
        mount(MountType::BIND, folder, gateway.inside)
    });
    let layer = spec.layer.clone();
    let layer = layer.map(|layer| mount(MountType::VOLUME, layer, LAYER_FOLDER));
    gateway.into_iter().chain(layer).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use swe_ci_core::run::Limits;

    use super::*;
    use crate::{GatewayMount, Purpose};

    #[test]
    fn containers_are_closed() {
        let data = tempfile::tempdir().unwrap();
        let docker = Docker::new(Instance("here".into()), data.path());
        let mut spec = ContainerSpec::new("sha256:0", Limits::default(), Purpose::Step("e".into()));
        let body = docker.create_body(&spec, false);
        assert_eq!(body.user.as_deref(), Some("0"));
        let host = body.host_config.unwrap();
        assert_eq!(host.network_mode.as_deref(), Some("none"));
        assert_eq!(host.cap_drop.unwrap(), ["ALL"]);
        assert_eq!(host.runtime, None);
        let options = host.security_opt.unwrap();
        assert_eq!(options[0], "no-new-privileges");
        assert!(options[1].starts_with("seccomp={"));
        assert_eq!(body.entrypoint.unwrap()[0], "sh");
        let host = docker.create_body(&spec, true).host_config.unwrap();
        let profile = host.security_opt.unwrap()[1].clone();
        assert_eq!(
            profile,
            format!("seccomp={}", data.path().join("seccomp.json").display())
        );

        spec.gateway = Some(GatewayMount {
            folder: PathBuf::from("/folder"),
            inside: "/gateway",
            relay: ["/gateway/relay", "1", "/gateway/socket"],
        });
        let docker = docker.with_runtime(Some("runsc".into()));
        let body = docker.create_body(&spec, false);
        assert_eq!(body.entrypoint.unwrap()[0], "/gateway/relay");
        assert_eq!(body.host_config.unwrap().runtime.as_deref(), Some("runsc"));
    }
}
