//! Branches, and the commits between two others.

use anyhow::{Context, bail};

use super::Repository;
use crate::command::checked;
use crate::object_id::{ObjectId, ObjectKind};

/// A reference by its full name, such as `refs/heads/main`.
struct Reference {
    name: String,
    id: ObjectId,
}

impl Repository {
    /// The commit of a branch, tag or commit id.
    ///
    /// # Errors
    /// If there is none.
    pub fn commit(&self, revision: &str) -> anyhow::Result<ObjectId> {
        let commit = self.header(&format!("{revision}^{{commit}}"))?;
        let commit = commit.with_context(|| {
            let folder = self.folder.display();
            format!("{folder} has no commit `{revision}`: name a branch, a tag or a commit id")
        })?;
        Ok(commit.id)
    }

    /// The last commit of a local branch or one of `origin`. Without a name, of
    /// the main branch: the one `HEAD` points to.
    ///
    /// # Errors
    /// If the branch does not exist or has no commits; names the existing ones.
    pub fn tip(&self, branch: Option<&str>) -> anyhow::Result<ObjectId> {
        let Reference { name, id } = match branch {
            Some(branch) => self.branch(branch)?,
            None => self.head()?,
        };
        if let Some(commit) = self.header(&format!("{id}^{{commit}}"))? {
            return Ok(commit.id);
        }
        match self.header(&id.to_string())? {
            Some(_) => bail!("`{name}` of {} is not a commit", self.folder.display()),
            None => bail!(self.damaged(id, ObjectKind::Commit)),
        }
    }

    /// The reference `HEAD` points to, or `HEAD` itself if it is detached.
    fn head(&self) -> anyhow::Result<Reference> {
        let name = self.output(&["symbolic-ref", "--quiet", "HEAD"]);
        let found = match name {
            Ok(name) => self.first_of(&[name.trim_end().to_owned()])?,
            Err(_) => {
                let id = self.output(&["rev-parse", "--verify", "--quiet", "HEAD"]);
                let id = id.unwrap_or_default().trim_end().parse().ok();
                let name = "HEAD".to_owned();
                id.map(|id| Reference { name, id })
            }
        };
        if let Some(found) = found {
            return Ok(found);
        }
        let (folder, names) = (self.folder.display(), self.names());
        if names.is_empty() {
            bail!("{folder} has no commits yet");
        }
        let names = names.join("`, `");
        bail!("HEAD of {folder} is not an existing branch: name one of `{names}`")
    }

    fn branch(&self, name: &str) -> anyhow::Result<Reference> {
        let mut full = vec![
            format!("refs/heads/{name}"),
            format!("refs/remotes/origin/{name}"),
        ];
        full.extend(name.starts_with("refs/").then(|| name.to_owned()));
        self.first_of(&full)?.with_context(|| {
            let (folder, names) = (self.folder.display(), self.names().join("`, `"));
            format!("{folder} has no branch `{name}`: name one of `{names}`")
        })
    }

    /// The first of these references that exists.
    fn first_of(&self, full: &[String]) -> anyhow::Result<Option<Reference>> {
        // No reference has such a name, and no program such an argument.
        if full.iter().any(|name| name.contains(char::is_control)) {
            return Ok(None);
        }
        let mut arguments = vec!["for-each-ref", "--format=%(objectname) %(refname)", "--"];
        arguments.extend(full.iter().map(String::as_str));
        // Git takes the names for patterns, and finds more.
        let listed = self.output(&arguments)?;
        let named = |name: &String| {
            let mut lines = listed.lines().filter_map(|line| line.split_once(' '));
            let (id, _) = lines.find(|(_, found)| found == name)?;
            let (id, name) = (id.parse().ok()?, name.clone());
            Some(Reference { name, id })
        };
        Ok(full.iter().find_map(named))
    }

    /// A few branch names, for messages.
    fn names(&self) -> Vec<String> {
        let arguments = ["for-each-ref", "--count=10", "--format=%(refname:lstrip=2)"];
        let listed = self.output(&[&arguments[..], &["refs/heads", "refs/remotes"]].concat());
        let names = listed.unwrap_or_default();
        names.lines().map(str::to_owned).collect()
    }

    /// The commits after `base` up to `target`, oldest first, along the first
    /// parents.
    ///
    /// # Errors
    /// If a commit is missing or damaged.
    pub fn between(&self, base: ObjectId, target: ObjectId) -> anyhow::Result<Vec<ObjectId>> {
        let range = format!("{base}..{target}");
        let order = ["rev-list", "--first-parent", "--topo-order", "--reverse"];
        let listed = self.output(&[&order[..], &[&range, "--"]].concat())?;
        listed.lines().map(|id| Ok(id.parse()?)).collect()
    }

    fn output(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = checked(self.git().args(arguments).output())?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }
}
