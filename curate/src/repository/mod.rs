//! A git repository that somebody else made.

mod chain;
mod open;
mod trees;

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use git2::{ObjectType, Oid};

use crate::bounds;

pub use chain::Commit;
pub(crate) use chain::PACE;
pub(crate) use trees::{Difference, Kind};

/// A repository that is read from, with or without a work tree. Nothing of it
/// is obeyed: no hooks, filters, attributes or settings. May not travel between
/// threads; opening it is cheap. All methods block.
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
    /// Opens the repository of this very folder: its `.git`, or itself.
    ///
    /// # Errors
    /// If it is none, borrows objects from another, is a shallow copy, belongs
    /// to another user, or has a format libgit2 does not read.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            git: open::open(folder)?,
            folder: folder.to_owned(),
        })
    }

    /// The commit that is meant by a branch, tag or commit id; none is `HEAD`.
    pub fn commit(&self, rev: &str) -> anyhow::Result<Oid> {
        let object = self.git.revparse_single(rev);
        let commit = object.and_then(|object| object.peel_to_commit());
        let commit = commit.with_context(|| {
            let folder = self.folder.display();
            format!("{folder} has no commit `{rev}`: name a branch, a tag or a commit id")
        })?;
        Ok(commit.id())
    }

    /// The tree of a commit.
    pub(crate) fn tree_of(&self, rev: &str) -> anyhow::Result<Oid> {
        let id = self.commit(rev)?;
        let commit = self.git.find_commit(id);
        let commit = commit.with_context(|| self.damaged(id, "commit"))?;
        Ok(commit.tree_id())
    }

    /// The bytes of a file, or none if it is longer than that.
    pub(crate) fn blob(&self, id: Oid, most: usize) -> anyhow::Result<Option<Vec<u8>>> {
        let length = self.length(id, ObjectType::Blob)?;
        if length > most {
            return Ok(None);
        }
        let odb = self.git.odb()?;
        let object = odb.read(id).with_context(|| self.damaged(id, "file"))?;
        Ok(Some(object.data().to_vec()))
    }

    /// The length of an object, without unpacking all of it.
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
            "{}: it is a {found} in truth",
            self.damaged(id, what)
        );
        Ok(length)
    }

    fn damaged(&self, id: Oid, what: &str) -> String {
        let folder = self.folder.display();
        format!(
            "the {what} {id} is missing or damaged in {folder}: \
             clone it again, whole and without `--filter` (`git fsck` lists what is wrong)"
        )
    }

    fn tree(&self, id: Oid) -> anyhow::Result<git2::Tree<'_>> {
        if self.length(id, ObjectType::Tree)? > bounds::FOLDER {
            let (what, most) = ("the bytes of a folder", bounds::FOLDER);
            return Err(bounds::Exceeded { what, most }.into());
        }
        let tree = self.git.find_tree(id);
        tree.with_context(|| self.damaged(id, "folder"))
    }
}
