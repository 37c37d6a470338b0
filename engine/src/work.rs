//! The façade's deeds: importing, submitting, cancelling, working.

use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use sha2::{Digest, Sha256};
use swe_ci_core::agent::AgentConfig;
use swe_ci_core::event::What;
use swe_ci_core::run::{Limits, Progress, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_core::view::{Provenance, TaskState, TaskSummary};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::blocking::blocking;
use crate::code::hex;
use crate::dataset::{Importer, demo};
use crate::error::{Error, Result};
use crate::evolve::Evolver;
use crate::images::BuildNetwork;
use crate::sandbox::{Docker, Left, Sandbox};
use crate::store::{NewRun, TaskRow};
use crate::{Config, Engine, METRIC_VERSION, clock, evolve, queue};

/// When left-overs are looked for again after the start: a container engine
/// answers within seconds.
const SOON: Duration = Duration::from_secs(3);
/// And from then on.
const AFTER_THAT: Duration = Duration::from_mins(1);

/// How a dataset import went, task by task.
#[derive(Debug, Clone)]
pub struct Imported {
    pub split: String,
    pub tasks: Vec<TaskSummary>,
}

impl Engine {
    /// Imports a split of a dataset folder in the official layout, reporting
    /// as it goes.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the metadata file cannot be used;
    /// [`Error::Unavailable`] when the container engine fails.
    pub async fn import(
        &self,
        folder: &Path,
        split: &str,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Imported> {
        let inner = &self.inner;
        let importer = Importer {
            store: &inner.store,
            artifacts: &inner.artifacts,
            sandbox: self.sandbox(),
            images: &inner.images,
            folders: &inner.folders,
            limits: Limits::default(),
            loaded: Mutex::default(),
        };
        let rows = importer.import(folder, split, say).await?;
        Ok(Imported {
            split: split.to_owned(),
            tasks: rows.iter().map(TaskRow::summary).collect(),
        })
    }

    /// Makes the demo split from release histories and imports it.
    pub async fn import_demo(&self, say: &(dyn Fn(String) + Send + Sync)) -> Result<Imported> {
        let config = &self.inner.config;
        inner_ping(&self.inner.docker).await?;
        let folder = config.data.join("datasets").join(demo::SPLIT);
        let network = self.build_network()?;
        let workshop = demo::Workshop {
            images: &self.inner.images,
            sandbox: &self.inner.docker,
            base_image: &config.base_image,
            network: &network,
            index: config.package_index.as_deref(),
            cache: &config.data.join("cache").join("sdists"),
            say,
        };
        workshop
            .make(&folder)
            .await
            .context("cannot make the demo split")?;
        self.import(&folder, demo::SPLIT, say).await
    }

    pub(crate) fn build_network(&self) -> Result<BuildNetwork> {
        Ok(build_network(&self.inner.config)?)
    }

    /// Queues a run and its evolutions; returns its id.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the field that is wrong, or when the split
    /// has no task that can be run; [`Error::NotFound`] without such a split.
    pub async fn submit(&self, config: RunConfig) -> Result<String> {
        config
            .check()
            .map_err(|bad| Error::Invalid(bad.to_string()))?;
        let config = self.with_prices(config).await?;
        let harness_version = self.harness_versions(&config).await?;
        self.check_keys(&config).await?;
        let tasks = self.inner.store.tasks_of_split(&config.split).await?;
        let ready: Vec<&TaskRow> = tasks
            .iter()
            .filter(|t| t.state == TaskState::Ready)
            .collect();
        if ready.is_empty() {
            return Err(Error::Invalid(format!(
                "the split `{}` has no task that can be run",
                config.split
            )));
        }
        let iterations = f64::from(config.plan.max_iterations);
        let run = NewRun {
            provenance: Provenance {
                platform_version: env!("CARGO_PKG_VERSION").into(),
                metric_version: METRIC_VERSION,
                dataset_digest: dataset_digest(&ready),
                harness_version,
                prompts: asks_models(&config).then(evolve::recorded_prompts),
                imported: None,
            },
            tasks: ready
                .iter()
                .map(|t| (t.id.clone(), t.suite_seconds * iterations))
                .collect(),
            config,
        };
        let id = self.inner.store.insert_run(&run).await?;
        self.inner.events.tell(
            &id,
            What::Run {
                progress: Progress::Queued,
            },
        );
        Ok(id)
    }

    /// The configuration with today's prices from the table, where it names
    /// none itself: what the run will cost is then a matter of the run alone.
    async fn with_prices(&self, mut config: RunConfig) -> Result<RunConfig> {
        let day = clock::today();
        let programmer = config.programmer.as_mut().and_then(|p| p.endpoint.as_mut());
        for endpoint in [config.endpoint.as_mut(), programmer].into_iter().flatten() {
            if endpoint.prices.is_none() {
                endpoint.prices = self.inner.store.price_on(&endpoint.model, &day).await?;
            }
            if endpoint.prices.is_none() && config.budget.usd.is_some() {
                return Err(Error::Invalid(format!(
                    "budget.usd: no price is known of `{0}`; write endpoint.prices, or keep one in the table: swe-ci price set {0} --input USD --output USD",
                    endpoint.model
                )));
            }
        }
        Ok(config)
    }

    /// Whether the agents can be played as configured; their versions.
    async fn harness_versions(&self, config: &RunConfig) -> Result<String> {
        let agents: Vec<AgentConfig> = [Role::Architect, Role::Programmer]
            .into_iter()
            .filter_map(|role| config.agent(role))
            .collect();
        let harnesses = self.inner.harnesses.clone();
        let versions: Vec<String> = blocking(move || {
            Ok(agents
                .iter()
                .map(|agent| harnesses.check(agent))
                .collect::<std::result::Result<_, _>>())
        })
        .await?
        .map_err(Error::Invalid)?;
        Ok(match versions.as_slice() {
            [one, other] if config.programmer.is_some() => format!("{one} / {other}"),
            versions => versions.first().cloned().unwrap_or_default(),
        })
    }

    /// Every key that is named is there and can be opened.
    async fn check_keys(&self, config: &RunConfig) -> Result<()> {
        for role in [Role::Architect, Role::Programmer] {
            let endpoint = config.agent(role).and_then(|agent| agent.endpoint);
            if let Some(endpoint) = endpoint
                && let Some(name) = &endpoint.key
                && endpoint.recording.is_none()
            {
                self.inner.keys.open(name).await?;
            }
        }
        Ok(())
    }

    /// Cancels a run. Cancelling twice is the same as once.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Conflict`] when it has finished.
    pub async fn cancel(&self, run_id: &str) -> Result<()> {
        self.inner.store.cancel_run(run_id).await?;
        self.inner.events.tell(
            run_id,
            What::Run {
                progress: Progress::Cancelled,
            },
        );
        Ok(())
    }

    /// Removes what a killed process left behind, then executes queued
    /// evolutions until `shutdown`; steps in flight are left resumable.
    ///
    /// # Errors
    /// [`Error::Conflict`] when another process works on this data folder.
    pub async fn work(&self, shutdown: CancellationToken) -> Result<()> {
        let inner = &self.inner;
        let _held = self.lock()?;
        // We are alone here: whatever this installation still holds is stale.
        let released = inner.store.release(&format!("{}/", inner.instance)).await?;
        inner.gateway.sweep()?;
        match inner.docker.sweep(Left::ByOthers).await {
            Ok(swept) if swept + released as usize > 0 => {
                tracing::info!(
                    containers = swept,
                    evolutions = released,
                    "an earlier process was cleaned up after"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::warn!("cannot look for left-over containers: {error}"),
        }
        let evolver = Evolver {
            store: inner.store.clone(),
            artifacts: inner.artifacts.clone(),
            sandbox: self.sandbox(),
            folders: inner.folders.clone(),
            events: inner.events.clone(),
            harnesses: inner.harnesses.clone(),
            gateway: inner.gateway.clone(),
            keys: inner.keys.clone(),
            ledgers: inner.ledgers.clone(),
        };
        let name = format!("{}/{}", inner.instance, std::process::id());
        tokio::select! {
            () = queue::work(&evolver, &name, inner.config.workers, &shutdown) => {}
            never = sweep_late(&inner.docker) => match never {},
        }
        if let Err(error) = inner.docker.sweep(Left::ByAnyone).await {
            tracing::debug!("containers not swept on the way out: {error}");
        }
        Ok(())
    }

    /// The lock that makes this process the only one to work on the data
    /// folder. The system lets go of it when the process ends, however it ends.
    fn lock(&self) -> Result<std::fs::File> {
        let path = self.inner.config.data.join("worker.lock");
        let file = std::fs::File::create(&path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(std::fs::TryLockError::WouldBlock) => Err(Error::Conflict(format!(
                "another swe-ci server works on the data folder {}; stop it, or set SWE_CI_DATA to another folder",
                self.inner.config.data.display()
            ))),
            Err(std::fs::TryLockError::Error(error)) => Err(anyhow::Error::new(error)
                .context(format!("cannot lock {}", path.display()))
                .into()),
        }
    }
}

/// What the container engine made for the process before only after that one
/// had died, and after it was cleaned up after.
async fn sweep_late(docker: &Docker) -> Infallible {
    let mut wait = SOON;
    loop {
        tokio::time::sleep(wait).await;
        match docker.sweep(Left::ByOthers).await {
            Ok(0) => {}
            Ok(containers) => tracing::info!(containers, "late left-overs were removed"),
            Err(error) => tracing::debug!("cannot look for late left-overs: {error}"),
        }
        wait = AFTER_THAT;
    }
}

/// The host's network settings, for image builds.
pub(crate) fn build_network(config: &Config) -> anyhow::Result<BuildNetwork> {
    let read = |path: &Path| {
        std::fs::read(path).with_context(|| format!("cannot read the CA bundle {}", path.display()))
    };
    Ok(BuildNetwork {
        env: config.build_env.clone(),
        ca_bundle: config.ca_bundle.as_deref().map(read).transpose()?,
    })
}

fn asks_models(config: &RunConfig) -> bool {
    config.harness.asks_a_model()
}

async fn inner_ping(docker: &Docker) -> Result<()> {
    docker
        .ping()
        .await
        .map_err(|error| Error::Unavailable(error.to_string()))
}

/// One digest for all that the tasks of a run are: names, commits, images.
fn dataset_digest(tasks: &[&TaskRow]) -> String {
    let mut hash = Sha256::new();
    for task in tasks {
        for part in [
            task.id.as_str(),
            &task.base_sha,
            &task.target_sha,
            &task.image,
        ] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
    }
    format!("sha256:{}", hex(&hash.finalize()))
}
