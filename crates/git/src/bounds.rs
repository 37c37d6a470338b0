//! Limits on reading a repository. It may be hostile: an object of a few bytes
//! can stand for a tree with more files than there are atoms.

/// Bytes of one commit object, with its message.
pub const COMMIT: usize = 1 << 20;
/// Files and folders of one commit, all levels together.
pub const ENTRIES: usize = 250_000;
/// Bytes of one folder's object.
pub const FOLDER: usize = 32 << 20;
/// Bytes of a path from the root.
pub const PATH: usize = 4096;
/// Bytes of all paths of one commit together.
pub const PATHS: usize = 64 << 20;

/// A commit is too large to read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot list its files: {what} exceed the limit of {most}")]
pub struct BoundExceeded {
    pub what: &'static str,
    pub most: usize,
}

/// The budget for listing the files of one commit.
#[derive(Debug)]
pub struct ListingBudget {
    entries: usize,
    bytes: usize,
}

impl Default for ListingBudget {
    fn default() -> Self {
        Self {
            entries: ENTRIES,
            bytes: PATHS,
        }
    }
}

impl ListingBudget {
    /// Charges one file or folder.
    ///
    /// # Errors
    /// If there are too many, or their paths are too long.
    pub fn spend(&mut self, path: &[u8]) -> Result<(), BoundExceeded> {
        let exceeded = |what, most| BoundExceeded { what, most };
        if path.len() > PATH {
            return Err(exceeded("the bytes of a path", PATH));
        }
        let entries = self.entries.checked_sub(1);
        self.entries = entries.ok_or(exceeded("files and folders", ENTRIES))?;
        let bytes = self.bytes.checked_sub(path.len());
        self.bytes = bytes.ok_or(exceeded("the bytes of all paths", PATHS))?;
        Ok(())
    }
}
