//! Builds git histories for tests and benchmarks, without a work tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use git2::{Oid, Repository, Signature, Time};

/// The mode of a regular file.
pub const FILE: i32 = 0o100_644;
pub const LINK: i32 = 0o120_000;
pub const SUBMODULE: i32 = 0o160_000;
/// The time of the first commit, in Unix seconds: the start of 2020.
pub const START: i64 = 1_577_836_800;
/// Seconds between two commits.
pub const HOUR: i64 = 3_600;

/// A bare repository to which commits are added.
pub struct History {
    pub git: Repository,
    folder: PathBuf,
    files: BTreeMap<Vec<u8>, (i32, Oid)>,
    tip: Option<Oid>,
    commits: i64,
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("History").field(&self.folder).finish()
    }
}

impl History {
    /// A repository without commits whose `HEAD` is `main`.
    pub fn new(folder: &Path) -> anyhow::Result<Self> {
        let mut options = git2::RepositoryInitOptions::new();
        options.initial_head("main").external_template(false);
        Ok(Self {
            git: Repository::init_opts(folder, options.bare(true))?,
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
        let id = self.git.blob(bytes.as_ref())?;
        self.enter(path, FILE, id);
        Ok(())
    }

    pub fn link(&mut self, path: impl AsRef<[u8]>, leads: &str) -> anyhow::Result<()> {
        let id = self.git.blob(leads.as_bytes())?;
        self.enter(path, LINK, id);
        Ok(())
    }

    /// Adds any tree entry, even one whose object does not exist.
    pub fn enter(&mut self, path: impl AsRef<[u8]>, mode: i32, id: Oid) {
        self.files.insert(path.as_ref().to_vec(), (mode, id));
    }

    /// Removes a file, or a folder with its content.
    pub fn remove(&mut self, path: &str) {
        let inside = format!("{path}/");
        self.files
            .retain(|name, _| name != path.as_bytes() && !name.starts_with(inside.as_bytes()));
    }

    /// Commits to `main` on top of the last commit.
    pub fn commit(&mut self, message: &str) -> anyhow::Result<Oid> {
        self.merge(message, &[])
    }

    /// Commits to `main` with further parents.
    pub fn merge(&mut self, message: &str, others: &[Oid]) -> anyhow::Result<Oid> {
        let parents = self.tip.iter().chain(others).copied().collect::<Vec<_>>();
        let id = self.commit_on(message, &parents)?;
        self.git.reference("refs/heads/main", id, true, "")?;
        self.tip = Some(id);
        Ok(id)
    }

    /// Commits on top of any parents without moving a branch.
    pub fn commit_on(&mut self, message: &str, parents: &[Oid]) -> anyhow::Result<Oid> {
        let files: Vec<_> = self.files.iter().map(|(p, f)| (p.as_slice(), *f)).collect();
        let tree = self.git.find_tree(folder(&self.git, &files)?)?;
        let when = Time::new(START + self.commits * HOUR, 0);
        let author = Signature::new("Some One", "one@localhost", &when)?;
        self.commits += 1;
        let parents = parents.iter().map(|id| self.git.find_commit(*id));
        let parents = parents.collect::<Result<Vec<_>, _>>()?;
        let parents: Vec<_> = parents.iter().collect();
        Ok(self
            .git
            .commit(None, &author, &author, message, &tree, &parents)?)
    }

    /// Makes another commit the parent of the next one. The files stay as they
    /// are.
    pub fn go_on_from(&mut self, tip: Oid) {
        self.tip = Some(tip);
    }
}

type Files<'f> = [(&'f [u8], (i32, Oid))];

/// Writes a folder and its subfolders; `files` are in the order of their paths.
fn folder(git: &Repository, files: &Files<'_>) -> Result<Oid, git2::Error> {
    let mut builder = git.treebuilder(None)?;
    let mut rest = files;
    while let Some((path, (mode, id))) = rest.first() {
        let Some(slash) = path.iter().position(|byte| *byte == b'/') else {
            builder.insert(*path, *id, *mode)?;
            rest = &rest[1..];
            continue;
        };
        let prefix = &path[..=slash];
        let inside = rest.iter().take_while(|(path, _)| path.starts_with(prefix));
        let inside: Vec<_> = inside.map(|(path, f)| (&path[slash + 1..], *f)).collect();
        builder.insert(&path[..slash], folder(git, &inside)?, 0o040_000)?;
        rest = &rest[inside.len()..];
    }
    builder.write()
}
