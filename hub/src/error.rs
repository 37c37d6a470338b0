use std::io;
use std::path::{Path, PathBuf};

use super::{Checksum, RemoteFile};

/// Why something could not be had from the hub. No variant holds the token or
/// a signed address.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The hub does not know it (404).
    #[error("the hub has no {what}: {advice}")]
    NotFound { what: String, advice: &'static str },
    /// The hub does not show it to us (401, 403). Unknown datasets are
    /// answered like this as well when there is no token.
    #[error("the hub does not let us see {what} (it answered {status}): {advice}")]
    Denied {
        what: String,
        status: u16,
        advice: &'static str,
    },
    /// Any other answer that trying again will not change.
    #[error("the hub answered {status} when asked for {what}")]
    Status { what: String, status: u16 },
    /// Nothing more arrived, however often it was tried.
    #[error(
        "cannot get {what}: {why}; given up after {tries} tries without progress. What arrived is kept: check the network and start again"
    )]
    GaveUp {
        what: String,
        tries: u32,
        why: String,
    },
    /// A redirect that is not followed.
    #[error("the hub sent us elsewhere for {what}, and {why}; nothing was fetched from there")]
    Redirect { what: String, why: String },
    /// An answer that is not what the hub's API says it is.
    #[error("the hub's answer about {what} cannot be used: {why}")]
    Malformed { what: String, why: String },
    /// The file had more bytes than the hub's list said.
    #[error(
        "{what} is longer than the {size} bytes the hub lists; it was thrown away. Start again, or use another mirror"
    )]
    TooLong { what: String, size: u64 },
    /// The file was downloaded anew, and still is not the one listed.
    #[error(
        "{what} was downloaded twice, at last with the {found}, and the {expected} was expected; it was thrown away. Start again, or use another mirror"
    )]
    Mismatch {
        what: String,
        expected: Checksum,
        found: Checksum,
    },
    /// Another download goes into the folder, here or in another process.
    #[error("another download into {} is under way: wait for it to end", .folder.display())]
    Busy { folder: PathBuf },
    /// The folder or a file in it cannot be read or written.
    #[error("cannot read or write {}", .path.display())]
    Disk { path: PathBuf, source: io::Error },
}

/// A file that could not be fetched, and why.
#[derive(Debug)]
pub struct Failure {
    pub file: RemoteFile,
    pub error: HubError,
}

/// Runs `work` on a thread that may block. `path` is what it is about.
pub(super) async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, HubError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(io::Error::from)
        .flatten()
        .map_err(|source| HubError::Disk {
            path: path.to_owned(),
            source,
        })
}
