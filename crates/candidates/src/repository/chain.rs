//! The linear history of a branch.

use anyhow::{Context, bail, ensure};
use git2::{ErrorCode, ObjectType, Oid, Reference};

use super::Repository;
use crate::bounds;
use crate::watch::{Progress, Watch, notify};

/// A commit of the main branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit {
    pub id: Oid,
    /// The tree with its files.
    pub tree: Oid,
    /// The committer's time, in Unix seconds.
    pub time: i64,
}

/// Commits between two progress reports.
pub(crate) const PROGRESS_INTERVAL: usize = 1_000;

impl Repository {
    /// The last commit of a local branch or one of `origin`. Without a name, of
    /// the main branch: the one `HEAD` points to.
    ///
    /// # Errors
    /// If the branch does not exist or has no commits; names the existing ones.
    pub fn tip(&self, branch: Option<&str>) -> anyhow::Result<Oid> {
        let reference = match branch {
            Some(branch) => self.branch(branch)?,
            None => self.head()?,
        };
        let commit = reference.peel_to_commit().with_context(|| {
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            format!("`{name}` of {} is not a commit", self.folder.display())
        })?;
        Ok(commit.id())
    }

    fn head(&self) -> anyhow::Result<Reference<'_>> {
        let folder = self.folder.display();
        match self.git.head() {
            Ok(head) => Ok(head),
            Err(error) if self.names().is_empty() && error.code() != ErrorCode::GenericError => {
                bail!("{folder} has no commits yet")
            }
            Err(error) => Err(error).with_context(|| {
                let names = self.names().join("`, `");
                format!("HEAD of {folder} is not an existing branch: name one of `{names}`")
            }),
        }
    }

    fn branch(&self, name: &str) -> anyhow::Result<Reference<'_>> {
        let mut full = vec![
            format!("refs/heads/{name}"),
            format!("refs/remotes/origin/{name}"),
        ];
        full.extend(name.starts_with("refs/").then(|| name.to_owned()));
        let mut found = full.iter().map(|full| self.git.find_reference(full));
        found.find_map(Result::ok).with_context(|| {
            let (folder, names) = (self.folder.display(), self.names().join("`, `"));
            format!("{folder} has no branch `{name}`: name one of `{names}`")
        })
    }

    /// A few branch names, for messages.
    fn names(&self) -> Vec<String> {
        let branches = self.git.branches(None).into_iter().flatten().flatten();
        let name = |(branch, _): (git2::Branch<'_>, _)| {
            let name = branch.name_bytes().ok()?;
            Some(String::from_utf8_lossy(name).into_owned())
        };
        branches.filter_map(name).take(10).collect()
    }

    /// A commit and its ancestors along the first parents, oldest first: the
    /// linear sequence of section 3.1. Merged branches are not part of it.
    ///
    /// # Errors
    /// If a commit is missing, there are more than [`bounds::COMMITS`], or the
    /// watch stops the reading.
    pub fn first_parents(&self, tip: Oid, watch: Watch<'_>) -> anyhow::Result<Vec<Commit>> {
        let mut chain = Vec::new();
        let mut next = Some(tip);
        while let Some(id) = next {
            ensure!(
                chain.len() < bounds::COMMITS,
                "{} has more than {} commits, which is too many for tasks",
                self.folder.display(),
                bounds::COMMITS
            );
            let (commit, parent) = self.link(id)?;
            chain.push(commit);
            next = parent;
            if chain.len() % PROGRESS_INTERVAL == 0 {
                notify(watch, Progress::Commits { found: chain.len() })?;
            }
        }
        chain.reverse();
        Ok(chain)
    }

    fn link(&self, id: Oid) -> anyhow::Result<(Commit, Option<Oid>)> {
        let length = self.length(id, ObjectType::Commit)?;
        ensure!(
            length <= bounds::COMMIT,
            "the commit {id} has {length} bytes, more than the limit of {}",
            bounds::COMMIT
        );
        let commit = self.git.find_commit(id);
        let commit = commit.with_context(|| self.damaged(id, "commit"))?;
        let link = Commit {
            id,
            tree: commit.tree_id(),
            time: commit.time().seconds(),
        };
        Ok((link, commit.parent_ids().next()))
    }

    pub(crate) fn root(&self, id: Oid) -> anyhow::Result<Oid> {
        Ok(self.link(id)?.0.tree)
    }
}
