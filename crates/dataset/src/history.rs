//! Reads and writes the git history of a task.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use swe_ci_base::code::{CodeTree, Entry};
use swe_ci_git::{EntryKind, ObjectId, Repository, checked, command, run_with_input};

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

/// A git checkout. Each method opens it anew, since threads cannot share a
/// `Repository`. All methods block.
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
        let tree = repository.root(find_commit(&repository, sha)?)?;
        let mut files = Vec::new();
        repository.list(tree, |path, id, kind| {
            // Names in another encoding are no Python source.
            if let Ok(path) = str::from_utf8(path) {
                files.push((path.to_owned(), id, kind));
            }
        })?;
        let mut code = CodeTree::default();
        let mut remaining = RemainingSize {
            bytes: MAX_CODE,
            files: MAX_FILES,
        };
        for (path, id, kind) in files {
            // Submodules are not part of the code; folders exist with their files.
            if matches!(kind, EntryKind::File { .. } | EntryKind::Link) {
                let bytes = read_blob(&repository, &mut remaining, id);
                let bytes = bytes.with_context(|| format!("cannot read {path}"))?;
                code.insert(Path::new(&path), entry(bytes, kind))?;
            }
        }
        Ok(code)
    }

    /// The commits after `base` up to `target`, oldest first, along the first
    /// parents.
    pub fn between(&self, base: &str, target: &str) -> anyhow::Result<Vec<CommitInfo>> {
        let repository = self.open()?;
        let base = find_commit(&repository, base)?;
        let target = find_commit(&repository, target)?;
        let between = repository.between(base, target)?.into_iter();
        between.map(|id| info(&repository, id)).collect()
    }

    /// Paths of the files that differ between two commits, sorted.
    pub fn changed(&self, from: &str, to: &str) -> anyhow::Result<Vec<String>> {
        let repository = self.open()?;
        let tree = |sha: &str| repository.root(find_commit(&repository, sha)?);
        let differences = repository.differences(tree(from)?, tree(to)?)?;
        let path = |path: Vec<u8>| String::from_utf8_lossy(&path).into_owned();
        Ok(differences.into_iter().map(|d| path(d.path)).collect())
    }

    pub fn commit(&self, sha: &str) -> anyhow::Result<CommitInfo> {
        let repository = self.open()?;
        info(&repository, find_commit(&repository, sha)?)
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
    let mut init = command();
    init.args(["init", "--quiet", "--template=", "--initial-branch=main"]);
    checked(init.arg("--").arg(folder).output())?;
    let git = |arguments: &[&str]| {
        let mut git = command();
        git.arg("-C").arg(folder).args(arguments);
        git
    };
    if versions.is_empty() {
        return Ok(Vec::new());
    }
    // Into a pack, however few the objects are.
    let mut import = git(&[
        "-c",
        "fastimport.unpackLimit=1",
        "fast-import",
        "--quiet",
        "--done",
    ]);
    run_with_input(&mut import, |stream| write_stream(stream, versions))?;
    let shas = checked(git(&["rev-list", "--reverse", "refs/heads/main", "--"]).output())?;
    let shas: Vec<String> = String::from_utf8(shas)?
        .lines()
        .map(str::to_owned)
        .collect();
    if let Some(first) = shas.first() {
        checked(git(&["checkout", "--quiet", "--force", "--detach", first, "--"]).output())?;
    }
    Ok(shas)
}

/// Writes the versions as `git fast-import` reads them.
fn write_stream(stream: &mut dyn Write, versions: &[(CommitInfo, CodeTree)]) -> io::Result<()> {
    for (commit, code) in versions {
        let author = "Release history <history@localhost>";
        writeln!(stream, "commit refs/heads/main")?;
        writeln!(stream, "committer {author} {} +0000", commit.time)?;
        write_data(stream, commit.message.as_bytes())?;
        writeln!(stream, "deleteall")?;
        for (path, entry) in code.iter() {
            let (mode, bytes) = match entry {
                Entry::File { bytes, executable } => (
                    if *executable { "100755" } else { "100644" },
                    bytes.as_ref(),
                ),
                Entry::Symlink { target } => ("120000", target.as_bytes()),
            };
            writeln!(stream, "M {mode} inline {}", quoted(path))?;
            write_data(stream, bytes)?;
        }
    }
    writeln!(stream, "done")
}

fn write_data(stream: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    writeln!(stream, "data {}", bytes.len())?;
    stream.write_all(bytes)?;
    writeln!(stream)
}

/// A path in quotes, as in C.
fn quoted(path: &str) -> String {
    let escaped = path.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

/// The bytes of a file or link, if the commit may still have them: a file of
/// zeros is tiny while packed.
fn read_blob(
    repository: &Repository,
    remaining: &mut RemainingSize,
    id: ObjectId,
) -> anyhow::Result<Vec<u8>> {
    let bytes = repository.blob(id, remaining.bytes)?;
    remaining.take(bytes.as_ref().map_or(usize::MAX, Vec::len))?;
    Ok(bytes.unwrap_or_default())
}

fn entry(bytes: Vec<u8>, kind: EntryKind) -> Entry {
    match kind {
        EntryKind::File { executable } => Entry::File {
            bytes: bytes.into(),
            executable,
        },
        _ => Entry::Symlink {
            target: String::from_utf8_lossy(&bytes).into_owned(),
        },
    }
}

fn find_commit(repository: &Repository, sha: &str) -> anyhow::Result<ObjectId> {
    let found = repository.commit(sha);
    found.with_context(|| format!("the history has no commit {sha}"))
}

fn info(repository: &Repository, id: ObjectId) -> anyhow::Result<CommitInfo> {
    let commit = repository.read_commit(id)?;
    let message = String::from_utf8_lossy(&commit.message);
    Ok(CommitInfo {
        sha: id.to_string(),
        time: commit.time,
        message: message.trim_start_matches('\n').to_owned(),
    })
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
    fn the_same_versions_always_have_the_same_ids() {
        let mut one = CodeTree::default();
        one.insert_file("pkg/a.py", "a = 1\n");
        one.insert_file("pkg.py", "");
        one.insert_file("pkg-data/quo\"te\\d \u{e9}", "x\n");
        one.insert_file("line\nbreak", "data 3\ndone\n");
        let bytes = b"\x7fELF\0\r\n".to_vec().into();
        let (program, link) = (Path::new("run"), Path::new("link"));
        one.insert(
            program,
            Entry::File {
                bytes,
                executable: true,
            },
        )
        .unwrap();
        one.insert(
            link,
            Entry::Symlink {
                target: "pkg/a.py".into(),
            },
        )
        .unwrap();
        let mut two = one.clone();
        two.remove("pkg");
        two.insert_file("pkg", "a folder becomes a file\n");
        let commit = |time, message: &str| CommitInfo {
            sha: String::new(),
            time,
            message: message.into(),
        };
        let versions = [
            (commit(0, ""), CodeTree::default()),
            (commit(1_000, "\nRelease p 1.0\n\n\u{e9}\n\n"), one),
            (commit(1_700_000_000, "data 3\nwithout an end"), two),
        ];
        let folder = tempfile::tempdir().unwrap();
        let shas = write(folder.path(), &versions).unwrap();
        // As another implementation (libgit2) wrote them.
        let expect = [
            "b8fd809125c240dc95b988bbeb61a7fd67f8c9cf",
            "94d81116c2961ebe141a9cb85958c108c4fdc55e",
            "436b7a97fba897e756ab9399668d3ed23a027e54",
        ];
        assert_eq!(shas, expect);
        let history = History::new(folder.path());
        for (sha, (commit, code)) in shas.iter().zip(&versions) {
            assert_eq!(history.code(sha).unwrap(), *code);
            let message = commit.message.trim_start_matches('\n');
            let found = history.commit(sha).unwrap();
            assert_eq!((found.time, &*found.message), (commit.time, message));
        }
        assert_eq!(write(&folder.path().join("none"), &[]).unwrap(), [""; 0]);
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
