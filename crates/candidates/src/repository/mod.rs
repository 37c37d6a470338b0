//! Reads an untrusted git repository.

mod chain;
mod opening;
mod trees;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use git2::{ObjectType, Oid};

use crate::bounds;

pub use chain::Commit;
pub(crate) use chain::PROGRESS_INTERVAL;
pub(crate) use trees::{Difference, Kind};

/// A read-only repository, with or without a work tree. Its hooks, filters,
/// attributes and settings have no effect. Opening it is cheap; it cannot be
/// sent between threads. All methods block.
pub struct Repository {
    git: git2::Repository,
    folder: PathBuf,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Repository").field(&self.folder).finish()
    }
}

impl Repository {
    /// Opens the repository in exactly this folder: its `.git`, or the folder
    /// itself if it is bare.
    ///
    /// # Errors
    /// If it is not a repository, borrows objects from another, is a shallow
    /// clone, belongs to another user, or has a format libgit2 cannot read.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            git: opening::open(folder)?,
            folder: folder.to_owned(),
        })
    }

    /// The commit of a branch, tag or commit id.
    pub fn commit(&self, rev: &str) -> anyhow::Result<Oid> {
        let object = self.git.revparse_single(rev);
        let commit = object.and_then(|object| object.peel_to_commit());
        let commit = commit.with_context(|| {
            let folder = self.folder.display();
            format!("{folder} has no commit `{rev}`: name a branch, a tag or a commit id")
        })?;
        Ok(commit.id())
    }

    /// The bytes of a file; none if it is longer than `most`.
    pub(crate) fn blob(&self, id: Oid, most: usize) -> anyhow::Result<Option<Vec<u8>>> {
        let length = self.length(id, ObjectType::Blob)?;
        if length > most {
            return Ok(None);
        }
        let odb = self.git.odb()?;
        let object = odb.read(id).with_context(|| self.damaged(id, "file"))?;
        Ok(Some(object.data().to_vec()))
    }

    /// The length of an object, read from its header.
    pub(crate) fn length(&self, id: Oid, kind: ObjectType) -> anyhow::Result<usize> {
        let what = match kind {
            ObjectType::Commit => "commit",
            ObjectType::Tree => "folder",
            _ => "file",
        };
        let header = self.git.odb()?.read_header(id);
        let (length, found) = header.with_context(|| self.damaged(id, what))?;
        anyhow::ensure!(
            found == kind,
            "{}: it is actually a {found}",
            self.damaged(id, what)
        );
        Ok(length)
    }

    fn damaged(&self, id: Oid, what: &str) -> String {
        let folder = self.folder.display();
        format!(
            "the {what} {id} is missing or damaged in {folder}: \
             clone it again, completely and without `--filter` (`git fsck` lists the damage)"
        )
    }

    fn tree(&self, id: Oid) -> anyhow::Result<git2::Tree<'_>> {
        if self.length(id, ObjectType::Tree)? > bounds::FOLDER {
            let (what, most) = ("the bytes of a folder", bounds::FOLDER);
            return Err(bounds::BoundExceeded { what, most }.into());
        }
        let tree = self.git.find_tree(id);
        tree.with_context(|| self.damaged(id, "folder"))
    }
}
