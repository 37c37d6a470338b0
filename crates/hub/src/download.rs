//! The download of one file: resumed, retried and verified.

use std::path::Path;
use std::sync::Arc;

use reqwest::header::CONTENT_RANGE;
use reqwest::{Response, StatusCode};
use swe_ci_base::retry::Backoff;

use super::download_folder::{DownloadFolder, metadata_if_exists};
use super::error::blocking;
use super::hashed_file::HashedFile;
use super::http::Failure;
use super::request::HubRequest;
use super::{Hub, HubError, Pinned, RemoteFile};

/// Size of the write buffer, in bytes.
const BUFFER_BYTES: usize = 256 << 10;

/// How often a whole file is downloaded before its content counts as wrong.
const MAX_DOWNLOADS: u32 = 2;

/// Receives the number of bytes downloaded; it decreases when the download has
/// to start over.
type OnBytes<'p> = &'p (dyn Fn(u64) + Send + Sync);

impl Hub {
    /// Downloads one file to its path below `into`, unless it is there already.
    /// The file gets its name when it is complete and has the listed checksum;
    /// until then it is `<path>.partial` in the same folder, and a later call
    /// resumes from there. Dropping the future is safe at any time.
    ///
    /// A folder allows one download at a time: use [`Hub::fetch_all`] for
    /// several files.
    ///
    /// # Errors
    /// [`HubError::Busy`] when another download holds the folder for longer
    /// than five seconds; all others name the file.
    pub async fn fetch(
        &self,
        pinned: &Pinned,
        file: &RemoteFile,
        into: &Path,
        on_bytes: OnBytes<'_>,
    ) -> Result<(), HubError> {
        let folder = DownloadFolder::open(into).await?;
        self.fetch_into(pinned, file, &folder, on_bytes).await
    }

    pub(super) async fn fetch_into(
        &self,
        pinned: &Pinned,
        file: &RemoteFile,
        folder: &Arc<DownloadFolder>,
        on_bytes: OnBytes<'_>,
    ) -> Result<(), HubError> {
        if is_in_place(file, folder).await? {
            on_bytes(file.size);
            return Ok(());
        }
        let request = self.content(pinned, file);
        let mut part = HashedFile::partial(file, folder).await?;
        if !part.read_all(file.size, on_bytes).await? {
            part.start_over().await?;
        }
        // The rest of an earlier call may belong to another commit: a mismatch
        // is then not the server's fault, and does not count.
        let mut downloads = u32::from(part.len() == 0);
        loop {
            let fetched = self.complete(&request, file, &mut part, on_bytes).await;
            if let Err(HubError::TooLong { .. }) = &fetched {
                part.remove().await?;
                on_bytes(0);
                return fetched;
            }
            fetched?;
            let checksum = part.checksum().await?;
            if checksum == file.checksum {
                return part.place(file).await;
            }
            on_bytes(0);
            if downloads == MAX_DOWNLOADS {
                part.remove().await?;
                return Err(HubError::Mismatch {
                    what: request.what,
                    expected: file.checksum.clone(),
                    found: checksum,
                });
            }
            tracing::warn!(
                what = request.what,
                "has the {checksum}; downloading it again"
            );
            part.start_over().await?;
            downloads += 1;
        }
    }

    fn content(&self, pinned: &Pinned, file: &RemoteFile) -> HubRequest {
        let parts = ["datasets"].into_iter().chain(pinned.id().parts());
        let parts = parts.chain(["resolve", pinned.commit()]);
        HubRequest {
            url: self.address(parts.chain(file.path.as_str().split('/'))),
            what: format!("`{}` of the dataset {pinned}", file.path),
            advice: "the file is not part of this commit: list the files again",
        }
    }

    /// Downloads until the file is complete, with retries.
    async fn complete(
        &self,
        request: &HubRequest,
        file: &RemoteFile,
        part: &mut HashedFile,
        on_bytes: OnBytes<'_>,
    ) -> Result<(), HubError> {
        let mut backoff = Backoff::new(self.inner.timing.retries, part.len());
        while part.len() < file.size {
            let result = self.resume(request, file, part, on_bytes).await;
            backoff.reached(part.len());
            if let Err(failure) = result {
                request.wait(failure, &mut backoff).await?;
            }
        }
        Ok(())
    }

    /// One request for the missing bytes.
    async fn resume(
        &self,
        request: &HubRequest,
        file: &RemoteFile,
        part: &mut HashedFile,
        on_bytes: OnBytes<'_>,
    ) -> Result<(), Failure<HubError>> {
        let mut response = self.get(request, part.len()).await?;
        let start = RangeStart::of_response(&response, part.len(), file.size);
        if start != RangeStart::AtEnd {
            part.start_over().await?;
            on_bytes(0);
        }
        if start == RangeStart::Unknown {
            let why = format!(
                "the answer ({}) is not the requested range",
                response.status()
            );
            return Err(Failure::transient(why));
        }
        let too_long = || HubError::TooLong {
            what: request.what.clone(),
            size: file.size,
        };
        let bytes_left = file.size - part.len();
        if response
            .content_length()
            .is_some_and(|more| more > bytes_left)
        {
            return Err(too_long().into());
        }
        let mut buffer = Vec::with_capacity(BUFFER_BYTES);
        loop {
            let arrived = response.chunk().await;
            let more = arrived.as_ref().ok().and_then(Option::as_ref);
            if let Some(more) = more {
                buffer.extend_from_slice(more);
            }
            if part.len() + buffer.len() as u64 > file.size {
                return Err(too_long().into());
            }
            // Write the bytes that arrived before the connection broke.
            if buffer.len() >= BUFFER_BYTES || more.is_none() {
                part.append(std::mem::take(&mut buffer)).await?;
                on_bytes(part.len());
            }
            if arrived?.is_none() {
                break;
            }
        }
        if part.len() < file.size {
            let why = format!(
                "the answer ended after {} of {} bytes",
                part.len(),
                file.size
            );
            return Err(Failure::transient(why));
        }
        Ok(())
    }
}

/// Where the bytes of a response belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeStart {
    /// At the end of the partial download.
    AtEnd,
    /// At the beginning of the file: the server does not support ranges.
    Beginning,
    /// The response does not say.
    Unknown,
}

impl RangeStart {
    fn of_response(response: &Response, from: u64, size: u64) -> Self {
        let range = response.headers().get(CONTENT_RANGE);
        let range = range.and_then(|range| range.to_str().ok());
        match response.status() {
            StatusCode::OK if from == 0 => Self::AtEnd,
            StatusCode::OK => Self::Beginning,
            StatusCode::PARTIAL_CONTENT if range.is_some_and(|r| fits(r, from, size)) => {
                Self::AtEnd
            }
            _ => Self::Unknown,
        }
    }
}

/// Whether a `Content-Range` (`bytes 5-9/10`) starts at `from`, in a file of
/// this size.
fn fits(range: &str, from: u64, size: u64) -> bool {
    let rest = range.strip_prefix(&format!("bytes {from}-"));
    let total = rest.and_then(|rest| rest.split_once('/'));
    total.is_some_and(|(_, total)| total == "*" || total.parse() == Ok(size))
}

/// Whether the file is in place with the right content: by the record, or by
/// hashing it.
async fn is_in_place(file: &RemoteFile, folder: &Arc<DownloadFolder>) -> Result<bool, HubError> {
    let path = file.path.below(folder.path());
    let (at, wanted, record) = (path.clone(), file.clone(), folder.clone());
    let (known, size) = blocking(&path, move || {
        let metadata = metadata_if_exists(&at)?.filter(std::fs::Metadata::is_file);
        Ok((record.is_checked(&wanted)?, metadata.map(|m| m.len())))
    })
    .await?;
    if known || size != Some(file.size) {
        return Ok(known);
    }
    let mut existing = HashedFile::in_place(file, folder).await?;
    let matches =
        existing.read_all(file.size, |_| {}).await? && existing.checksum().await? == file.checksum;
    if matches {
        let (wanted, record) = (file.clone(), folder.clone());
        blocking(&path, move || record.record_checked(&wanted)).await?;
    }
    Ok(matches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_continue_a_download() {
        let check = |range: &str, expect: bool| {
            assert_eq!(fits(range, 5, 10), expect, "{range}");
        };
        check("bytes 5-9/10", true);
        check("bytes 5-7/10", true);
        check("bytes 5-9/*", true);
        check("bytes 0-9/10", false);
        check("bytes 6-9/10", false);
        check("bytes 5-9/11", false);
        check("bytes */10", false);
        check("5-9/10", false);
        check("", false);
    }
}
