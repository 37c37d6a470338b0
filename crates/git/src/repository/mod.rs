//! Reads an untrusted git repository.

mod opening;
mod references;
mod trees;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use tempfile::TempDir;

use crate::bounds::{self, BoundExceeded};
use crate::command::command;
use crate::object_id::{ObjectId, ObjectKind};
use crate::object_reader::{Header, ObjectReader};
use crate::objects::{self, CommitObject};

pub use trees::Difference;

/// A read-only repository, with or without a work tree. Its settings, hooks,
/// filters, attributes, grafts and replacements have no effect, and nothing is
/// fetched. All methods block. Threads cannot share it.
pub struct Repository {
    objects: RefCell<ObjectReader>,
    /// Whether a file was too long. From then on their lengths are asked for
    /// first: each that is too long would end a process.
    was_too_long: Cell<bool>,
    /// Our git folder, in which git works.
    git_folder: TempDir,
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
    /// If it is not a repository, borrows objects from another, or has a format
    /// that is unknown or newer than this machine's git.
    pub fn open(folder: &Path) -> anyhow::Result<Self> {
        let git_folder = opening::open(folder)?;
        Ok(Self {
            objects: RefCell::new(ObjectReader::new(git_folder.path())),
            was_too_long: Cell::new(false),
            git_folder,
            folder: folder.to_owned(),
        })
    }

    /// The folder it was opened in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the history was cut off when it was cloned.
    pub fn is_shallow(&self) -> bool {
        let commits = self.git_folder.path().join("shallow").metadata();
        commits.is_ok_and(|commits| commits.len() > 0)
    }

    /// # Errors
    /// If the commit is missing, damaged or longer than [`bounds::COMMIT`].
    pub fn read_commit(&self, id: ObjectId) -> anyhow::Result<CommitObject> {
        let (kind, most) = (ObjectKind::Commit, bounds::COMMIT);
        let Some(content) = self.read(id, kind, most)? else {
            let length = self.header_of(id, kind)?.length;
            bail!("the commit {id} has {length} bytes, more than the limit of {most}");
        };
        objects::commit(&content).with_context(|| self.damaged(id, kind))
    }

    /// The tree with the files of a commit.
    ///
    /// # Errors
    /// See [`Self::read_commit`].
    pub fn root(&self, commit: ObjectId) -> anyhow::Result<ObjectId> {
        Ok(self.read_commit(commit)?.tree)
    }

    /// The bytes of a file; none if it is longer than `most`.
    ///
    /// # Errors
    /// If the file is missing or damaged.
    pub fn blob(&self, id: ObjectId, most: usize) -> anyhow::Result<Option<Vec<u8>>> {
        if self.was_too_long.get() && self.blob_length(id)? > most {
            return Ok(None);
        }
        let content = self.read(id, ObjectKind::Blob, most)?;
        self.was_too_long
            .set(self.was_too_long.get() || content.is_none());
        Ok(content)
    }

    /// The bytes of a file, counted without reading it.
    ///
    /// # Errors
    /// If the file is missing or damaged.
    pub fn blob_length(&self, id: ObjectId) -> anyhow::Result<usize> {
        Ok(self.header_of(id, ObjectKind::Blob)?.length)
    }

    fn tree(&self, id: ObjectId) -> anyhow::Result<Vec<u8>> {
        let (what, most) = ("the bytes of a folder", bounds::FOLDER);
        let tree = self.read(id, ObjectKind::Tree, most)?;
        Ok(tree.ok_or(BoundExceeded { what, most })?)
    }

    /// The content of an object; none if it is longer than `most`.
    fn read(&self, id: ObjectId, kind: ObjectKind, most: usize) -> anyhow::Result<Option<Vec<u8>>> {
        let content = self.objects.borrow_mut().content(id, kind, most)?;
        if content.is_none() {
            let header = self.header_of(id, kind)?;
            ensure!(header.length > most, self.damaged(id, kind));
        }
        Ok(content)
    }

    fn header_of(&self, id: ObjectId, kind: ObjectKind) -> anyhow::Result<Header> {
        let Some(header) = self.header(&id.to_string())? else {
            bail!(self.damaged(id, kind));
        };
        ensure!(
            header.kind == kind,
            "{}: it is actually a {}",
            self.damaged(id, kind),
            header.kind
        );
        Ok(header)
    }

    fn header(&self, revision: &str) -> anyhow::Result<Option<Header>> {
        self.objects.borrow_mut().header(revision)
    }

    fn damaged(&self, id: ObjectId, kind: ObjectKind) -> String {
        let what = match kind {
            ObjectKind::Commit => "commit",
            ObjectKind::Tree => "folder",
            ObjectKind::Blob => "file",
            ObjectKind::Tag => "tag",
        };
        let folder = self.folder.display();
        format!(
            "the {what} {id} is missing or damaged in {folder}: \
             clone it again, completely and without `--filter` (`git fsck` lists the damage)"
        )
    }

    /// git, in our git folder.
    fn git(&self) -> Command {
        let mut git = command();
        git.env("GIT_DIR", self.git_folder.path());
        git
    }
}
