//! Facts about a repository from its git objects, for deciding whether to
//! collect it (paper, section 3.1, step 1). They do not include its stars.

mod declared_licence;
mod licence;
mod rules;

use std::path::Path;

use serde::{Deserialize, Serialize};
use swe_ci_git::{EntryKind, ObjectId, Repository};

pub use licence::Licence;
pub use rules::{CollectRules, Licences, Refusal};

use crate::bounds;
use crate::dependencies::is_declaration;
use crate::files::{self, Class};
use crate::repository::{Commit, first_parents, open_repository};
use crate::text;
use crate::watch::{Watch, notify};

/// A count of paths with the first few as examples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathSample {
    pub count: usize,
    /// The first ten.
    pub first: Vec<String>,
}

impl PathSample {
    const SHOWN: usize = 10;

    pub(crate) fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(name());
        }
    }

    fn counted(&self, what: &str) -> String {
        let first = self.first.first().map_or("", String::as_str);
        format!("{} {what} (first: {first})", self.count)
    }
}

/// The files of one commit, and the history that leads to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub commit: String,
    /// Commits up to this one, along the first parents.
    pub commits: usize,
    /// When the first commit and this one were made, in Unix seconds. Times
    /// before 1970 are wrong and are skipped.
    pub first_time: i64,
    pub last_time: i64,
    /// Years of 365.25 days between the two.
    pub age_years: f64,
    /// Files and links.
    pub files: usize,
    /// Python outside of tests.
    pub source_files: usize,
    /// Modules in `tests/` in which pytest looks for tests.
    pub test_modules: usize,
    /// Test files anywhere: [`crate::is_test`].
    pub test_files: usize,
    /// Files that list its requirements: `pyproject.toml`, `setup.py`, ….
    pub manifests: Vec<String>,
    /// `uv.lock`, `Pipfile.lock`, ….
    pub lock_files: Vec<String>,
    /// From licence files in the root and from manifests.
    pub licences: Vec<Licence>,
    /// Licence files whose text was not recognised.
    pub unknown_licences: Vec<String>,
    pub submodules: PathSample,
    /// Git LFS pointers.
    pub lfs_pointers: PathSample,
    pub links_outside: PathSample,
}

/// Reads the facts at a commit, branch or tag. `HEAD` means the last commit of
/// the main branch.
///
/// # Errors
/// If the repository or one of its objects cannot be read, or the commit has
/// more files than [`bounds::ENTRIES`]; [`crate::Stopped`] if the watch stopped
/// the reading.
pub fn facts(folder: &Path, rev: &str, watch: Watch<'_>) -> anyhow::Result<Facts> {
    let repository = open_repository(folder)?;
    let commit = match rev {
        "HEAD" => repository.tip(None)?,
        rev => repository.commit(rev)?,
    };
    let chain = first_parents(&repository, commit, watch)?;
    let found = chain.len();
    notify(watch, crate::Progress::Commits { found })?;
    let mut facts = history_facts(&chain);
    let listed = count_paths(&repository, repository.root(commit)?, &mut facts)?;
    for (path, id) in listed.files {
        read_file(&repository, &path, id, &mut facts)?;
    }
    for (path, id) in listed.links {
        let leads = repository.blob(id, bounds::PATH)?.unwrap_or_default();
        if leaves_repository(&path, &leads) {
            facts.links_outside.add(|| displayed(&path));
        }
    }
    facts.licences.sort_by(|a, b| a.file.cmp(&b.file));
    facts.licences.dedup();
    Ok(facts)
}

const SECONDS_A_YEAR: f64 = 365.25 * 86_400.0;

fn history_facts(chain: &[Commit]) -> Facts {
    let times = || chain.iter().map(|commit| commit.time);
    let first_time = times().find(|time| *time > 0).unwrap_or_default();
    let last_time = times().next_back().unwrap_or_default();
    let seconds = last_time.saturating_sub(first_time).max(0);
    Facts {
        commit: chain.last().map(|c| c.id.to_string()).unwrap_or_default(),
        commits: chain.len(),
        first_time,
        last_time,
        age_years: seconds as f64 / SECONDS_A_YEAR,
        ..Facts::default()
    }
}

/// Files whose contents have to be read.
#[derive(Default)]
struct FilesToRead {
    files: Vec<(Vec<u8>, ObjectId)>,
    links: Vec<(Vec<u8>, ObjectId)>,
}

/// Counts the facts that follow from the paths alone.
fn count_paths(
    repository: &Repository,
    tree: ObjectId,
    facts: &mut Facts,
) -> anyhow::Result<FilesToRead> {
    let mut listed = FilesToRead::default();
    repository.list(tree, |path, id, kind| match kind {
        EntryKind::Folder => {}
        EntryKind::Submodule => facts.submodules.add(|| displayed(path)),
        EntryKind::Link => {
            facts.files += 1;
            listed.links.push((path.to_vec(), id));
        }
        EntryKind::File { .. } => {
            facts.files += 1;
            facts.test_modules += usize::from(files::is_run_test(path));
            match files::class(path) {
                Class::Source => facts.source_files += 1,
                Class::Tests => facts.test_files += 1,
                Class::Other => {}
            }
            listed.files.push((path.to_vec(), id));
        }
    })?;
    Ok(listed)
}

fn read_file(
    repository: &Repository,
    path: &[u8],
    id: ObjectId,
    facts: &mut Facts,
) -> anyhow::Result<()> {
    let length = repository.blob_length(id)?;
    if LFS_LENGTHS.contains(&length)
        && is_lfs_pointer(&repository.blob(id, length)?.unwrap_or_default())
    {
        facts.lfs_pointers.add(|| displayed(path));
    }
    let Ok(path) = str::from_utf8(path) else {
        return Ok(());
    };
    let licence = |spdx| Licence {
        spdx,
        file: path.to_owned(),
    };
    if let Some(source) = is_declaration(path) {
        let bytes = repository.blob(id, bounds::BLOB)?.unwrap_or_default();
        let text = text::decoded(&bytes);
        if source.is_lock() {
            facts.lock_files.push(path.to_owned());
        } else if source.is_manifest(&text) {
            facts.manifests.push(path.to_owned());
        }
        let licences = declared_licence::declared(source, &text).into_iter();
        facts.licences.extend(licences.map(licence));
    }
    if licence::is_licence_file(path) {
        let bytes = repository.blob(id, bounds::LICENCE)?.unwrap_or_default();
        match licence::recognised(&text::decoded(&bytes)) {
            Some(spdx) => facts.licences.push(licence(spdx.to_owned())),
            None => facts.unknown_licences.push(path.to_owned()),
        }
    }
    Ok(())
}

/// Lengths of LFS pointers; the specification allows no longer ones.
const LFS_LENGTHS: std::ops::Range<usize> = 100..1024;

pub(crate) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    LFS_LENGTHS.contains(&bytes.len())
        && bytes.starts_with(b"version https://git-lfs.github.com/spec/")
}

/// Whether a link points out of the repository, or into its `.git`.
fn leaves_repository(link: &[u8], leads: &[u8]) -> bool {
    if leads.is_empty() || leads.starts_with(b"/") {
        return true;
    }
    let mut depth = link.iter().filter(|byte| **byte == b'/').count();
    for name in leads.split(|byte| *byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." if depth == 0 => return true,
            b".." => depth -= 1,
            b".git" => return true,
            _ => depth += 1,
        }
    }
    false
}

fn displayed(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave() {
        let check = |link: &str, leads: &str, expect: bool| {
            let found = leaves_repository(link.as_bytes(), leads.as_bytes());
            assert_eq!(found, expect, "{link} → {leads}");
        };
        check("a", "b", false);
        check("a", "./b/../c", false);
        check("x/a", "../b", false);
        check("x/a", "../../b", true);
        check("a", "..", true);
        check("a", "b/../../c", true);
        check("a", "/etc/passwd", true);
        check("a", ".git/config", true);
        check("a", "", true);
    }
}
