//! Datasets: folders in the official layout
//! (`metadata/<split>.csv`, `data/<task>/{code.zip,image.tar.gz}`), read into
//! the store. The import tests every task at both ends before it can be run.

pub mod demo;
pub mod export;
pub mod harbor;
mod history;
mod import;
mod metadata;
pub mod pip;
mod prepare;
mod replay;
mod source;
mod split;
pub mod tiny;
mod trials;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::files;
use swe_ci_core::task::TaskId;
use swe_ci_store::TaskRow;
use swe_ci_store::artifacts::Artifacts;
use tokio::sync::Mutex;

pub use history::{CommitInfo, History, chunks};
pub use import::{ImportOptions, Importer};
pub use metadata::{TEST_COMMAND, TaskLine};
pub use metadata::{read as read_metadata, table as metadata_table};
pub use prepare::TaskPreparation;
pub use source::{Download, ImportSource};
pub use split::{dataset_digest, split_detail};
pub use {history::write as write_history, metadata::write as write_metadata};

/// The folder with the checkouts of imported tasks. Where several machines share
/// artifacts, a checkout that is missing here is fetched from there.
#[derive(Debug, Clone)]
pub struct TaskFolders {
    root: PathBuf,
    shared: Option<Artifacts>,
    /// One checkout is fetched at a time.
    fetching: Arc<Mutex<()>>,
}

impl TaskFolders {
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            shared: None,
            fetching: Arc::default(),
        }
    }

    #[must_use]
    pub fn shared_in(self, artifacts: Artifacts) -> Self {
        let shared = Some(artifacts);
        Self { shared, ..self }
    }

    /// The history of a task, fetched if it is not here.
    ///
    /// # Errors
    /// When it neither is here nor can be fetched.
    pub async fn fetched(&self, task: &TaskRow) -> anyhow::Result<History> {
        let history = self.history(&task.id);
        let Some(artifacts) = &self.shared else {
            return Ok(history);
        };
        let _guard = self.fetching.lock().await;
        if has_both_ends(&history, task).await? {
            return Ok(history);
        }
        let (id, key) = (&task.id, checkout_key(task));
        let checkout = self.checkout(id);
        let archive = files::beside(&checkout, "zip");
        let (parent, old) = (self.root.join(id.as_str()), archive.clone());
        blocking(move || {
            std::fs::create_dir_all(parent)?;
            // A killed process may have left one.
            Ok(
                std::fs::remove_file(old).or_else(|error| match error.kind() {
                    std::io::ErrorKind::NotFound => Ok(()),
                    _ => Err(error),
                })?,
            )
        })
        .await?;
        let fetched = artifacts.get_file(&key, &archive).await;
        fetched.with_context(|| {
            format!("the code of task {id} is not shared; run `swe-ci dataset share` where it was imported")
        })?;
        tracing::info!(task = %id, "checkout fetched");
        blocking(move || {
            files::unzip(&archive, &checkout, prepare::CHECKOUT)?;
            Ok(std::fs::remove_file(archive)?)
        })
        .await?;
        Ok(history)
    }

    /// Puts the checkout of a task where other machines find it; `false` when it
    /// is there already, or nothing is shared.
    pub async fn share(&self, task: &TaskRow) -> anyhow::Result<bool> {
        let Some(artifacts) = &self.shared else {
            return Ok(false);
        };
        let key = checkout_key(task);
        if artifacts.has(&key).await? {
            return Ok(false);
        }
        let checkout = self.checkout(&task.id);
        let archive = files::beside(&checkout, "share");
        let to = archive.clone();
        blocking(move || files::zip_folder(&checkout, &to)).await?;
        let shared = artifacts.put_file(&key, &archive).await;
        blocking(move || Ok(std::fs::remove_file(archive)?)).await?;
        shared.map(|()| true)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn history(&self, task: &TaskId) -> History {
        History::new(self.checkout(task))
    }

    pub fn checkout(&self, task: &TaskId) -> PathBuf {
        self.root.join(task.as_str()).join("code")
    }
}

async fn has_both_ends(history: &History, task: &TaskRow) -> anyhow::Result<bool> {
    let ends = [task.base_sha.clone(), task.target_sha.clone()];
    let history = history.clone();
    blocking(move || Ok(ends.iter().all(|sha| history.commit(sha).is_ok()))).await
}

/// The shared artifact with the checkout of a task.
fn checkout_key(task: &TaskRow) -> String {
    let TaskRow {
        id,
        base_sha,
        target_sha,
        ..
    } = task;
    format!("tasks/{id}/code-{base_sha}-{target_sha}.zip")
}

/// The file that lists the tasks of a split.
fn metadata_file(folder: &Path, split: &str) -> PathBuf {
    folder.join("metadata").join(format!("{split}.csv"))
}

/// The artifact with the test report of a task's base code.
pub fn base_report_of(task: &TaskRow) -> String {
    // Tasks prepared by earlier versions have it under their name.
    let named = || format!("tasks/{}/base-report.json.zst", task.id);
    task.base_report.clone().unwrap_or_else(named)
}

/// The key for a new base report: by its content, because runs keep the report
/// of the task as they were started on it.
fn base_report_key(task: &TaskId, report: &[u8]) -> String {
    format!("tasks/{task}/base-report-{}.json", sha256_hex(report))
}
