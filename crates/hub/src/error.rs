//! Errors of the hub's client.

use std::io;
use std::path::{Path, PathBuf};

use super::{Checksum, RemoteFile};
use crate::http::Failure as TryFailure;

/// Why a request to the hub failed. No variant contains the token or a signed
/// address.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The hub does not have it (404).
    #[error("the hub has no {what}: {advice}")]
    NotFound { what: String, advice: &'static str },
    /// The hub denies access (401, 403). Without a token, the hub also answers
    /// this for unknown datasets.
    #[error("the hub does not let us see {what} (it answered {status}): {advice}")]
    Denied {
        what: String,
        status: u16,
        advice: &'static str,
    },
    /// Any other status that a retry will not change.
    #[error("the hub answered {status} to the request for {what}")]
    Status { what: String, status: u16 },
    /// No more bytes arrived, despite retries.
    #[error(
        "cannot get {what}: {why}; gave up after {tries} tries without progress. The partial download stays: check the network and start again"
    )]
    GaveUp {
        what: String,
        tries: u32,
        why: String,
    },
    /// A redirect that the client does not follow.
    #[error("the hub redirected the request for {what}, and {why}; the redirect was not followed")]
    Redirect { what: String, why: String },
    /// A response that violates the hub's API.
    #[error("the hub's answer about {what} cannot be used: {why}")]
    Malformed { what: String, why: String },
    #[error(
        "{what} is longer than the {size} bytes the hub lists; the download was discarded. Start again, or use another mirror"
    )]
    TooLong { what: String, size: u64 },
    #[error(
        "{what} was downloaded twice, the second time with the {found} instead of the expected {expected}; the download was discarded. Start again, or use another mirror"
    )]
    Mismatch {
        what: String,
        expected: Checksum,
        found: Checksum,
    },
    /// Another download holds the folder, in this or another process.
    #[error("another download into {} is running: wait for it to end", .folder.display())]
    Busy { folder: PathBuf },
    #[error("cannot read or write {}", .path.display())]
    Disk { path: PathBuf, source: io::Error },
}

impl From<HubError> for TryFailure<HubError> {
    fn from(error: HubError) -> Self {
        Self::Permanent(error)
    }
}

/// A file that could not be downloaded, and why.
#[derive(Debug)]
pub struct Failure {
    pub file: RemoteFile,
    pub error: HubError,
}

/// Runs `work` on a thread that may block; errors name `path`.
pub(super) async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, HubError> {
    let result = tokio::task::spawn_blocking(work).await;
    result
        .map_err(io::Error::from)
        .flatten()
        .map_err(|source| HubError::Disk {
            path: path.to_owned(),
            source,
        })
}
