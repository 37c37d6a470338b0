//! The ids of git's objects, and their kinds.

use std::fmt;
use std::io::{self, Read};
use std::str::FromStr;

use sha1::{Digest, Sha1};
use sha2::Sha256;
use swe_ci_base::digest::hex;

/// The id of an object: the hash of its kind, length and content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectId {
    Sha1([u8; 20]),
    Sha256([u8; 32]),
}

impl ObjectId {
    /// The SHA-1 id of a file with `length` bytes.
    ///
    /// # Errors
    /// If the content cannot be read.
    pub fn of_blob(length: u64, mut content: impl Read) -> io::Result<Self> {
        let mut hash = Sha1::new_with_prefix(header(ObjectKind::Blob, length));
        let mut buffer = [0; 8 << 10];
        loop {
            match content.read(&mut buffer)? {
                0 => return Ok(Self::Sha1(hash.finalize().into())),
                read => hash.update(&buffer[..read]),
            }
        }
    }

    /// The SHA-1 id of an object.
    pub fn of_object(kind: ObjectKind, content: &[u8]) -> Self {
        let header = header(kind, content.len() as u64);
        let hash = Sha1::new_with_prefix(header).chain_update(content);
        Self::Sha1(hash.finalize().into())
    }

    /// Whether this is the id of that object.
    pub(crate) fn identifies(self, kind: ObjectKind, content: &[u8]) -> bool {
        match self {
            Self::Sha1(_) => Self::of_object(kind, content) == self,
            Self::Sha256(id) => {
                let header = header(kind, content.len() as u64);
                let hash = Sha256::new_with_prefix(header).chain_update(content);
                <[u8; 32]>::from(hash.finalize()) == id
            }
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Sha1(bytes) => bytes,
            Self::Sha256(bytes) => bytes,
        }
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        match bytes.len() {
            20 => bytes.try_into().map(Self::Sha1).ok(),
            _ => bytes.try_into().map(Self::Sha256).ok(),
        }
    }
}

/// The start of an object, before its content.
pub(crate) fn header(kind: ObjectKind, length: u64) -> String {
    format!("{kind} {length}\0")
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.as_bytes()))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is no id of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an object id has 40 or 64 hexadecimal digits")]
pub struct NotAnObjectId;

impl FromStr for ObjectId {
    type Err = NotAnObjectId;

    fn from_str(text: &str) -> Result<Self, NotAnObjectId> {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
        let pair = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
        bytes
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or(NotAnObjectId)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl ObjectKind {
    const ALL: [Self; 4] = [Self::Commit, Self::Tree, Self::Blob, Self::Tag];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        // The output of `git hash-object`, with both formats.
        let sha1: ObjectId = "ce013625030ba8dba906f756967f9e9ca394464a".parse().unwrap();
        let sha256 = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4";
        let sha256: ObjectId = sha256.parse().unwrap();
        assert_eq!(ObjectId::of_blob(6, &b"hello\n"[..]).unwrap(), sha1);
        assert_eq!(ObjectId::of_object(ObjectKind::Blob, b"hello\n"), sha1);
        for id in [sha1, sha256] {
            assert!(id.identifies(ObjectKind::Blob, b"hello\n"));
            assert!(!id.identifies(ObjectKind::Tree, b"hello\n"));
            assert!(!id.identifies(ObjectKind::Blob, b"hello"));
            assert_eq!(ObjectId::from_bytes(id.as_bytes()), Some(id));
        }
    }

    #[test]
    fn ids_as_text() {
        for digits in [40, 64] {
            let text = "0123456789abcdef".repeat(4)[..digits].to_owned();
            let id: ObjectId = text.parse().unwrap();
            assert_eq!(id.to_string(), text);
            assert_eq!(text.to_uppercase().parse(), Ok(id));
        }
        for text in [
            "",
            "0",
            "beef",
            &"0".repeat(41),
            &"0".repeat(62),
            &"g".repeat(40),
            &"é".repeat(20),
        ] {
            assert_eq!(text.parse::<ObjectId>(), Err(NotAnObjectId), "{text}");
        }
    }
}
