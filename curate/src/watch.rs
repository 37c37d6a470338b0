//! How far a long reading is, and stopping it.

use std::ops::ControlFlow;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Commits of the main branch found so far.
    Commits { found: usize },
    /// Commits whose dependencies were compared with those before.
    Compared { done: usize, of: usize },
    /// Subsequences whose ends were looked at. Told more than once for one
    /// that changes many files.
    Judged { done: usize, of: usize },
}

/// Hears how far it is, and says whether to go on.
pub type Watch<'w> = &'w dyn Fn(Progress) -> ControlFlow<()>;

/// The error of a reading that its [`Watch`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("reading the repository was stopped on request")]
pub struct Stopped;

/// For those who do not watch.
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tells, and stops if that is the answer.
pub(crate) fn tell(watch: Watch<'_>, progress: Progress) -> Result<(), Stopped> {
    match watch(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Stopped),
    }
}
