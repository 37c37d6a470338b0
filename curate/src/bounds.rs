//! The most that is read of a repository, which may be made to harm: an object
//! of a few bytes can stand for a tree of more files than there are atoms.

/// Commits along the first parents.
pub const COMMITS: usize = 1_000_000;
/// Bytes of one commit object, with its message.
pub const COMMIT: usize = 1 << 20;
/// Files and folders of one commit, all levels together.
pub const ENTRIES: usize = 250_000;
/// Bytes of one folder's object.
pub const FOLDER: usize = 32 << 20;
/// Bytes of a path from the root.
pub const PATH: usize = 4096;
/// Bytes of the paths of one commit together.
pub const PATHS: usize = 64 << 20;
/// Bytes of a file that are read. Longer ones count no lines and are reported.
pub const BLOB: usize = 8 << 20;
/// Lines of a file that are compared; it may have no more than that.
pub const LINES: usize = 500_000;
/// Bytes of all files that are compared for one span.
pub const COMPARED: usize = 1 << 30;
/// Bytes of the files of a span that were deleted and added among which those
/// that moved are looked for; what is beyond that counts as rewritten.
pub const MOVED: usize = 32 << 20;
/// Bytes of a licence file.
pub const LICENCE: usize = 1 << 20;

/// A commit that is too large to be looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("its files cannot be listed: {what} exceed the bound of {most}")]
pub struct Exceeded {
    pub what: &'static str,
    pub most: usize,
}

/// What is left to list of one commit.
#[derive(Debug)]
pub(crate) struct Listing {
    entries: usize,
    bytes: usize,
}

impl Listing {
    pub(crate) fn new() -> Self {
        Self {
            entries: ENTRIES,
            bytes: PATHS,
        }
    }

    /// One more file or folder.
    pub(crate) fn take(&mut self, path: &[u8]) -> Result<(), Exceeded> {
        if path.len() > PATH {
            let (what, most) = ("the bytes of a path", PATH);
            return Err(Exceeded { what, most });
        }
        let entries = self.entries.checked_sub(1);
        let (what, most) = ("files and folders", ENTRIES);
        self.entries = entries.ok_or(Exceeded { what, most })?;
        let bytes = self.bytes.checked_sub(path.len());
        let (what, most) = ("the bytes of all paths", PATHS);
        self.bytes = bytes.ok_or(Exceeded { what, most })?;
        Ok(())
    }
}
