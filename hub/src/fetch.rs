use std::path::Path;
use std::sync::Arc;

use reqwest::header::CONTENT_RANGE;
use reqwest::{Response, StatusCode};

use super::checked::{Checked, metadata};
use super::error::blocking;
use super::partial::HashedFile;
use super::request::Question;
use super::retry::{Patience, Trouble};
use super::{Hub, HubError, Pinned, RemoteFile};

/// How much is written at once, in bytes.
const PIECE: usize = 256 << 10;

/// How often a file is downloaded whole before it counts as wrong.
const MOST_DOWNLOADS: u32 = 2;

/// Is told how many bytes of a file are here; fewer than before when the
/// download had to start over.
type Here<'p> = &'p (dyn Fn(u64) + Send + Sync);

impl Hub {
    /// Fetches one file to its path below `into`, unless it is there already.
    /// It gets its name when it is complete and has the listed checksum; until
    /// then it is beside it, as `<path>.partial`, and a later call goes on
    /// from there. Dropping the future is safe at any time.
    ///
    /// A folder takes one download at a time: fetch several files with
    /// [`Hub::fetch_all`].
    ///
    /// # Errors
    /// [`HubError::Busy`] when another download goes into the folder for
    /// longer than five seconds; all others name the file.
    pub async fn fetch(
        &self,
        pinned: &Pinned,
        file: &RemoteFile,
        into: &Path,
        here: Here<'_>,
    ) -> Result<(), HubError> {
        let checked = Checked::open(into).await?;
        self.fetch_into(pinned, file, &checked, here).await
    }

    pub(super) async fn fetch_into(
        &self,
        pinned: &Pinned,
        file: &RemoteFile,
        checked: &Arc<Checked>,
        here: Here<'_>,
    ) -> Result<(), HubError> {
        if is_in_place(file, checked).await? {
            here(file.size);
            return Ok(());
        }
        let question = self.content(pinned, file);
        let mut part = HashedFile::partial(file, checked).await?;
        if !part.read_all(file.size, here).await? {
            part.start_over().await?;
        }
        // What an earlier call left may be of another commit: that it does not
        // fit says nothing about the server, and is not counted.
        let mut downloads = u32::from(part.len() == 0);
        loop {
            let fetched = self.complete(&question, file, &mut part, here).await;
            if let Err(HubError::TooLong { .. }) = &fetched {
                part.remove().await?;
                here(0);
                return fetched;
            }
            fetched?;
            let found = part.checksum().await?;
            if found == file.checksum {
                return part.place(file).await;
            }
            here(0);
            if downloads == MOST_DOWNLOADS {
                part.remove().await?;
                return Err(HubError::Mismatch {
                    what: question.what,
                    expected: file.checksum.clone(),
                    found,
                });
            }
            tracing::warn!(what = question.what, "has the {found}; fetching it anew");
            part.start_over().await?;
            downloads += 1;
        }
    }

    fn content(&self, pinned: &Pinned, file: &RemoteFile) -> Question {
        let parts = ["datasets"].into_iter().chain(pinned.id().parts());
        let parts = parts.chain(["resolve", pinned.commit()]);
        Question {
            url: self.address(parts.chain(file.path.as_str().split('/'))),
            what: format!("`{}` of the dataset {pinned}", file.path),
            advice: "the file is not part of this commit: list the files again",
        }
    }

    /// Downloads until all bytes are here.
    async fn complete(
        &self,
        question: &Question,
        file: &RemoteFile,
        part: &mut HashedFile,
        here: Here<'_>,
    ) -> Result<(), HubError> {
        let mut patience = Patience::new(self.inner.pace, part.len());
        while part.len() < file.size {
            let tried = self.go_on(question, file, part, here).await;
            patience.reached(part.len());
            if let Err(trouble) = tried {
                patience.wait(trouble, &question.what).await?;
            }
        }
        Ok(())
    }

    /// One request for what is missing.
    async fn go_on(
        &self,
        question: &Question,
        file: &RemoteFile,
        part: &mut HashedFile,
        here: Here<'_>,
    ) -> Result<(), Trouble> {
        let mut response = self.get(question, part.len()).await?;
        let start = Start::of(&response, part.len(), file.size);
        if start != Start::Here {
            part.start_over().await?;
            here(0);
        }
        if start == Start::Unknown {
            let why = format!(
                "the answer ({}) is not the part that was asked for",
                response.status()
            );
            return Err(Trouble::passing(why));
        }
        let too_long = || HubError::TooLong {
            what: question.what.clone(),
            size: file.size,
        };
        let room = file.size - part.len();
        if response.content_length().is_some_and(|more| more > room) {
            return Err(too_long().into());
        }
        let mut piece = Vec::with_capacity(PIECE);
        loop {
            let arrived = response.chunk().await;
            let more = arrived.as_ref().ok().and_then(Option::as_ref);
            if let Some(more) = more {
                piece.extend_from_slice(more);
            }
            if part.len() + piece.len() as u64 > file.size {
                return Err(too_long().into());
            }
            // What arrived before a connection was cut is kept.
            if piece.len() >= PIECE || more.is_none() {
                part.append(std::mem::take(&mut piece)).await?;
                here(part.len());
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
            return Err(Trouble::passing(why));
        }
        Ok(())
    }
}

/// Where the bytes of an answer belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Where the part ends.
    Here,
    /// At the beginning of the file: the server does not know of ranges.
    Beginning,
    /// Nobody knows.
    Unknown,
}

impl Start {
    fn of(response: &Response, from: u64, size: u64) -> Self {
        let range = response.headers().get(CONTENT_RANGE);
        let range = range.and_then(|range| range.to_str().ok());
        match response.status() {
            StatusCode::OK if from == 0 => Self::Here,
            StatusCode::OK => Self::Beginning,
            StatusCode::PARTIAL_CONTENT if range.is_some_and(|r| fits(r, from, size)) => Self::Here,
            _ => Self::Unknown,
        }
    }
}

/// Whether a `Content-Range` (`bytes 5-9/10`) starts at `from`, in a file of
/// this size.
fn fits(range: &str, from: u64, size: u64) -> bool {
    let parts = || {
        let (part, total) = range.strip_prefix("bytes ")?.split_once('/')?;
        Some((part.split_once('-')?.0, total))
    };
    parts().is_some_and(|(first, total)| {
        first.parse() == Ok(from) && (total == "*" || total.parse() == Ok(size))
    })
}

/// Whether the file is there with the right content: by the record, or by
/// hashing it.
async fn is_in_place(file: &RemoteFile, checked: &Arc<Checked>) -> Result<bool, HubError> {
    let path = file.path.below(checked.folder());
    let (at, wanted, record) = (path.clone(), file.clone(), checked.clone());
    let (known, size) = blocking(&path, move || {
        let found = metadata(&at)?.filter(std::fs::Metadata::is_file);
        Ok((record.holds(&wanted)?, found.map(|found| found.len())))
    })
    .await?;
    if known || size != Some(file.size) {
        return Ok(known);
    }
    let mut there = HashedFile::in_place(file, checked).await?;
    let right =
        there.read_all(file.size, |_| {}).await? && there.checksum().await? == file.checksum;
    if right {
        let (wanted, record) = (file.clone(), checked.clone());
        blocking(&path, move || record.note(&wanted)).await?;
    }
    Ok(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_go_on_from_here() {
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
