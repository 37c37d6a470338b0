//! The source of a dataset: a folder, or a hub to download it from.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::task::TaskId;
use swe_ci_hub::{
    DatasetId, Failure, Hub, HubError, Pinned, Progress, RemoteFile, Revision, bytes_missing,
};
use swe_ci_sandbox::host;
use swe_ci_views::dataset::SplitSource;

use super::{TaskLine, metadata};

/// Files fetched concurrently: hubs limit a connection to less than the usual
/// bandwidth.
const MAX_CONCURRENT_FILES: usize = 4;
/// The interval of progress reports.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// The source of a dataset: a path, or `hf:owner/name` with an optional
/// `@revision`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportSource {
    Folder(PathBuf),
    Hub {
        dataset: DatasetId,
        revision: Revision,
    },
}

impl ImportSource {
    /// A dataset on the hub, as people name it: `owner/name`, with or without
    /// `hf:` and `@revision`, or the address of its page.
    pub fn on_hub(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim().trim_end_matches('/');
        let name = match text.split_once("/datasets/") {
            Some((host, name)) if host.starts_with("http") => name,
            _ => text.strip_prefix("hf:").unwrap_or(text),
        };
        // The address of a folder of a revision.
        let mut parts = name.splitn(4, '/');
        let name = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(owner), Some(name), Some("tree"), Some(revision)) => {
                format!("{owner}/{name}@{revision}")
            }
            _ => name.to_owned(),
        };
        format!("hf:{name}").parse()
    }
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

#[derive(Debug)]
pub struct Downloaded {
    pub source: SplitSource,
    /// In the official layout.
    pub folder: PathBuf,
    /// Tasks with all their files.
    pub tasks: Vec<TaskId>,
    /// The other tasks, each with its first error.
    pub missing: Vec<(TaskId, String)>,
}

#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct Download<'a> {
    pub hub: &'a Hub,
    pub dataset: &'a DatasetId,
    pub revision: &'a Revision,
    pub split: &'a str,
    /// Only these tasks; all if empty.
    pub only: &'a [TaskId],
    pub say: &'a (dyn Fn(String) + Send + Sync),
}

/// The files to have of a split.
struct Wanted {
    pinned: Pinned,
    folder: PathBuf,
    tasks: Vec<TaskId>,
    files: Vec<RemoteFile>,
}

impl Download<'_> {
    /// The number of tasks, and the bytes that are still to be downloaded into a
    /// folder below `datasets`.
    pub async fn room(&self, datasets: &Path) -> Result<(usize, u64)> {
        let wanted = self.wanted(datasets).await?;
        let missing = missing(&wanted.files, &wanted.folder).await?;
        Ok((wanted.tasks.len(), missing))
    }

    async fn wanted(&self, datasets: &Path) -> Result<Wanted> {
        let pinned = self.hub.pin(self.dataset, self.revision).await;
        let pinned = pinned.map_err(hub_error)?;
        (self.say)(format!("{}, commit {}", self.dataset, pinned.commit()));
        let folder = datasets.join(format!("hf-{}", self.dataset.as_str().replace('/', "--")));
        let lines = self.lines(&pinned, &folder).await?;
        let tasks: Vec<TaskId> = lines.into_iter().map(|line| line.task_id).collect();
        let files = self.hub.list(&pinned, "data").await.map_err(hub_error)?;
        let is_wanted = |task: &str| tasks.iter().any(|id| id.as_str() == task);
        let files = files.into_iter();
        let files = files.filter(|file| task_of(file).is_some_and(is_wanted));
        Ok(Wanted {
            files: files.collect(),
            pinned,
            folder,
            tasks,
        })
    }

    /// Downloads a split into a folder below `datasets`. It skips files that exist
    /// and resumes interrupted ones.
    pub async fn run(&self, datasets: &Path) -> Result<Downloaded> {
        let Wanted {
            pinned,
            folder,
            tasks: wanted,
            files,
        } = self.wanted(datasets).await?;
        let failures = self.fetch(&pinned, &files, &folder).await?;
        let (mut tasks, mut missing) = (Vec::new(), Vec::new());
        for id in wanted {
            let mut failures = failures.iter();
            match failures.find(|failure| task_of(&failure.file) == Some(id.as_str())) {
                Some(failure) => missing.push((id, failure.error.to_string())),
                None => tasks.push(id),
            }
        }
        Ok(Downloaded {
            source: SplitSource::Hub {
                dataset: self.dataset.to_string(),
                revision: self.revision.as_str().to_owned(),
                commit: pinned.commit().to_owned(),
            },
            folder,
            tasks,
            missing,
        })
    }

    /// The lines of the requested tasks.
    async fn lines(&self, pinned: &Pinned, folder: &Path) -> Result<Vec<TaskLine>> {
        let path = format!("metadata/{}.csv", self.split);
        let listed = self.hub.list(pinned, "metadata").await.map_err(hub_error)?;
        let Some(file) = listed.iter().find(|file| file.path.as_str() == path) else {
            let splits = self.hub.splits(pinned).await.map_err(hub_error)?.join(", ");
            return Err(Error::Invalid(format!(
                "{} has no split `{}`; there are: {splits}",
                self.dataset, self.split
            )));
        };
        let fetched = self.hub.fetch(pinned, file, folder, &|_| {}).await;
        fetched.map_err(hub_error)?;
        let csv = folder.join(path);
        let only = self.only.to_vec();
        let lines = blocking(move || metadata::read_tasks(&csv, &only)).await;
        let lines = lines.map_err(|error| Error::Invalid(format!("{error:#}")))?;
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }

    async fn fetch(
        &self,
        pinned: &Pinned,
        files: &[RemoteFile],
        folder: &Path,
    ) -> Result<Vec<Failure>> {
        let missing = missing(files, folder).await?;
        host::ensure_free_space(folder, missing)?;
        (self.say)(format!(
            "{} files, {} MiB to fetch",
            files.len(),
            missing >> 20
        ));
        let last_report = Mutex::new(Instant::now());
        let progress = |progress: Progress| {
            let mut last_report = last_report
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let done = progress.files_done == progress.files;
            if last_report.elapsed() >= REPORT_INTERVAL || done {
                *last_report = Instant::now();
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
            .fetch_all(pinned, files, folder, MAX_CONCURRENT_FILES, &progress);
        fetched.await.map_err(hub_error)
    }
}

/// The bytes of these files that a folder lacks.
async fn missing(files: &[RemoteFile], folder: &Path) -> Result<u64> {
    let (files, folder) = (files.to_vec(), folder.to_owned());
    Ok(blocking(move || Ok(bytes_missing(&files, &folder)?)).await?)
}

/// Classifies an error of the hub by what the caller can do about it.
fn hub_error(error: HubError) -> Error {
    match error {
        HubError::GaveUp { .. } | HubError::Busy { .. } => Error::Unavailable(error.to_string()),
        HubError::Disk { .. } => Error::Internal(error.into()),
        // Another name, token or mirror may work.
        _ => Error::Invalid(error.to_string()),
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

    #[test]
    fn a_dataset_on_the_hub_as_people_name_it() {
        let check = |text: &str, expect: &str| {
            let source = ImportSource::on_hub(text);
            let found = source.map_or_else(|e| e, |source| source.to_string());
            assert!(found.contains(expect), "{text}: {found}");
        };
        check("skylenage-ai/SWE-CI", "hf:skylenage-ai/SWE-CI@main");
        check(" hf:o/n@v1.0 ", "hf:o/n@v1.0");
        check("https://huggingface.co/datasets/o/n", "hf:o/n@main");
        check("https://hub.example.org/datasets/o/n/", "hf:o/n@main");
        check(
            "https://huggingface.co/datasets/o/n/tree/v1.0",
            "hf:o/n@v1.0",
        );
        // A folder of the server is no dataset on the hub.
        check("/data/hf", "/data/hf");
        check("../etc/x", "../etc/x");
        check("", "``");
    }
}
