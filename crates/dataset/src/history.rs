//! Reads and writes the git history of a task.

use std::path::{Path, PathBuf};

use anyhow::Context;
use git2::{ObjectType, Oid, Repository, Sort, TreeWalkMode, TreeWalkResult};
use swe_ci_base::code::{CodeTree, Entry};

/// Maximum bytes of a commit's files.
const MAX_CODE: usize = 1 << 30;
const MAX_FILES: usize = 200_000;

/// The bytes and files that a commit may still have.
struct RemainingSize {
    bytes: usize,
    files: usize,
}

impl RemainingSize {
    fn take(&mut self, bytes: usize) -> anyhow::Result<()> {
        self.bytes = self
            .bytes
            .checked_sub(bytes)
            .with_context(|| format!("the files of a commit have more than {MAX_CODE} bytes"))?;
        self.files = self
            .files
            .checked_sub(1)
            .with_context(|| format!("a commit has more than {MAX_FILES} files"))?;
        Ok(())
    }
}

/// One commit between base and target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitInfo {
    pub sha: String,
    /// Unix seconds.
    pub time: i64,
    pub message: String,
}

impl CommitInfo {
    /// First line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default().trim()
    }
}

/// A git checkout. Each method opens it anew, since a `Repository` cannot be
/// shared between threads. All methods block.
#[derive(Debug, Clone)]
pub struct History {
    folder: PathBuf,
}

impl History {
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    fn open(&self) -> anyhow::Result<Repository> {
        Repository::open(&self.folder)
            .with_context(|| format!("{} is not a git checkout", self.folder.display()))
    }

    /// The files of a commit.
    ///
    /// # Errors
    /// No such commit, or it exceeds [`MAX_CODE`] or [`MAX_FILES`]: the author of
    /// a commit decides its size, and all of it is held in memory.
    pub fn code(&self, sha: &str) -> anyhow::Result<CodeTree> {
        let repository = self.open()?;
        let tree = find_commit(&repository, sha)?.tree()?;
        let mut code = CodeTree::default();
        let mut problem = None;
        let mut remaining = RemainingSize {
            bytes: MAX_CODE,
            files: MAX_FILES,
        };
        let walked = tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
            // Submodules are not part of the code; folders exist with their files.
            if entry.kind() == Some(ObjectType::Blob)
                && let Err(error) = add_blob(&repository, &mut code, &mut remaining, folder, entry)
            {
                problem = Some(error);
                return TreeWalkResult::Abort;
            }
            TreeWalkResult::Ok
        });
        match problem {
            Some(problem) => Err(problem),
            None => Ok(walked.map(|()| code)?),
        }
    }

    /// The commits after `base` up to `target`, oldest first, along the first
    /// parents.
    pub fn between(&self, base: &str, target: &str) -> anyhow::Result<Vec<CommitInfo>> {
        let repository = self.open()?;
        let base = find_commit(&repository, base)?.id();
        let target = find_commit(&repository, target)?.id();
        let mut walk = repository.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
        walk.simplify_first_parent()?;
        walk.push(target)?;
        walk.hide(base)?;
        walk.map(|id| Ok(info(&repository.find_commit(id?)?)))
            .collect()
    }

    /// Paths of the files that differ between two commits, sorted.
    pub fn changed(&self, from: &str, to: &str) -> anyhow::Result<Vec<String>> {
        let repository = self.open()?;
        let (from, to) = (
            find_commit(&repository, from)?.tree()?,
            find_commit(&repository, to)?.tree()?,
        );
        let diff = repository.diff_tree_to_tree(Some(&from), Some(&to), None)?;
        let path = |delta: git2::DiffDelta<'_>| {
            let (new, old) = (delta.new_file().path(), delta.old_file().path());
            Some(new.or(old)?.to_string_lossy().into_owned())
        };
        Ok(diff.deltas().filter_map(path).collect())
    }

    pub fn commit(&self, sha: &str) -> anyhow::Result<CommitInfo> {
        Ok(info(&find_commit(&self.open()?, sha)?))
    }
}

/// Cuts commits into at most `max` runs of nearly the same length, in order.
pub fn chunks(commits: Vec<CommitInfo>, max: u32) -> Vec<Vec<CommitInfo>> {
    let total = commits.len();
    let count = total.min(max.max(1) as usize);
    let mut commits = commits.into_iter();
    (0..count)
        .map(|i| {
            let size = (i + 1) * total / count - i * total / count;
            commits.by_ref().take(size).collect()
        })
        .collect()
}

/// Creates a linear history with one commit per version of the code. Author and
/// times are fixed, so the same input always gives the same commit ids. Returns
/// the ids, oldest first, and checks out the first commit.
pub fn write(folder: &Path, versions: &[(CommitInfo, CodeTree)]) -> anyhow::Result<Vec<String>> {
    let mut options = git2::RepositoryInitOptions::new();
    options.initial_head("main").external_template(false);
    let repository = Repository::init_opts(folder, &options)?;
    let mut parent: Option<Oid> = None;
    let mut shas = Vec::new();
    for (commit, code) in versions {
        let tree = repository.find_tree(write_tree(&repository, code)?)?;
        let when = git2::Time::new(commit.time, 0);
        let author = git2::Signature::new("Release history", "history@localhost", &when)?;
        let parents = parent.map(|id| repository.find_commit(id)).transpose()?;
        let id = repository.commit(
            Some("refs/heads/main"),
            &author,
            &author,
            &commit.message,
            &tree,
            parents.iter().collect::<Vec<_>>().as_slice(),
        )?;
        parent = Some(id);
        shas.push(id.to_string());
    }
    if let Some(first) = shas.first() {
        repository.set_head_detached(Oid::from_str(first)?)?;
        repository.checkout_head(Some(git2::build::CheckoutBuilder::new().force()))?;
    }
    Ok(shas)
}

fn write_tree(repository: &Repository, code: &CodeTree) -> anyhow::Result<Oid> {
    let mut index = git2::Index::new()?;
    for (path, entry) in code.iter() {
        let (mode, bytes) = match entry {
            Entry::File { bytes, executable } => {
                let mode = if *executable { 0o100_755 } else { 0o100_644 };
                (mode, bytes.as_ref())
            }
            Entry::Symlink { target } => (0o120_000, target.as_bytes()),
        };
        let id = repository.blob(bytes)?;
        index.add(&git2::IndexEntry {
            ctime: git2::IndexTime::new(0, 0),
            mtime: git2::IndexTime::new(0, 0),
            dev: 0,
            ino: 0,
            mode,
            uid: 0,
            gid: 0,
            file_size: 0,
            id,
            flags: 0,
            flags_extended: 0,
            path: path.as_bytes().to_vec(),
        })?;
    }
    Ok(index.write_tree_to(repository)?)
}

fn add_blob(
    repository: &Repository,
    code: &mut CodeTree,
    remaining: &mut RemainingSize,
    folder: &str,
    entry: &git2::TreeEntry<'_>,
) -> anyhow::Result<()> {
    let Ok(name) = entry.name() else {
        return Ok(()); // not UTF-8: no Python source
    };
    // Check before reading: a file of zeros is tiny while packed.
    let (size, _) = repository.odb()?.read_header(entry.id())?;
    remaining
        .take(size)
        .with_context(|| format!("{folder}{name} exceeds the limit"))?;
    let blob = repository.find_blob(entry.id())?;
    let item = match entry.filemode() {
        0o120_000 => Entry::Symlink {
            target: String::from_utf8_lossy(blob.content()).into_owned(),
        },
        mode => Entry::File {
            bytes: blob.content().to_vec().into(),
            executable: mode & 0o100 != 0,
        },
    };
    code.insert(Path::new(&format!("{folder}{name}")), item)?;
    Ok(())
}

fn find_commit<'r>(repository: &'r Repository, sha: &str) -> anyhow::Result<git2::Commit<'r>> {
    repository
        .revparse_single(sha)
        .and_then(|object| object.peel_to_commit())
        .with_context(|| format!("the history has no commit {sha}"))
}

fn info(commit: &git2::Commit<'_>) -> CommitInfo {
    CommitInfo {
        sha: commit.id().to_string(),
        time: commit.time().seconds(),
        message: String::from_utf8_lossy(commit.message_bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(message: &str, time: i64, text: &str) -> (CommitInfo, CodeTree) {
        let mut code = CodeTree::default();
        code.insert_file("pkg/a.py", text);
        code.insert(
            Path::new("run"),
            Entry::File {
                bytes: vec![1].into(),
                executable: true,
            },
        )
        .unwrap();
        (
            CommitInfo {
                sha: String::new(),
                time,
                message: message.into(),
            },
            code,
        )
    }

    #[test]
    fn a_history_round_trips_with_reproducible_ids() {
        let versions = [
            version("one", 1_000, "1"),
            version("two\n\nbody", 2_000, "2"),
            version("three", 3_000, "3"),
        ];
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let shas = write(first.path(), &versions).unwrap();
        assert_eq!(write(second.path(), &versions).unwrap(), shas);

        let history = History::new(first.path());
        assert_eq!(history.code(&shas[1]).unwrap(), versions[1].1);
        let between = history.between(&shas[0], &shas[2]).unwrap();
        assert_eq!(
            between.iter().map(CommitInfo::subject).collect::<Vec<_>>(),
            ["two", "three"]
        );
        assert_eq!(history.changed(&shas[0], &shas[2]).unwrap(), ["pkg/a.py"]);
        assert_eq!(std::fs::read(first.path().join("pkg/a.py")).unwrap(), b"1");
        let mut remaining = RemainingSize { bytes: 3, files: 2 };
        assert!(
            remaining.take(3).is_ok() && remaining.take(1).is_err() && remaining.take(0).is_ok()
        );
        assert!(remaining.take(0).is_err(), "one file too many");
        let error = history.code("beef").unwrap_err();
        assert!(error.to_string().contains("no commit beef"), "{error}");
    }

    #[test]
    fn chunks_are_even_and_end_at_the_target() {
        let commits = |total: usize| -> Vec<CommitInfo> {
            let commit = |i| CommitInfo {
                sha: format!("{i:040}"),
                time: 0,
                message: String::new(),
            };
            (0..total).map(commit).collect()
        };
        for (total, max, expect) in [
            (4, 20, vec![1, 1, 1, 1]),
            (5, 2, vec![2, 3]),
            (76, 20, vec![]),
            (1, 1, vec![1]),
            (20, 20, vec![1; 20]),
        ] {
            let cut = chunks(commits(total), max);
            let sizes: Vec<usize> = cut.iter().map(Vec::len).collect();
            assert_eq!(cut.concat(), commits(total));
            assert!(cut.len() <= max as usize && sizes.iter().all(|s| *s >= 1));
            assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            assert!(expect.is_empty() || sizes == expect, "{sizes:?}");
        }
    }
}
