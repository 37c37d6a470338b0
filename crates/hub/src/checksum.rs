//! Checksums of files, as the hub lists them.

use std::fs::File;
use std::path::Path;
use std::{fmt, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use swe_ci_base::digest::hex;
use swe_ci_git::ObjectId;

/// The hub's checksum of a file, in lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checksum {
    /// Of the content; for files in LFS or Xet.
    Sha256(String),
    /// Git's blob id (SHA-1 with a header); for all other files.
    GitBlob(String),
}

impl Checksum {
    pub(super) fn sha256(hex: &str) -> Option<Self> {
        is_hex(hex, 64).then(|| Self::Sha256(hex.to_ascii_lowercase()))
    }

    pub(super) fn git_blob(hex: &str) -> Option<Self> {
        is_hex(hex, 40).then(|| Self::GitBlob(hex.to_ascii_lowercase()))
    }
}

pub(super) fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sha256(hex) => write!(f, "sha256 {hex}"),
            Self::GitBlob(hex) => write!(f, "git blob id {hex}"),
        }
    }
}

/// A checksum that is computed while the bytes arrive.
#[derive(Debug, Clone)]
pub(super) enum RunningChecksum {
    Sha256(Sha256),
    /// Git's id starts with the size, so it is computed at the end, from disk:
    /// files outside LFS are small.
    GitBlob,
}

impl RunningChecksum {
    /// A new checksum of the same kind as `expected`.
    pub(super) fn for_kind_of(expected: &Checksum) -> Self {
        match expected {
            Checksum::Sha256(_) => Self::Sha256(Sha256::new()),
            Checksum::GitBlob(_) => Self::GitBlob,
        }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(running) => running.update(bytes),
            Self::GitBlob => {}
        }
    }

    /// `path` is the file with all the bytes.
    pub(super) fn finish(self, path: &Path) -> io::Result<Checksum> {
        match self {
            Self::Sha256(running) => Ok(Checksum::Sha256(hex(&running.finalize()))),
            Self::GitBlob => {
                let file = File::open(path)?;
                let id = ObjectId::of_blob(file.metadata()?.len(), file)?;
                Ok(Checksum::GitBlob(id.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, "hello\n").unwrap();
        let check = |expected: Checksum| {
            let mut running = RunningChecksum::for_kind_of(&expected);
            running.update(b"hel");
            running.update(b"lo\n");
            assert_eq!(running.finish(&path).unwrap(), expected);
        };
        // The output of `sha256sum` and `git hash-object`.
        check(Checksum::Sha256(
            "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03".into(),
        ));
        check(Checksum::GitBlob(
            "ce013625030ba8dba906f756967f9e9ca394464a".into(),
        ));
        assert_eq!(Checksum::sha256("abc"), None);
        assert_eq!(Checksum::git_blob(&"x".repeat(40)), None);
        assert_eq!(
            Checksum::git_blob(&"AB".repeat(20)),
            Some(Checksum::GitBlob("ab".repeat(20)))
        );
    }
}
