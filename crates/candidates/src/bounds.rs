//! Limits on reading a repository. It may be hostile: an object of a few bytes
//! can stand for a tree with more files than there are atoms.

pub use swe_ci_git::bounds::{COMMIT, ENTRIES, FOLDER, PATH, PATHS};

/// Commits along the first parents.
pub const COMMITS: usize = 1_000_000;
/// Bytes of a file. Longer files count no lines and are reported.
pub const BLOB: usize = 8 << 20;
/// Lines of a file that is compared.
pub const LINES: usize = 500_000;
/// Bytes of all files compared for one span.
pub const COMPARED: usize = 1 << 30;
/// Bytes of deleted and added files of one span that are searched for moved
/// files. Files beyond that count as rewritten.
pub const MOVED: usize = 32 << 20;
/// Bytes of a licence file.
pub const LICENCE: usize = 1 << 20;
