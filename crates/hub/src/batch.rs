//! Downloads of many files, with their joint progress.

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;

use super::download_folder::DownloadFolder;
use super::{Failure, Hub, HubError, Pinned, RemoteFile};

/// The shortest time between two progress reports.
const BETWEEN_REPORTS: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files that are in place and checked.
    pub files_done: usize,
    pub files: usize,
    /// Downloaded bytes, including those of earlier downloads. Decreases when a
    /// file has to start over.
    pub bytes_done: u64,
    pub bytes: u64,
}

impl Hub {
    /// Downloads files like [`Hub::fetch`], `parallel` at a time. A failing
    /// file does not stop the others; the caller decides about the returned
    /// failures. `progress` is called at most four times a second and once at
    /// the end; it must not block.
    ///
    /// # Errors
    /// Only when no download was started: [`HubError::Busy`], a folder that
    /// cannot be created, or a duplicate in the list.
    pub async fn fetch_all(
        &self,
        pinned: &Pinned,
        files: &[RemoteFile],
        into: &Path,
        parallel: usize,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Vec<Failure>, HubError> {
        let mut paths = HashSet::new();
        if let Some(duplicate) = files.iter().find(|file| !paths.insert(&file.path)) {
            return Err(HubError::Malformed {
                what: format!("the dataset {pinned}"),
                why: format!("`{}` is in the list twice", duplicate.path),
            });
        }
        let folder = DownloadFolder::open(into).await?;
        let meter = Meter::new(files, progress);
        let (meter, folder) = (&meter, &folder);
        // By index: a stream of borrowed files could not move to another
        // thread.
        let failures = futures::stream::iter(0..files.len())
            .map(|number| self.fetch_one(pinned, &files[number], folder, meter))
            .buffer_unordered(parallel.max(1))
            .filter_map(std::future::ready)
            .collect()
            .await;
        meter.report_last();
        Ok(failures)
    }

    async fn fetch_one(
        &self,
        pinned: &Pinned,
        file: &RemoteFile,
        folder: &Arc<DownloadFolder>,
        meter: &Meter<'_>,
    ) -> Option<Failure> {
        let counted = AtomicU64::new(0);
        let report = |bytes: u64| meter.set_bytes(&counted, bytes);
        let fetched = self.fetch_into(pinned, file, folder, &report).await;
        let failure = fetched.err().map(|error| Failure {
            file: file.clone(),
            error,
        });
        if failure.is_none() {
            meter.change(|progress| progress.files_done += 1);
        }
        failure
    }
}

/// Sums up the progress of the files.
struct Meter<'p> {
    progress: &'p (dyn Fn(Progress) + Send + Sync),
    state: Mutex<State>,
}

struct State {
    now: Progress,
    reported: Option<Instant>,
}

impl<'p> Meter<'p> {
    fn new(files: &[RemoteFile], progress: &'p (dyn Fn(Progress) + Send + Sync)) -> Self {
        let now = Progress {
            files_done: 0,
            files: files.len(),
            bytes_done: 0,
            bytes: files
                .iter()
                .fold(0, |sum, file| sum.saturating_add(file.size)),
        };
        let reported = None;
        let state = Mutex::new(State { now, reported });
        Self { progress, state }
    }

    /// Replaces the bytes counted so far for one file.
    fn set_bytes(&self, counted: &AtomicU64, bytes: u64) {
        let before = counted.swap(bytes, Ordering::Relaxed);
        self.change(|progress| {
            let others = progress.bytes_done.saturating_sub(before);
            progress.bytes_done = others.saturating_add(bytes);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state.now);
        let due = |at: Instant| at.elapsed() >= BETWEEN_REPORTS;
        if state.reported.is_none_or(due) {
            state.reported = Some(Instant::now());
            (self.progress)(state.now);
        }
    }

    fn report_last(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (self.progress)(state.now);
    }
}
