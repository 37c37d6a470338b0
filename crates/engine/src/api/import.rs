//! Importing datasets: from a folder, from a hub, and the demo split.

use std::path::Path;

use anyhow::Context;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::task::TaskId;
use swe_ci_dataset::{Download, ImportOptions, ImportSource, Importer, demo};
use swe_ci_hub::Hub;
use swe_ci_sandbox::Sandbox;
use swe_ci_store::TaskRow;
use swe_ci_views::account::AccountRole;
use swe_ci_views::dataset::SplitSource;
use swe_ci_views::view::TaskSummary;

use crate::{Engine, Say};

/// The result of a dataset import, task by task.
#[derive(Debug, Clone)]
pub struct Imported {
    pub split: String,
    pub tasks: Vec<TaskSummary>,
    /// Tasks that could not be downloaded, with the reason; another import
    /// continues with them.
    pub missing: Vec<(TaskId, String)>,
}

impl Engine {
    /// Imports a split of a dataset, from a folder in the official layout or a
    /// hub, and reports progress; for administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the metadata file is invalid, or the hub does
    /// not have it; [`Error::Unavailable`] when the container engine or the hub
    /// fails, or the disk is full.
    pub async fn import(
        &self,
        source: impl Into<ImportSource>,
        split: &str,
        options: &ImportOptions,
        say: Say<'_>,
    ) -> Result<Imported> {
        self.require(AccountRole::Admin)?;
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
                let got = download.run(&datasets).await?;
                if got.tasks.is_empty() {
                    let why = got.missing.first().map_or("", |(_, why)| why);
                    let problem = format!("no task could be downloaded: {why}");
                    return Err(Error::Unavailable(problem));
                }
                let options = ImportOptions {
                    only: got.tasks,
                    ..options.clone()
                };
                let imported = self.import_from(&got.folder, split, &got.source, &options, say);
                Ok(Imported {
                    missing: got.missing,
                    ..imported.await?
                })
            }
        }
    }

    fn hub(&self) -> Result<Hub> {
        let config = self.config();
        let endpoint = config.hub_endpoint.as_deref();
        let endpoint = endpoint.unwrap_or(swe_ci_hub::DEFAULT_ENDPOINT);
        let ca_bundle = self.config.build_network()?.ca_bundle;
        let hub = Hub::new(endpoint, config.hub_token.clone(), ca_bundle.as_deref());
        hub.map_err(|error| Error::Invalid(format!("{error:#}")))
    }

    async fn import_from(
        &self,
        folder: &Path,
        split: &str,
        source: &SplitSource,
        options: &ImportOptions,
        say: Say<'_>,
    ) -> Result<Imported> {
        let importer = Importer {
            store: &self.store,
            artifacts: &self.artifacts,
            sandbox: self.sandbox(),
            image_cache: &self.image_cache,
            folders: &self.folders,
            options,
        };
        let rows = tokio::select! {
            rows = importer.import(folder, split, say) => rows?,
            never = self.enforce_quota() => match never {},
        };
        self.store.put_origin(split, source).await?;
        Ok(Imported {
            split: split.to_owned(),
            tasks: rows.iter().map(TaskRow::summary).collect(),
            missing: Vec::new(),
        })
    }

    /// Creates the demo split from release histories and imports it; for
    /// administrators.
    pub async fn import_demo(&self, say: Say<'_>) -> Result<Imported> {
        self.require(AccountRole::Admin)?;
        let config = &self.config;
        let answer = self.docker.ping().await;
        answer.map_err(|error| Error::Unavailable(error.to_string()))?;
        let folder = config.data.join("datasets").join(demo::SPLIT);
        let network = self.config.build_network()?;
        let builder = demo::DemoBuilder {
            images: &self.images,
            sandbox: &self.docker,
            base_image: &config.base_image,
            network: &network,
            index: config.package_index.as_deref(),
            cache: &config.data.join("cache").join("sdists"),
            say,
        };
        let made = builder.make(&folder).await;
        made.context("cannot create the demo split")?;
        let options = ImportOptions::default();
        let source = SplitSource::Demo;
        self.import_from(&folder, demo::SPLIT, &source, &options, say)
            .await
    }
}
