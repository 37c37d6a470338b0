//! Progress of a long reading, and stopping it.

use std::ops::ControlFlow;

/// The progress of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Commits of the main branch found so far.
    Commits { found: usize },
    /// Commits whose dependencies were compared with those before.
    Compared { done: usize, of: usize },
    /// Subsequences judged so far. Reported more than once for one that changes
    /// many files.
    Judged { done: usize, of: usize },
}

/// Receives progress, and decides whether to continue.
pub type Watch<'w> = &'w dyn Fn(Progress) -> ControlFlow<()>;

/// The [`Watch`] stopped the reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("reading the repository was stopped on request")]
pub struct Stopped;

/// A watch that never stops the reading.
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Reports progress; an error if the watch stops the reading.
pub(crate) fn notify(watch: Watch<'_>, progress: Progress) -> Result<(), Stopped> {
    match watch(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Stopped),
    }
}
