//! The files a configuration is read from, and the build system they name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use swe_ci_git::bounds::ListingBudget;
use swe_ci_git::{EntryKind, ObjectId, Repository};

use crate::bounds;
use crate::text::decoded;

/// Files of a repository by their path from its root. Files longer than
/// [`bounds::BLOB`] are not read.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Whether a configuration may be read from the file of this path: files of the
/// root by their kind, all files in `requirements/`, and workflows.
pub fn is_project_file(path: &str) -> bool {
    const NAMES: [&str; 2] = ["Pipfile", "PKG-INFO"];
    const KINDS: [&str; 7] = [".toml", ".cfg", ".ini", ".py", ".txt", ".in", ".lock"];
    match path.split_once('/') {
        Some(_) if is_workflow(path) => true,
        Some((folder, file)) => folder == REQUIREMENTS && !file.contains('/'),
        None => NAMES.contains(&path) || KINDS.iter().any(|kind| path.ends_with(kind)),
    }
}

const REQUIREMENTS: &str = "requirements";

/// Whether it is a workflow of GitHub.
pub(super) fn is_workflow(path: &str) -> bool {
    let file = path.strip_prefix(".github/workflows/");
    file.is_some_and(|file| file.ends_with(".yml") || file.ends_with(".yaml"))
}

/// The files of a commit that [`is_project_file`] names, without links and
/// files longer than [`bounds::BLOB`].
pub fn project_files(repository: &Repository, commit: ObjectId) -> anyhow::Result<Files> {
    let mut found: Vec<(String, ObjectId)> = Vec::new();
    let mut left = ListingBudget::default();
    let mut folders = vec![(String::new(), repository.root(commit)?)];
    while let Some((folder, tree)) = folders.pop() {
        repository.list_here(tree, |name, id, kind| {
            left.spend(name)?;
            let Ok(name) = str::from_utf8(name) else {
                return Ok(());
            };
            let path = format!("{folder}{name}");
            match kind {
                EntryKind::File { .. } if is_project_file(&path) => found.push((path, id)),
                EntryKind::Folder if path == REQUIREMENTS => folders.push((format!("{path}/"), id)),
                _ => {}
            }
            Ok(())
        })?;
    }
    let mut files = Files::new();
    for (path, id) in found {
        if let Some(bytes) = repository.blob(id, bounds::BLOB)? {
            files.insert(path, bytes);
        }
    }
    Ok(files)
}

/// The text of a file; none if it is absent or too long.
pub(super) fn text<'f>(files: &'f Files, path: &str) -> Option<Cow<'f, str>> {
    let bytes = files.get(path);
    let bytes = bytes.filter(|bytes| bytes.len() <= bounds::BLOB)?;
    Some(decoded(bytes))
}

/// The `[build-system]` table of PEP 518; empty for legacy setuptools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildSystem {
    pub requires: Vec<String>,
    pub backend: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_configuration() {
        for path in [
            "pyproject.toml",
            "setup.py",
            "tox.ini",
            "Pipfile",
            "PKG-INFO",
            "requirements/test.in",
        ] {
            assert!(is_project_file(path), "{path}");
        }
        for path in [
            "README.md",
            "src/setup.py",
            "requirements/a/b.txt",
            "docs/requirements.txt",
        ] {
            assert!(!is_project_file(path), "{path}");
        }
    }
}
