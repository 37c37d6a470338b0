//! Datasets: folders in the official layout
//! (`metadata/<split>.csv`, `data/<task>/{code.zip,image.tar.gz}`), read into
//! the store. Every task is tested at both ends before it may be run.

pub mod demo;
pub mod export;
mod history;
mod import;
mod metadata;
pub mod pip;
mod prepare;
mod source;
pub mod tiny;

use std::path::{Path, PathBuf};

use swe_ci_core::task::TaskId;

pub use history::{CommitInfo, History};
pub use import::{ImportOptions, Importer};
pub use metadata::TaskLine;
pub(crate) use metadata::{read as read_metadata, table as metadata_table};
pub use prepare::Workbench;
pub use source::{Download, ImportSource};
pub(crate) use {history::write as write_history, metadata::write as write_metadata};

/// Where the checkouts of imported tasks stand.
#[derive(Debug, Clone)]
pub struct TaskFolders {
    root: PathBuf,
}

impl TaskFolders {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The git checkout of a task.
    pub fn history(&self, task: &TaskId) -> History {
        History::new(self.checkout(task))
    }

    pub(crate) fn checkout(&self, task: &TaskId) -> PathBuf {
        self.root.join(task.as_str()).join("code")
    }
}

/// Artifact with the report of a task's base code.
pub fn base_report_key(task: &TaskId) -> String {
    format!("tasks/{task}/base-report.json")
}
