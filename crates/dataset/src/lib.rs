//! Datasets: folders in the official layout
//! (`metadata/<split>.csv`, `data/<task>/{code.zip,image.tar.gz}`), read into
//! the store. The import tests every task at both ends before it can be run.

pub mod demo;
pub mod export;
mod history;
mod import;
mod metadata;
pub mod pip;
mod prepare;
mod replay;
mod source;
mod split;
pub mod tiny;

use std::path::{Path, PathBuf};

use swe_ci_base::digest::sha256_hex;
use swe_ci_core::task::TaskId;
use swe_ci_store::TaskRow;

pub use history::{CommitInfo, History, chunks};
pub use import::{ImportOptions, Importer};
pub use metadata::{TEST_COMMAND, TaskLine};
pub use metadata::{read as read_metadata, table as metadata_table};
pub use prepare::TaskPreparation;
pub use source::{Download, ImportSource};
pub use split::{dataset_digest, split_detail};
pub use {history::write as write_history, metadata::write as write_metadata};

/// The folder with the checkouts of imported tasks.
#[derive(Debug, Clone)]
pub struct TaskFolders {
    root: PathBuf,
}

impl TaskFolders {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
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
