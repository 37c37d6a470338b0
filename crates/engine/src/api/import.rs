//! Importing datasets: from a folder, from a hub, and the demo split.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::task::{TaskId, is_plain_name};
use swe_ci_dataset::{Download, ImportOptions, ImportSource, Importer, demo};
use swe_ci_hub::{DatasetId, Hub, Revision};
use swe_ci_sandbox::{Sandbox, host};
use swe_ci_store::TaskRow;
use swe_ci_views::account::AccountRole;
use swe_ci_views::background::{BackgroundWork, WorkKind};
use swe_ci_views::dataset::{ImportRoom, SplitSource};
use swe_ci_views::view::{TaskState, TaskSummary};

use crate::background::{ANY, Reporter, Work};
use crate::{Engine, Say, as_u32};

/// The result of a dataset import, task by task.
#[derive(Debug, Clone)]
pub struct Imported {
    pub split: String,
    pub tasks: Vec<TaskSummary>,
    /// Tasks that could not be downloaded, with the reason; another import
    /// continues with them.
    pub missing: Vec<(TaskId, String)>,
}

/// How long a page waits for the hub.
const ROOM_WAIT: Duration = Duration::from_secs(20);

/// "98 of 100 tasks can be run, 1 was not downloaded".
impl fmt::Display for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ready = self
            .tasks
            .iter()
            .filter(|task| task.state == TaskState::Ready);
        let all = self.tasks.len() + self.missing.len();
        write!(f, "{} of {all} tasks can be run", ready.count())?;
        match self.missing.first() {
            None => Ok(()),
            Some((task, why)) => write!(
                f,
                "; {} could not be downloaded, first {task}: {why}; import again to continue",
                self.missing.len()
            ),
        }
    }
}

#[swe_ci_boxed::boxed]
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

    /// What the import of a split from the hub would download; for
    /// administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the hub has no such dataset or split, or the
    /// source is no dataset on the hub; [`Error::Unavailable`] when the hub does
    /// not answer.
    pub async fn import_room(&self, from: &str, split: &str) -> Result<ImportRoom> {
        let (dataset, revision) = self.hub_dataset(from, split)?;
        let download = Download {
            hub: &self.hub()?,
            dataset: &dataset,
            revision: &revision,
            split,
            only: &[],
            say: &|_| (),
        };
        let data = &self.config().data;
        let datasets = data.join("datasets");
        // Downloads are patient with a hub that does not answer; readers are not.
        let room = tokio::time::timeout(ROOM_WAIT, download.room(&datasets)).await;
        let (tasks, bytes) = room.map_err(|_| {
            Error::Unavailable("the hub does not answer; try again in a few minutes".into())
        })??;
        Ok(ImportRoom {
            tasks: as_u32(tasks),
            bytes,
            free_bytes: host::free_bytes(data),
        })
    }

    /// Queues [`Engine::import`] of a split from the hub for a worker. After a
    /// failure the same call continues it.
    ///
    /// # Errors
    /// As [`Engine::import_room`]; [`Error::Conflict`] while another import is
    /// at work.
    pub async fn start_import(&self, from: &str, split: &str) -> Result<()> {
        let (dataset, revision) = self.hub_dataset(from, split)?;
        let source = ImportSource::Hub { dataset, revision };
        let detail = format!("split {split} from {source}");
        let (from, split) = (from.to_owned(), split.to_owned());
        self.queue_work(&Work::Import { from, split }).await?;
        self.store.note_import(self.by(), &detail).await
    }

    pub(crate) async fn import_in_background(
        &self,
        from: &str,
        split: &str,
        reporter: &Reporter,
    ) -> Result<String> {
        let (dataset, revision) = self.hub_dataset(from, split)?;
        let source = ImportSource::Hub { dataset, revision };
        let say = |line: String| reporter.say(line);
        let options = ImportOptions::default();
        let imported = self.import(source, split, &options, &say).await?;
        Ok(imported.to_string())
    }

    /// The import that a page started last; for administrators.
    pub async fn import_work(&self) -> Result<Option<BackgroundWork>> {
        self.require(AccountRole::Admin)?;
        self.last_work(WorkKind::Import, ANY).await
    }

    fn hub_dataset(&self, from: &str, split: &str) -> Result<(DatasetId, Revision)> {
        self.require(AccountRole::Admin)?;
        if !is_plain_name(split) {
            let rule = "a split’s name has letters, digits, `.`, `_` and `-`, and no `.` first";
            return Err(Error::Invalid(rule.into()));
        }
        match ImportSource::on_hub(from).map_err(Error::Invalid)? {
            ImportSource::Hub { dataset, revision } => Ok((dataset, revision)),
            ImportSource::Folder(_) => Err(Error::Invalid(
                "write the name of a dataset on the hub, OWNER/NAME".into(),
            )),
        }
    }

    pub(super) fn hub(&self) -> Result<Hub> {
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
        if self.config.artifacts.is_some() || self.config.registry.is_some() {
            self.share(split, say).await?;
        }
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
        // A newcomer waits for it.
        let options = ImportOptions {
            repeats: 3,
            ..ImportOptions::default()
        };
        let source = SplitSource::Demo;
        self.import_from(&folder, demo::SPLIT, &source, &options, say)
            .await
    }
}
