//! A version of a task's code in memory, as it goes into a container and comes
//! out again.
//!
//! Reading a tree reduces it to plain files, executable bits and symbolic links:
//! no `.git`, no caches, no devices, no owners, no times. Equal code therefore
//! has equal digests.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

use bytes::Bytes;
use sha2::{Digest, Sha256};

use crate::digest::hex;

/// Files by their path relative to the root, `/`-separated, sorted. Clones share
/// the contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeTree {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    File { bytes: Bytes, executable: bool },
    Symlink { target: String },
}

impl Entry {
    fn content_bytes(&self) -> usize {
        match self {
            Self::File { bytes, .. } => bytes.len(),
            Self::Symlink { target } => target.len(),
        }
    }
}

/// Folders that are never part of the code, at any depth.
const EXCLUDED_FOLDERS: [&str; 7] = [
    ".git",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
];

/// The most files a tree may have.
const MAX_FILES: usize = 200_000;
/// The most entries of an archive, those included that are no part of the code:
/// folders, caches, `.git`.
const MAX_ARCHIVE_ENTRIES: u64 = 1_000_000;
/// The most bytes of an archive beyond those of the code, so that skipping the
/// content of excluded folders ends. A sparse file counts with its whole size.
const MAX_EXCLUDED_BYTES: u64 = 4 << 30;
/// Bytes of an entry's header in an archive.
const HEADER_BYTES: u64 = 512;

/// A limit that files exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// Contents and names together, in bytes. A file counts once for each of
    /// its hard links.
    #[error("more than {}", shown(*.0))]
    Bytes(u64),
    #[error("more than {0} files")]
    Files(u64),
    /// Files and folders, those included that are no part of the code.
    #[error("more than {0} entries, caches included")]
    Entries(u64),
    /// All contents in bytes, those included that are no part of the code.
    #[error("more than {}, caches included", shown(*.0))]
    ArchiveBytes(u64),
}

fn shown(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    }
}

/// Why an archive is no tree of code.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The fault of the files, not of the archive.
    #[error("the code has {0}")]
    TooBig(#[from] Excess),
    #[error("damaged tar archive")]
    Damaged(#[from] std::io::Error),
}

impl CodeTree {
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries
            .iter()
            .map(|(path, entry)| (path.as_str(), entry))
    }

    /// The bytes of the plain file with this path.
    pub fn file(&self, path: &str) -> Option<&[u8]> {
        match self.entries.get(path) {
            Some(Entry::File { bytes, .. }) => Some(bytes),
            _ => None,
        }
    }

    /// The file or link at a path.
    pub fn entry(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Puts an entry at a path that is known to be one of a tree.
    pub fn set(&mut self, path: &str, entry: Entry) {
        self.entries.insert(path.to_owned(), entry);
    }

    /// Removes the file at a path, or everything below a folder.
    pub fn remove(&mut self, path: &str) {
        let folder = format!("{path}/");
        self.entries
            .retain(|other, _| other != path && !other.starts_with(&folder));
    }

    /// Adds an entry. Skips paths that are not relative, climb, or lie in an
    /// excluded folder, and then returns `Ok(false)`.
    ///
    /// # Errors
    /// [`Excess::Files`] when there are 200,000 already.
    pub fn insert(&mut self, path: &Path, entry: Entry) -> Result<bool, Excess> {
        let Some(path) = normal_path(path) else {
            return Ok(false);
        };
        if self.entries.len() >= MAX_FILES {
            return Err(Excess::Files(MAX_FILES as u64));
        }
        self.entries.insert(path, entry);
        Ok(true)
    }

    /// Bytes of all contents and names.
    pub fn weight(&self) -> u64 {
        let entries = self.entries.iter();
        entries
            .map(|(path, entry)| (path.len() + entry.content_bytes()) as u64)
            .sum()
    }

    pub fn insert_file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.entries.insert(
            path.to_owned(),
            Entry::File {
                bytes: bytes.into().into(),
                executable: false,
            },
        );
    }

    /// Adds all entries of `other` below a folder.
    pub fn put_below(&mut self, folder: &str, other: &Self) {
        let theirs = other.entries.iter();
        self.entries
            .extend(theirs.map(|(path, entry)| (format!("{folder}/{path}"), entry.clone())));
    }

    /// This code, with the content of `folder` replaced by that of `other`.
    #[must_use]
    pub fn with_folder_of(self, folder: &str, other: &Self) -> Self {
        // A file or link named like the folder would hide it.
        let is_part = |path: &str| path.split('/').next() == Some(folder);
        self.with_files_of(is_part, other)
    }

    /// This code, with the files of which `is_part` holds replaced by those of `other`.
    #[must_use]
    pub fn with_files_of(mut self, is_part: impl Fn(&str) -> bool, other: &Self) -> Self {
        self.entries.retain(|path, _| !is_part(path));
        for (path, entry) in other.entries.iter().filter(|(path, _)| is_part(path)) {
            // A file or link that is named like a folder of theirs would hide it.
            for (end, _) in path.match_indices('/') {
                self.entries.remove(&path[..end]);
            }
            self.entries.insert(path.clone(), entry.clone());
        }
        self
    }

    /// sha256 over paths, kinds and contents, in hex.
    pub fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let mut field = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_be_bytes());
            hash.update(bytes);
        };
        for (path, entry) in &self.entries {
            field(path.as_bytes());
            match entry {
                Entry::File { bytes, executable } => {
                    field(if *executable { b"x" } else { b"f" });
                    field(bytes);
                }
                Entry::Symlink { target } => {
                    field(b"l");
                    field(target.as_bytes());
                }
            }
        }
        hex(&hash.finalize())
    }

    /// A tar archive with every path below `prefix` (`""` for none).
    pub fn to_tar(&self, prefix: &str) -> anyhow::Result<Vec<u8>> {
        Ok(self.write_tar(prefix, Vec::new())?)
    }

    /// Writes what [`Self::to_tar`] returns, without holding it.
    pub fn write_tar<W: Write>(&self, prefix: &str, to: W) -> std::io::Result<W> {
        let mut archive = tar::Builder::new(to);
        self.append_to(&mut archive, prefix)?;
        archive.into_inner()
    }

    /// Adds every file below `prefix` to an archive. A folder entry for
    /// `prefix` comes first, so that the folder exists even for an empty tree.
    pub fn append_to<W: Write>(
        &self,
        archive: &mut tar::Builder<W>,
        prefix: &str,
    ) -> std::io::Result<()> {
        let mut folder = String::new();
        if !prefix.is_empty() {
            folder = format!("{prefix}/");
            let mut header = header(tar::EntryType::Directory, 0o755, 0);
            archive.append_data(&mut header, &folder, std::io::empty())?;
        }
        for (path, entry) in &self.entries {
            let path = format!("{folder}{path}");
            match entry {
                Entry::File { bytes, executable } => {
                    let mode = if *executable { 0o755 } else { 0o644 };
                    let mut header = header(tar::EntryType::Regular, mode, bytes.len() as u64);
                    archive.append_data(&mut header, path, bytes.as_ref())?;
                }
                Entry::Symlink { target } => {
                    let mut header = header(tar::EntryType::Symlink, 0o777, 0);
                    archive.append_link(&mut header, path, target)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a tar archive; `strip` leading path components are dropped. It reads
    /// as the archive comes, and holds only the code: what is no part of it is
    /// skipped.
    ///
    /// # Errors
    /// [`UnpackError::TooBig`] when contents and names exceed `max_bytes`, or
    /// files and entries their numbers: as soon as an entry's header says so,
    /// before its content is read.
    pub fn from_tar(reader: impl Read, strip: usize, max_bytes: u64) -> Result<Self, UnpackError> {
        Self::from_archive(tar::Archive::new(reader), strip, max_bytes)
    }

    /// Reads tar archives one behind the other.
    ///
    /// # Errors
    /// As of [`Self::from_tar`].
    pub fn from_tars(reader: impl Read, max_bytes: u64) -> Result<Self, UnpackError> {
        let mut archives = tar::Archive::new(reader);
        archives.set_ignore_zeros(true);
        Self::from_archive(archives, 0, max_bytes)
    }

    fn from_archive(
        mut archive: tar::Archive<impl Read>,
        strip: usize,
        max_bytes: u64,
    ) -> Result<Self, UnpackError> {
        let mut unpacking = Unpacking::new(strip, max_bytes);
        for entry in archive.entries()? {
            unpacking.add(entry?)?;
        }
        Ok(unpacking.tree)
    }
}

/// A tree while its archive is read.
struct Unpacking {
    tree: CodeTree,
    strip: usize,
    max_bytes: u64,
    /// Contents and names of the code so far.
    bytes: u64,
    entries: u64,
    archive_bytes: u64,
}

impl Unpacking {
    fn new(strip: usize, max_bytes: u64) -> Self {
        Self {
            tree: CodeTree::default(),
            strip,
            max_bytes,
            bytes: 0,
            entries: 0,
            archive_bytes: 0,
        }
    }

    fn add(&mut self, mut entry: tar::Entry<'_, impl Read>) -> Result<(), UnpackError> {
        self.count(entry.size())?;
        // A name that is not UTF-8 cannot be a Python source file.
        let Ok(path) = entry.path().map(|path| self.stripped(&path)) else {
            return Ok(());
        };
        let Some(name) = normal_path(&path) else {
            return Ok(());
        };
        let kind = entry.header().entry_type();
        let item = if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
            self.weigh(name.len() as u64 + entry.size())?;
            let executable = entry.header().mode().unwrap_or(0o644) & 0o100 != 0;
            let mut bytes = Vec::with_capacity(usize::try_from(entry.size()).unwrap_or(0));
            entry.read_to_end(&mut bytes)?;
            if bytes.len() as u64 != entry.size() {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
            let bytes = bytes.into();
            Entry::File { bytes, executable }
        } else if kind.is_symlink() || kind.is_hard_link() {
            let Ok(Some(target)) = entry.link_name() else {
                return Ok(());
            };
            match self.link(&name, kind.is_hard_link(), &target)? {
                Some(item) => item,
                None => return Ok(()),
            }
        } else {
            return Ok(()); // folders come with their files; devices and pipes are not code
        };
        self.tree.insert(&path, item)?;
        Ok(())
    }

    /// The entry of a link; `None` for a hard link to what is no part of the
    /// code.
    fn link(&mut self, name: &str, hard: bool, target: &Path) -> Result<Option<Entry>, Excess> {
        if !hard {
            let target = target.to_string_lossy().into_owned();
            self.weigh((name.len() + target.len()) as u64)?;
            return Ok(Some(Entry::Symlink { target }));
        }
        let target = normal_path(&self.stripped(target)).unwrap_or_default();
        let Some(content) = self.tree.entries.get(&target).map(Entry::content_bytes) else {
            return Ok(None);
        };
        self.weigh((name.len() + content) as u64)?;
        Ok(self.tree.entries.get(&target).cloned())
    }

    /// Counts an entry of the archive with its size, whatever it is.
    fn count(&mut self, size: u64) -> Result<(), Excess> {
        self.entries += 1;
        if self.entries > MAX_ARCHIVE_ENTRIES {
            return Err(Excess::Entries(MAX_ARCHIVE_ENTRIES));
        }
        let limit = self.max_bytes.saturating_add(MAX_EXCLUDED_BYTES);
        let bytes = size.saturating_add(HEADER_BYTES);
        self.archive_bytes = self.archive_bytes.saturating_add(bytes);
        match self.archive_bytes > limit {
            true => Err(Excess::ArchiveBytes(limit)),
            false => Ok(()),
        }
    }

    /// Counts bytes of the code.
    fn weigh(&mut self, bytes: u64) -> Result<(), Excess> {
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes > self.max_bytes {
            true => Err(Excess::Bytes(self.max_bytes)),
            false => Ok(()),
        }
    }

    fn stripped(&self, path: &Path) -> PathBuf {
        path.components().skip(self.strip).collect()
    }
}

fn header(kind: tar::EntryType, mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// The path as `a/b/c`, or `None` when it is empty, absolute, climbs, is not
/// UTF-8 or lies in an excluded folder.
fn normal_path(path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => parts.push(name.to_str()?),
            _ => return None,
        }
    }
    let excluded = parts.iter().any(|part| EXCLUDED_FOLDERS.contains(part));
    let bytecode = parts.last()?.ends_with(".pyc");
    (!excluded && !bytecode).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> CodeTree {
        let mut tree = CodeTree::default();
        for (path, text) in files {
            tree.insert_file(path, *text);
        }
        tree
    }

    #[test]
    fn a_round_trip_through_tar_keeps_the_digest() {
        let mut code = tree(&[("pkg/a.py", "a = 1\n"), ("tests/test_a.py", "")]);
        code.insert(
            Path::new("run.sh"),
            Entry::File {
                bytes: Bytes::from_static(b"#!/bin/sh\n"),
                executable: true,
            },
        )
        .unwrap();
        code.insert(
            Path::new("link"),
            Entry::Symlink {
                target: "pkg/a.py".into(),
            },
        )
        .unwrap();
        let tar = code.to_tar("code").unwrap();
        let unpacked = CodeTree::from_tar(tar.as_slice(), 1, 1_000).unwrap();
        assert_eq!(unpacked, code);
        assert_eq!(unpacked.digest(), code.digest());
        assert_ne!(unpacked.digest(), tree(&[("pkg/a.py", "a = 2\n")]).digest());
    }

    #[test]
    fn only_code_is_inserted() {
        let mut code = CodeTree::default();
        let file = || Entry::File {
            bytes: Bytes::new(),
            executable: false,
        };
        for path in [
            "/etc/passwd",
            "../up.py",
            "a/../../b",
            ".git/config",
            "a/__pycache__/x.py",
            "a/b.pyc",
            "",
        ] {
            assert!(!code.insert(Path::new(path), file()).unwrap(), "{path}");
        }
        assert!(code.insert(Path::new("./a/b.py"), file()).unwrap());
        assert_eq!(code.paths().collect::<Vec<_>>(), ["a/b.py"]);
    }

    /// An archive of entries with a kind, a path, a link's target and the size
    /// their headers claim.
    fn archive(entries: &[(tar::EntryType, &str, &str, u64)]) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (kind, path, target, size) in entries {
            let mut header = header(*kind, 0o644, *size);
            match target.is_empty() {
                true => {
                    let content = std::io::repeat(b'x').take((*size).min(4_096));
                    archive.append_data(&mut header, path, content).unwrap();
                }
                false => archive.append_link(&mut header, path, target).unwrap(),
            }
        }
        archive.into_inner().unwrap()
    }

    #[test]
    fn large_archives_are_refused_by_their_headers() {
        use tar::EntryType::{Directory, Link, Regular, Symlink};
        let check = |entries: &[_], expect: Result<usize, Excess>| {
            let archive = archive(entries);
            let found = match CodeTree::from_tar(archive.as_slice(), 1, 1_000) {
                Ok(tree) => Ok(tree.entries.len()),
                Err(UnpackError::TooBig(excess)) => Err(excess),
                Err(UnpackError::Damaged(error)) => panic!("{error}"),
            };
            assert_eq!(found, expect, "{entries:?}");
        };
        check(&[(Regular, "code/a", "", 999)], Ok(1));
        // Names weigh too.
        check(&[(Regular, "code/a", "", 1_000)], Err(Excess::Bytes(1_000)));
        check(
            &[(Regular, "code/a", "", 500), (Regular, "code/b", "", 499)],
            Err(Excess::Bytes(1_000)),
        );
        // A hard link weighs as its file, a symbolic one as its target.
        check(
            &[(Regular, "code/a", "", 600), (Link, "code/b", "code/a", 0)],
            Err(Excess::Bytes(1_000)),
        );
        check(
            &[(Regular, "code/a", "", 600), (Symlink, "code/b", "a", 0)],
            Ok(2),
        );
        // The reader skips files that are no part of the code, up to a point.
        check(
            &[
                (Directory, "code/.git/", "", 0),
                (Regular, "code/.git/pack", "", 4_096),
                (Regular, "code/x.pyc", "", 4_096),
                (Link, "code/b", "code/.git/pack", 0),
                (Regular, "code/a", "", 5),
            ],
            Ok(1),
        );
        // A sparse file of 5 GiB is refused before its content is read.
        let limit = 1_000 + MAX_EXCLUDED_BYTES;
        check(
            &[(Regular, "code/.git/sparse", "", 5 << 30)],
            Err(Excess::ArchiveBytes(limit)),
        );
        check(
            &[(Regular, "code/sparse", "", 5 << 30)],
            Err(Excess::ArchiveBytes(limit)),
        );
    }

    #[test]
    fn files_and_entries_are_counted() {
        let mut code = Unpacking::new(0, u64::MAX);
        code.entries = MAX_ARCHIVE_ENTRIES - 1;
        assert_eq!(code.count(0), Ok(()));
        assert_eq!(code.count(0), Err(Excess::Entries(MAX_ARCHIVE_ENTRIES)));
        let mut tree = CodeTree::default();
        for number in 0..MAX_FILES {
            tree.insert_file(&number.to_string(), "");
        }
        let one_more = Entry::Symlink { target: "0".into() };
        let refused = tree.insert(Path::new("more"), one_more).unwrap_err();
        assert_eq!(refused.to_string(), "more than 200000 files");
    }

    #[test]
    fn damaged_archives_are_refused() {
        let text = b"not a tar archive at all, but long enough to be one: ".repeat(20);
        let damaged = CodeTree::from_tar(text.as_slice(), 0, 1_000);
        assert!(matches!(damaged, Err(UnpackError::Damaged(_))));
        let cut = archive(&[(tar::EntryType::Regular, "a", "", 900)]);
        let damaged = CodeTree::from_tar(&cut[..800], 0, 1_000);
        assert!(matches!(damaged, Err(UnpackError::Damaged(_))));
    }

    #[test]
    fn limits_are_shown() {
        let check = |excess: Excess, expect: &str| assert_eq!(excess.to_string(), expect);
        check(Excess::Bytes(1_000), "more than 1000 bytes");
        check(Excess::Bytes(256 << 20), "more than 256 MiB");
        check(Excess::Entries(7), "more than 7 entries, caches included");
    }

    #[test]
    fn tests_come_from_the_oracle() {
        let agent = tree(&[
            ("pkg/a.py", "1"),
            ("tests/test_a.py", "weakened"),
            ("tests/extra.py", "x"),
        ]);
        let oracle = tree(&[
            ("pkg/a.py", "2"),
            ("tests/test_a.py", "real"),
            ("tests/test_b.py", "new"),
        ]);
        let graded = agent.with_folder_of("tests", &oracle);
        assert_eq!(
            graded,
            tree(&[
                ("pkg/a.py", "1"),
                ("tests/test_a.py", "real"),
                ("tests/test_b.py", "new")
            ])
        );
        // A file named `tests` does not hide the folder.
        let shadowing = tree(&[("tests", "I am a file")]).with_folder_of("tests", &oracle);
        assert_eq!(
            shadowing.paths().collect::<Vec<_>>(),
            ["tests/test_a.py", "tests/test_b.py"]
        );
    }
}
