//! A version of a task's code in memory, as it goes into a container and comes
//! out again.
//!
//! Reading a tree reduces it to plain files, executable bits and symbolic links:
//! no `.git`, no caches, no devices, no owners, no times. Equal code therefore
//! has equal digests.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path};

use anyhow::{Context, ensure};
use sha2::{Digest, Sha256};

use crate::digest::hex;

/// Files by their path relative to the root, `/`-separated, sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeTree {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    File { bytes: Vec<u8>, executable: bool },
    Symlink { target: String },
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
const MAX_ENTRIES: usize = 200_000;

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

    /// What stands at a path.
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
    pub fn insert(&mut self, path: &Path, entry: Entry) -> anyhow::Result<bool> {
        let Some(path) = normal_path(path) else {
            return Ok(false);
        };
        ensure!(
            self.entries.len() < MAX_ENTRIES,
            "the code has more than {MAX_ENTRIES} files"
        );
        self.entries.insert(path, entry);
        Ok(true)
    }

    pub fn insert_file(&mut self, path: &str, bytes: impl Into<Vec<u8>>) {
        self.entries.insert(
            path.to_owned(),
            Entry::File {
                bytes: bytes.into(),
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
    pub fn with_folder_of(mut self, folder: &str, other: &Self) -> Self {
        let prefix = format!("{folder}/");
        // A file or link named like the folder would hide it.
        self.entries
            .retain(|path, _| path != folder && !path.starts_with(&prefix));
        let theirs = other
            .entries
            .iter()
            .filter(|(path, _)| path.starts_with(&prefix));
        self.entries
            .extend(theirs.map(|(path, entry)| (path.clone(), entry.clone())));
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
        let mut archive = tar::Builder::new(Vec::new());
        self.append_to(&mut archive, prefix)?;
        Ok(archive.into_inner()?)
    }

    /// Adds every file below `prefix` to an archive. A folder entry for
    /// `prefix` comes first, so that the folder exists even for an empty tree.
    pub fn append_to(
        &self,
        archive: &mut tar::Builder<Vec<u8>>,
        prefix: &str,
    ) -> anyhow::Result<()> {
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
                    archive.append_data(&mut header, path, bytes.as_slice())?;
                }
                Entry::Symlink { target } => {
                    let mut header = header(tar::EntryType::Symlink, 0o777, 0);
                    archive.append_link(&mut header, path, target)?;
                }
            }
        }
        Ok(())
    }

    /// Reads a tar archive; `strip` leading path components are dropped.
    ///
    /// Fails when the files together exceed `max_bytes`, or the archive is
    /// damaged.
    pub fn from_tar(reader: impl Read, strip: usize, max_bytes: u64) -> anyhow::Result<Self> {
        let mut tree = Self::default();
        let mut total_bytes = 0u64;
        let mut add_bytes = |bytes: u64| {
            total_bytes = total_bytes.saturating_add(bytes);
            ensure!(
                total_bytes <= max_bytes,
                "the code is larger than {} MiB",
                max_bytes >> 20
            );
            Ok(())
        };

        let mut archive = tar::Archive::new(reader);
        for entry in archive.entries().context("not a tar archive")? {
            let mut entry = entry.context("damaged tar archive")?;
            let path: std::path::PathBuf = match entry.path() {
                Ok(path) => path.components().skip(strip).collect(),
                Err(_) => continue, // a name that is not UTF-8 cannot be a Python source file
            };
            let kind = entry.header().entry_type();
            let item = if kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse() {
                add_bytes(entry.size())?;
                let executable = entry.header().mode().unwrap_or(0o644) & 0o100 != 0;
                let mut bytes = Vec::new();
                entry
                    .read_to_end(&mut bytes)
                    .context("damaged tar archive")?;
                Entry::File { bytes, executable }
            } else if kind.is_symlink() {
                let Ok(Some(target)) = entry.link_name() else {
                    continue;
                };
                Entry::Symlink {
                    target: target.to_string_lossy().into_owned(),
                }
            } else if kind.is_hard_link() {
                let Ok(Some(target)) = entry.link_name() else {
                    continue;
                };
                let target: std::path::PathBuf = target.components().skip(strip).collect();
                let same = normal_path(&target).and_then(|path| tree.entries.get(&path).cloned());
                let Some(same) = same else { continue };
                if let Entry::File { bytes, .. } = &same {
                    add_bytes(bytes.len() as u64)?;
                }
                same
            } else {
                continue; // folders come with their files; devices and pipes are not code
            };
            tree.insert(&path, item)?;
        }
        Ok(tree)
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
                bytes: b"#!/bin/sh\n".to_vec(),
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
            bytes: vec![],
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

    #[test]
    fn large_and_damaged_archives_are_refused() {
        let tar = tree(&[("a", &"x".repeat(2_000))]).to_tar("").unwrap();
        let error = CodeTree::from_tar(tar.as_slice(), 0, 1_000).unwrap_err();
        assert!(error.to_string().contains("is larger than"), "{error}");
        assert!(
            CodeTree::from_tar(
                &b"not a tar archive at all, but long enough to be one: ".repeat(20)[..],
                0,
                1_000
            )
            .is_err()
        );
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
