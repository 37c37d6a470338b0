use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;

use super::checked::Checked;
use super::{Failure, Hub, HubError, Pinned, RemoteFile};

/// The shortest time between two reports.
const BETWEEN_REPORTS: Duration = Duration::from_millis(250);

/// How far a download is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Files that are in place and checked.
    pub files_done: usize,
    pub files: usize,
    /// Bytes that are here, those of earlier downloads among them. Fewer than
    /// before when a file had to start over.
    pub bytes_done: u64,
    pub bytes: u64,
}

impl Hub {
    /// Fetches files like [`Hub::fetch`], `parallel` at a time. A file that
    /// fails does not stop the others; the caller decides about those that are
    /// returned. `progress` is called at most four times a second, and once in
    /// the end; it must not block.
    ///
    /// # Errors
    /// Only when nothing was begun: [`HubError::Busy`], a folder that cannot
    /// be made, a file that is in the list twice.
    pub async fn fetch_all(
        &self,
        pinned: &Pinned,
        files: &[RemoteFile],
        into: &Path,
        parallel: usize,
        progress: &(dyn Fn(Progress) + Send + Sync),
    ) -> Result<Vec<Failure>, HubError> {
        let mut seen = HashSet::new();
        if let Some(twice) = files.iter().find(|file| !seen.insert(&file.path)) {
            return Err(HubError::Malformed {
                what: format!("the dataset {pinned}"),
                why: format!("`{}` is in the list twice", twice.path),
            });
        }
        let checked = Checked::open(into).await?;
        let meter = Meter::new(files, progress);
        let (meter, checked) = (&meter, &checked);
        // By number: a stream of borrowed files could not go to another thread.
        let failures = futures::stream::iter(0..files.len())
            .map(|number| self.fetch_one(pinned, &files[number], checked, meter))
            .buffer_unordered(parallel.max(1))
            .filter_map(std::future::ready)
            .collect()
            .await;
        meter.last();
        Ok(failures)
    }

    async fn fetch_one(
        &self,
        pinned: &Pinned,
        file: &RemoteFile,
        checked: &Arc<Checked>,
        meter: &Meter<'_>,
    ) -> Option<Failure> {
        let here = Mutex::new(0);
        let report = |now: u64| meter.moved(&here, now);
        match self.fetch_into(pinned, file, checked, &report).await {
            Ok(()) => {
                meter.finished();
                None
            }
            Err(error) => Some(Failure {
                file: file.clone(),
                error,
            }),
        }
    }
}

/// Adds up what the files report.
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
        let state = Mutex::new(State {
            now,
            reported: None,
        });
        Self { progress, state }
    }

    /// `here` bytes of a file were here, and now so many.
    fn moved(&self, here: &Mutex<u64>, now: u64) {
        let mut here = here.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *here, now);
        self.change(|progress| {
            let others = progress.bytes_done.saturating_sub(before);
            progress.bytes_done = others.saturating_add(now);
        });
    }

    fn finished(&self) {
        self.change(|progress| progress.files_done += 1);
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

    fn last(&self) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (self.progress)(state.now);
    }
}
