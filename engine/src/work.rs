//! The façade's deeds: importing, working.

use std::convert::Infallible;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use swe_ci_core::dataset::SplitSource;
use swe_ci_core::run::Limits;
use swe_ci_core::task::TaskId;
use swe_ci_core::view::TaskSummary;
use swe_ci_hub::Hub;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::dataset::{Download, ImportOptions, ImportSource, Importer, demo};
use crate::error::{Error, Result};
use crate::evolve::Evolver;
use crate::images::BuildNetwork;
use crate::sandbox::{Docker, Left, Sandbox};
use crate::store::TaskRow;
use crate::{Config, Engine, files, host, queue};

/// When left-overs are looked for again after the start: a container engine
/// answers within seconds.
const SOON: Duration = Duration::from_secs(3);
/// And from then on.
const AFTER_THAT: Duration = Duration::from_mins(1);
/// How long a process that stops waits for the containers it has asked for: the
/// engine makes them all the same, and would leave them to the next start.
const BEING_MADE: Duration = Duration::from_secs(5);

/// How a dataset import went, task by task.
#[derive(Debug, Clone)]
pub struct Imported {
    pub split: String,
    pub tasks: Vec<TaskSummary>,
    /// Those that could not be downloaded, with the reason; importing again
    /// goes on with them.
    pub missing: Vec<(TaskId, String)>,
}

impl Engine {
    /// Imports a split of a dataset, from a folder in the official layout or a
    /// hub, reporting as it goes.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the metadata file cannot be used, or the hub does
    /// not have it; [`Error::Unavailable`] when the container engine or the hub
    /// fails, or the disk has no room.
    pub async fn import(
        &self,
        source: impl Into<ImportSource>,
        split: &str,
        options: &ImportOptions,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Imported> {
        match source.into() {
            ImportSource::Folder(folder) => {
                let source = SplitSource::Folder;
                self.import_from(&folder, split, &source, options, say)
                    .await
            }
            ImportSource::Hub { dataset, revision } => {
                let download = Download {
                    hub: &self.hub()?,
                    dataset: &dataset,
                    revision: &revision,
                    split,
                    only: &options.only,
                    say,
                };
                let datasets = self.config().data.join("datasets");
                let came = download.run(&datasets).await?;
                if came.tasks.is_empty() {
                    let why = came.missing.first().map_or("", |(_, why)| why);
                    return Err(Error::Unavailable(format!(
                        "no task could be downloaded: {why}"
                    )));
                }
                let options = ImportOptions {
                    only: came.tasks,
                    ..options.clone()
                };
                let imported = self.import_from(&came.folder, split, &came.source, &options, say);
                Ok(Imported {
                    missing: came.missing,
                    ..imported.await?
                })
            }
        }
    }

    fn hub(&self) -> Result<Hub> {
        let config = self.config();
        let endpoint = config
            .hub_endpoint
            .as_deref()
            .unwrap_or(swe_ci_hub::DEFAULT_ENDPOINT);
        let network = self.build_network()?;
        let hub = Hub::new(
            endpoint,
            config.hub_token.clone(),
            network.ca_bundle.as_deref(),
        );
        hub.map_err(|error| Error::Invalid(format!("{error:#}")))
    }

    async fn import_from(
        &self,
        folder: &Path,
        split: &str,
        source: &SplitSource,
        options: &ImportOptions,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Imported> {
        let inner = &self.inner;
        let importer = Importer {
            store: &inner.store,
            artifacts: &inner.artifacts,
            sandbox: self.sandbox(),
            shelf: &inner.shelf,
            folders: &inner.folders,
            limits: Limits::default(),
            options,
        };
        let rows = tokio::select! {
            rows = importer.import(folder, split, say) => rows?,
            never = self.keep_tidy() => match never {},
        };
        inner.store.put_origin(split, source).await?;
        Ok(Imported {
            split: split.to_owned(),
            tasks: rows.iter().map(TaskRow::summary).collect(),
            missing: Vec::new(),
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
        let options = ImportOptions::default();
        let source = SplitSource::Demo;
        self.import_from(&folder, demo::SPLIT, &source, &options, say)
            .await
    }

    pub(crate) fn build_network(&self) -> Result<BuildNetwork> {
        Ok(build_network(&self.inner.config)?)
    }

    /// Removes what a killed process left behind, then executes queued
    /// evolutions, and tells their owners, until `shutdown`; steps in flight are
    /// left resumable.
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
            makings: TaskTracker::new(),
        };
        let name = format!("{}/{}", inner.instance, std::process::id());
        tokio::select! {
            () = async {
                tokio::join!(
                    queue::work(&evolver, &name, inner.config.workers, &shutdown),
                    self.try_runs(&shutdown),
                    inner.courier.work(&shutdown),
                    Box::pin(self.curate_queued(&shutdown)),
                    Box::pin(async {
                        if inner.config.measure_style {
                            self.measure_ended(&shutdown).await;
                        }
                    }),
                );
            } => {}
            never = sweep_late(&inner.docker) => match never {},
            never = self.keep_tidy() => match never {},
            never = host::tell(&inner.events, &inner.ledgers, &inner.config.data) => match never {},
        }
        evolver.makings.close();
        let _ = tokio::time::timeout(BEING_MADE, evolver.makings.wait()).await;
        if let Err(error) = inner.docker.sweep(Left::ByAnyone).await {
            tracing::debug!("containers not swept on the way out: {error}");
        }
        Ok(())
    }

    /// The lock that makes this process the only one to work on the data
    /// folder.
    fn lock(&self) -> Result<std::fs::File> {
        let data = &self.inner.config.data;
        files::lock(&data.join("worker.lock"))?.ok_or_else(|| {
            Error::Conflict(format!(
                "another swe-ci server works on the data folder {}; stop it, or set SWE_CI_DATA to another folder",
                data.display()
            ))
        })
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

async fn inner_ping(docker: &Docker) -> Result<()> {
    docker
        .ping()
        .await
        .map_err(|error| Error::Unavailable(error.to_string()))
}
