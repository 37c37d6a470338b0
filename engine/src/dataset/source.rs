//! Where a dataset is taken from: a folder, or a hub.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use swe_ci_core::dataset::SplitSource;
use swe_ci_core::task::TaskId;
use swe_ci_hub::{
    DatasetId, Failure, Hub, HubError, Pinned, Progress, RemoteFile, Revision, bytes_missing,
};

use super::{TaskLine, metadata};
use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::host;

/// Files fetched at a time: a hub gives one connection less than most lines
/// carry.
const AT_A_TIME: usize = 4;
/// How often the state of a download is told.
const EVERY: Duration = Duration::from_secs(5);

/// Where a dataset is taken from: a path, or `hf:owner/name` with `@revision`
/// behind it or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportSource {
    Folder(PathBuf),
    Hub {
        dataset: DatasetId,
        revision: Revision,
    },
}

impl FromStr for ImportSource {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let Some(name) = text.strip_prefix("hf:") else {
            return Ok(Self::Folder(text.into()));
        };
        let (dataset, revision) = match name.split_once('@') {
            Some((dataset, revision)) => (dataset, revision.parse()),
            None => (name, Ok(Revision::default())),
        };
        Ok(Self::Hub {
            dataset: dataset.parse().map_err(|e| format!("{e}"))?,
            revision: revision.map_err(|e| format!("{e}"))?,
        })
    }
}

impl From<&Path> for ImportSource {
    fn from(folder: &Path) -> Self {
        Self::Folder(folder.to_owned())
    }
}

impl fmt::Display for ImportSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Hub { dataset, revision } => write!(f, "hf:{dataset}@{}", revision.as_str()),
        }
    }
}

/// A split as it was downloaded.
#[derive(Debug)]
pub struct Downloaded {
    pub source: SplitSource,
    /// In the official layout.
    pub folder: PathBuf,
    /// Tasks whose files are all there.
    pub tasks: Vec<TaskId>,
    /// The others, each with the first trouble.
    pub missing: Vec<(TaskId, String)>,
}

/// A download from a hub.
pub struct Download<'a> {
    pub hub: &'a Hub,
    pub dataset: &'a DatasetId,
    pub revision: &'a Revision,
    pub split: &'a str,
    /// Only these tasks; all when empty.
    pub only: &'a [TaskId],
    pub say: &'a (dyn Fn(String) + Send + Sync),
}

impl Download<'_> {
    /// Brings a split into a folder below `datasets`. What is there already is
    /// not fetched again, what was interrupted goes on where it was.
    pub async fn run(&self, datasets: &Path) -> Result<Downloaded> {
        let pinned = self.hub.pin(self.dataset, self.revision).await?;
        (self.say)(format!("{}, commit {}", self.dataset, pinned.commit()));
        let folder = datasets.join(format!("hf-{}", self.dataset.as_str().replace('/', "--")));
        let lines = self.lines(&pinned, &folder).await?;
        let wanted: Vec<TaskId> = lines.into_iter().map(|line| line.task_id).collect();
        let files = self.hub.list(&pinned, "data").await?;
        let files: Vec<RemoteFile> = files
            .into_iter()
            .filter(|file| {
                task_of(file).is_some_and(|task| wanted.iter().any(|id| id.as_str() == task))
            })
            .collect();
        let failures = self.fetch(&pinned, &files, &folder).await?;
        let failed = |id: &TaskId| {
            let of_it = |failure: &&Failure| task_of(&failure.file) == Some(id.as_str());
            failures
                .iter()
                .find(of_it)
                .map(|failure| failure.error.to_string())
        };
        let (missing, tasks): (Vec<_>, Vec<_>) = wanted
            .into_iter()
            .map(|id| (failed(&id), id))
            .partition(|(failure, _)| failure.is_some());
        let named = |(failure, id): (Option<String>, TaskId)| (id, failure.unwrap_or_default());
        Ok(Downloaded {
            source: SplitSource::Hub {
                dataset: self.dataset.to_string(),
                revision: self.revision.as_str().to_owned(),
                commit: pinned.commit().to_owned(),
            },
            folder,
            tasks: tasks.into_iter().map(|(_, id)| id).collect(),
            missing: missing.into_iter().map(named).collect(),
        })
    }

    /// The split's tasks that are wanted.
    async fn lines(&self, pinned: &Pinned, folder: &Path) -> Result<Vec<TaskLine>> {
        let path = format!("metadata/{}.csv", self.split);
        let listed = self.hub.list(pinned, "metadata").await?;
        let Some(file) = listed.iter().find(|file| file.path.as_str() == path) else {
            let there = self.hub.splits(pinned).await?.join(", ");
            return Err(Error::Invalid(format!(
                "{} has no split `{}`; there are: {there}",
                self.dataset, self.split
            )));
        };
        self.hub.fetch(pinned, file, folder, &|_| {}).await?;
        let csv = folder.join(path);
        let only = self.only.to_vec();
        let lines = blocking(move || metadata::read_only(&csv, &only)).await;
        let lines = lines.map_err(|error| Error::Invalid(format!("{error:#}")))?;
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }

    async fn fetch(
        &self,
        pinned: &Pinned,
        files: &[RemoteFile],
        folder: &Path,
    ) -> Result<Vec<Failure>> {
        let missing = blocking({
            let (files, folder) = (files.to_vec(), folder.to_owned());
            move || Ok(bytes_missing(&files, &folder)?)
        });
        let missing = missing.await?;
        host::make_sure_of(folder, missing)?;
        (self.say)(format!(
            "{} files, {} MiB to fetch",
            files.len(),
            missing >> 20
        ));
        let told = Mutex::new(Instant::now());
        let progress = |progress: Progress| {
            let mut told = told
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let over = progress.files_done == progress.files;
            if told.elapsed() >= EVERY || over {
                *told = Instant::now();
                (self.say)(format!(
                    "{} of {} files, {} of {} MiB",
                    progress.files_done,
                    progress.files,
                    progress.bytes_done >> 20,
                    progress.bytes >> 20
                ));
            }
        };
        let fetched = self
            .hub
            .fetch_all(pinned, files, folder, AT_A_TIME, &progress);
        Ok(fetched.await?)
    }
}

impl From<HubError> for Error {
    fn from(error: HubError) -> Self {
        match error {
            HubError::GaveUp { .. } | HubError::Busy { .. } => Self::Unavailable(error.to_string()),
            HubError::Disk { .. } => Self::Internal(error.into()),
            // What was asked for is not to be had: another name, token or mirror
            // may be.
            HubError::NotFound { .. }
            | HubError::Denied { .. }
            | HubError::Status { .. }
            | HubError::Redirect { .. }
            | HubError::Malformed { .. }
            | HubError::TooLong { .. }
            | HubError::Mismatch { .. } => Self::Invalid(error.to_string()),
        }
    }
}

/// The task a file belongs to: `data/<task>/…`.
fn task_of(file: &RemoteFile) -> Option<&str> {
    let rest = file.path.as_str().strip_prefix("data/")?;
    rest.split_once('/').map(|(task, _)| task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_or_a_name_on_the_hub() {
        let check = |text: &str, expect: &str| {
            let source = text.parse::<ImportSource>();
            let found = source.map_or_else(|e| e, |source| source.to_string());
            assert!(found.contains(expect), "{text}: {found}");
        };
        check("./folder", "./folder");
        check("/data/hf", "/data/hf");
        check("hf:skylenage-ai/SWE-CI", "hf:skylenage-ai/SWE-CI@main");
        check("hf:o/n@v1.0", "hf:o/n@v1.0");
        check("hf:o/n/x", "o/n/x");
        check("hf:", "``");
    }
}
