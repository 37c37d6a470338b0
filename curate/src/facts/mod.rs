//! What a repository is, as far as its objects tell: for deciding whether to
//! collect it (paper, section 3.1, step 1). Its stars are not among them.

mod declared_licence;
mod licence;
mod rules;

use std::path::Path;

use git2::Oid;
use serde::{Deserialize, Serialize};

pub use licence::Licence;
pub use rules::{CollectRules, Licences, Refusal};

use crate::bounds;
use crate::dependencies::is_declaration;
use crate::files::{self, Class};
use crate::repository::{Commit, Kind, Repository};
use crate::text;
use crate::watch::{Watch, tell};

/// Some things, of which there may be very many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Few {
    pub count: usize,
    /// The first of them.
    pub first: Vec<String>,
}

impl Few {
    const SHOWN: usize = 10;

    pub(crate) fn add(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(name());
        }
    }
}

/// What there is at one commit, and in the history that leads to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The commit the files are of.
    pub commit: String,
    /// Commits up to it, along the first parents.
    pub commits: usize,
    /// When the first and this one were committed, in Unix seconds. Times
    /// before 1970 are nobody's and are passed over.
    pub first_time: i64,
    pub last_time: i64,
    /// Between the two, in years of 365.25 days.
    pub age_years: f64,
    /// Files and links.
    pub files: usize,
    /// Python outside of tests.
    pub source_files: usize,
    /// Modules in `tests/` that pytest looks for tests in.
    pub test_modules: usize,
    /// Files that count as tests, wherever they are: [`crate::is_test`].
    pub test_files: usize,
    /// Files that say what it needs: `pyproject.toml`, `setup.py`, ….
    pub manifests: Vec<String>,
    /// `uv.lock`, `Pipfile.lock`, ….
    pub lock_files: Vec<String>,
    /// Of files in the root and of what manifests say, each with its file.
    pub licences: Vec<Licence>,
    /// Licence files whose text is none that is known here.
    pub unknown_licences: Vec<String>,
    /// Folders that are other repositories.
    pub submodules: Few,
    /// Files whose contents are elsewhere, at a server of Git LFS.
    pub lfs_pointers: Few,
    /// Links to what is not in the repository.
    pub links_outside: Few,
}

/// Reads what there is at a commit, branch or tag; `HEAD` is the last commit
/// of the main branch.
///
/// # Errors
/// If the repository or an object of it cannot be read, or has more files than
/// [`bounds::ENTRIES`]; [`crate::Stopped`] if the watch said so.
pub fn facts(folder: &Path, rev: &str, watch: Watch<'_>) -> anyhow::Result<Facts> {
    let repository = Repository::open(folder)?;
    let commit = match rev {
        "HEAD" => repository.tip(None)?,
        rev => repository.commit(rev)?,
    };
    let chain = repository.first_parents(commit, watch)?;
    let found = chain.len();
    tell(watch, crate::Progress::Commits { found })?;
    let mut facts = of_history(&chain);
    let listed = look_around(&repository, repository.root(commit)?, &mut facts)?;
    for (path, id) in listed.files {
        look_into(&repository, &path, id, &mut facts)?;
    }
    for (path, id) in listed.links {
        let leads = repository.blob(id, bounds::PATH)?.unwrap_or_default();
        if leaves(&path, &leads) {
            facts.links_outside.add(|| shown(&path));
        }
    }
    facts.licences.sort_by(|a, b| a.file.cmp(&b.file));
    facts.licences.dedup();
    Ok(facts)
}

const SECONDS_A_YEAR: f64 = 365.25 * 86_400.0;

fn of_history(chain: &[Commit]) -> Facts {
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
        files: 0,
        source_files: 0,
        test_modules: 0,
        test_files: 0,
        manifests: Vec::new(),
        lock_files: Vec::new(),
        licences: Vec::new(),
        unknown_licences: Vec::new(),
        submodules: Few::default(),
        lfs_pointers: Few::default(),
        links_outside: Few::default(),
    }
}

/// What has to be read as well.
#[derive(Default)]
struct Listed {
    files: Vec<(Vec<u8>, Oid)>,
    links: Vec<(Vec<u8>, Oid)>,
}

/// Counts what paths alone tell.
fn look_around(repository: &Repository, tree: Oid, facts: &mut Facts) -> anyhow::Result<Listed> {
    let mut listed = Listed::default();
    repository.list(tree, |path, id, kind| match kind {
        Kind::Folder => {}
        Kind::Submodule => facts.submodules.add(|| shown(path)),
        Kind::Link => {
            facts.files += 1;
            listed.links.push((path.to_vec(), id));
        }
        Kind::File => {
            facts.files += 1;
            facts.test_modules += usize::from(files::is_run(path));
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

/// Reads those files that tell something.
fn look_into(
    repository: &Repository,
    path: &[u8],
    id: Oid,
    facts: &mut Facts,
) -> anyhow::Result<()> {
    let length = repository.length(id, git2::ObjectType::Blob)?;
    if LFS_LENGTHS.contains(&length)
        && is_lfs_pointer(&repository.blob(id, length)?.unwrap_or_default())
    {
        facts.lfs_pointers.add(|| shown(path));
    }
    let Ok(path) = str::from_utf8(path) else {
        return Ok(());
    };
    if let Some(source) = is_declaration(path) {
        let bytes = repository.blob(id, bounds::BLOB)?.unwrap_or_default();
        let text = text::decoded(&bytes);
        if source.is_lock() {
            facts.lock_files.push(path.to_owned());
        } else if source.is_manifest(&text) {
            facts.manifests.push(path.to_owned());
        }
        let licences = declared_licence::declared(source, &text);
        facts
            .licences
            .extend(licences.into_iter().map(|spdx| Licence {
                spdx,
                file: path.to_owned(),
            }));
    }
    if licence::is_licence_file(path) {
        let bytes = repository.blob(id, bounds::LICENCE)?.unwrap_or_default();
        match licence::recognised(&text::decoded(&bytes)) {
            Some(spdx) => facts.licences.push(Licence {
                spdx: spdx.to_owned(),
                file: path.to_owned(),
            }),
            None => facts.unknown_licences.push(path.to_owned()),
        }
    }
    Ok(())
}

/// Lengths of pointers; the specification allows no longer ones.
const LFS_LENGTHS: std::ops::Range<usize> = 100..1024;

/// Whether a file stands for one at a server of Git LFS.
pub(crate) fn is_lfs_pointer(bytes: &[u8]) -> bool {
    LFS_LENGTHS.contains(&bytes.len())
        && bytes.starts_with(b"version https://git-lfs.github.com/spec/")
}

/// Whether a link leads out of the repository, or to its `.git`.
fn leaves(link: &[u8], leads: &[u8]) -> bool {
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

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_leave() {
        let check = |link: &str, leads: &str, expect: bool| {
            let found = leaves(link.as_bytes(), leads.as_bytes());
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
