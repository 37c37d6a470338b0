//! Builds git histories for tests and benchmarks, without a work tree.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use swe_ci_git::{ObjectId, ObjectKind, testing};

/// The mode of a regular file.
pub const FILE: u32 = 0o100_644;
pub const FOLDER: u32 = 0o040_000;
pub const LINK: u32 = 0o120_000;
pub const SUBMODULE: u32 = 0o160_000;
/// The time of the first commit, in Unix seconds: the start of 2020.
pub const START: i64 = 1_577_836_800;
/// Seconds between two commits.
pub const HOUR: i64 = 3_600;

/// A bare repository to which commits are added.
#[derive(Debug)]
pub struct History {
    folder: PathBuf,
    files: BTreeMap<Vec<u8>, (u32, ObjectId)>,
    tip: Option<ObjectId>,
    commits: i64,
}

impl History {
    /// A repository without commits whose `HEAD` is `main`.
    pub fn new(folder: &Path) -> anyhow::Result<Self> {
        testing::create(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            files: BTreeMap::new(),
            tip: None,
            commits: 0,
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn write(&mut self, path: impl AsRef<[u8]>, bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
        let id = self.object(ObjectKind::Blob, bytes)?;
        self.enter(path, FILE, id);
        Ok(())
    }

    pub fn link(&mut self, path: impl AsRef<[u8]>, leads: &str) -> anyhow::Result<()> {
        let id = self.object(ObjectKind::Blob, leads)?;
        self.enter(path, LINK, id);
        Ok(())
    }

    /// Adds any tree entry, even one whose object does not exist.
    pub fn enter(&mut self, path: impl AsRef<[u8]>, mode: u32, id: ObjectId) {
        self.files.insert(path.as_ref().to_vec(), (mode, id));
    }

    /// Removes a file, or a folder with its content.
    pub fn remove(&mut self, path: &str) {
        let inside = format!("{path}/");
        self.files
            .retain(|name, _| name != path.as_bytes() && !name.starts_with(inside.as_bytes()));
    }

    /// Commits to `main` on top of the last commit.
    pub fn commit(&mut self, message: &str) -> anyhow::Result<ObjectId> {
        self.merge(message, &[])
    }

    /// Commits to `main` with further parents.
    pub fn merge(&mut self, message: &str, others: &[ObjectId]) -> anyhow::Result<ObjectId> {
        let parents = self.tip.iter().chain(others).copied().collect::<Vec<_>>();
        let id = self.commit_on(message, &parents)?;
        self.reference("refs/heads/main", id)?;
        self.tip = Some(id);
        Ok(id)
    }

    /// Commits on top of any parents without moving a branch.
    pub fn commit_on(&mut self, message: &str, parents: &[ObjectId]) -> anyhow::Result<ObjectId> {
        let files: Vec<_> = self.files.iter().map(|(p, f)| (p.as_slice(), *f)).collect();
        let tree = self.tree_of(&files)?;
        let time = START + self.commits * HOUR;
        self.commits += 1;
        let parents = parents.iter().map(|id| format!("parent {id}\n"));
        let parents = parents.collect::<String>();
        let person = format!("Some One <one@localhost> {time} +0000");
        let commit =
            format!("tree {tree}\n{parents}author {person}\ncommitter {person}\n\n{message}");
        Ok(self.object(ObjectKind::Commit, commit)?)
    }

    /// Makes another commit the parent of the next one. The files stay as they
    /// are.
    pub fn go_on_from(&mut self, tip: ObjectId) {
        self.tip = Some(tip);
    }

    /// Writes any object, even an invalid one.
    pub fn object(&self, kind: ObjectKind, bytes: impl AsRef<[u8]>) -> io::Result<ObjectId> {
        testing::write_object(&self.folder, kind, bytes.as_ref())
    }

    /// Writes a tree with these entries, in git's sequence.
    pub fn tree(&self, entries: &[(u32, &[u8], ObjectId)]) -> io::Result<ObjectId> {
        testing::write_tree(&self.folder, entries)
    }

    /// Makes a reference, such as `refs/heads/main`, point to an object.
    pub fn reference(&self, name: &str, id: ObjectId) -> io::Result<()> {
        testing::write_reference(&self.folder, name, id)
    }

    /// Writes a folder and its subfolders; `files` are in the order of their
    /// paths.
    fn tree_of(&self, files: &Files<'_>) -> io::Result<ObjectId> {
        let mut entries = Vec::new();
        let mut rest = files;
        while let Some((path, (mode, id))) = rest.first() {
            let Some(slash) = path.iter().position(|byte| *byte == b'/') else {
                entries.push((*mode, *path, *id));
                rest = &rest[1..];
                continue;
            };
            let prefix = &path[..=slash];
            let inside = rest.iter().take_while(|(path, _)| path.starts_with(prefix));
            let inside: Vec<_> = inside.map(|(path, f)| (&path[slash + 1..], *f)).collect();
            entries.push((FOLDER, &path[..slash], self.tree_of(&inside)?));
            rest = &rest[inside.len()..];
        }
        self.tree(&entries)
    }
}

type Files<'f> = [(&'f [u8], (u32, ObjectId))];
