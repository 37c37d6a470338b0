//! The repository and the linear history of a branch.

use std::path::Path;

use anyhow::ensure;
use swe_ci_git::{ObjectId, Repository};

use crate::bounds;
use crate::watch::{Progress, Watch, notify};

/// A commit of the main branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit {
    pub id: ObjectId,
    /// The tree with its files.
    pub tree: ObjectId,
    /// The committer's time, in Unix seconds.
    pub time: i64,
}

/// Commits between two progress reports.
pub(crate) const PROGRESS_INTERVAL: usize = 1_000;

/// Opens a repository with its full history.
///
/// # Errors
/// See [`Repository::open`]; if it is a shallow clone.
pub fn open_repository(folder: &Path) -> anyhow::Result<Repository> {
    let repository = Repository::open(folder)?;
    ensure!(
        !repository.is_shallow(),
        "{} is a shallow clone without the full history: run `git fetch --unshallow`",
        folder.display()
    );
    Ok(repository)
}

/// A commit and its ancestors along the first parents, oldest first: the
/// linear sequence of section 3.1. Merged branches are not part of it.
///
/// # Errors
/// If a commit is missing, there are more than [`bounds::COMMITS`], or the
/// watch stops the reading.
pub fn first_parents(
    repository: &Repository,
    tip: ObjectId,
    watch: Watch<'_>,
) -> anyhow::Result<Vec<Commit>> {
    let mut chain = Vec::new();
    let mut next = Some(tip);
    while let Some(id) = next {
        ensure!(
            chain.len() < bounds::COMMITS,
            "{} has more than {} commits, which is too many for tasks",
            repository.folder().display(),
            bounds::COMMITS
        );
        let commit = repository.read_commit(id)?;
        chain.push(Commit {
            id,
            tree: commit.tree,
            time: commit.time,
        });
        next = commit.parents.first().copied();
        if chain.len() % PROGRESS_INTERVAL == 0 {
            notify(watch, Progress::Commits { found: chain.len() })?;
        }
    }
    chain.reverse();
    Ok(chain)
}
