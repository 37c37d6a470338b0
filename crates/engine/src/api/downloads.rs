//! Downloads of an iteration's files, as they were stored.

use std::io::{self, Read};
use std::pin::Pin;

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzEncoder;
use futures::Stream;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::step::Role;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::Engine;

/// Bytes of a piece, and how many pieces wait for a slow reader.
const PIECE: usize = 64 << 10;
const PIECES_WAITING: usize = 4;

/// A file piece by piece: it never has to be in memory as a whole.
pub type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

impl Engine {
    /// The tested code of an iteration, as `.tar.gz`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such iteration, or it has no code.
    pub async fn code_archive(&self, evolution_id: &str, iteration: u32) -> Result<Pieces> {
        self.visible_evolution(evolution_id).await?;
        let rows = self.store.iterations(evolution_id).await?;
        let code = rows.into_iter().find(|row| row.iteration == iteration);
        let key = code.map(|row| row.code).filter(|key| !key.is_empty());
        let tar = self
            .stored_file(key, "code of iteration", iteration)
            .await?;
        Ok(pieces(GzEncoder::new(tar, Compression::fast())))
    }

    /// The test report of an iteration, as pytest wrote it.
    pub async fn report(&self, evolution_id: &str, iteration: u32) -> Result<Pieces> {
        let what = "test report of iteration";
        self.product(evolution_id, iteration, Role::Test, what)
            .await
    }

    /// The requirement document of an iteration.
    pub async fn document(&self, evolution_id: &str, iteration: u32) -> Result<Pieces> {
        let what = "requirement document of iteration";
        self.product(evolution_id, iteration, Role::Architect, what)
            .await
    }

    async fn product(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        what: &'static str,
    ) -> Result<Pieces> {
        self.visible_evolution(evolution_id).await?;
        let mut steps = self.store.steps(evolution_id).await?;
        steps.retain(|step| (step.iteration, step.role) == (iteration, role));
        let key = steps.into_iter().rev().find_map(|step| step.product);
        Ok(pieces(self.stored_file(key, what, iteration).await?))
    }

    async fn stored_file(
        &self,
        key: Option<String>,
        what: &'static str,
        iteration: u32,
    ) -> Result<impl Read + Send + use<>> {
        let key = key.ok_or_else(|| Error::not_found(what, iteration))?;
        let reader = self.artifacts.reader(&key).await;
        reader.map_err(|error| {
            tracing::warn!("a file of an iteration is gone: {error:#}");
            Error::not_found(what, iteration)
        })
    }
}

/// Reads on a thread of its own, no faster than the stream is consumed.
fn pieces(mut reader: impl Read + Send + 'static) -> Pieces {
    let (sender, receiver) = mpsc::channel(PIECES_WAITING);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let read = reader.read(&mut piece).map(|length| {
                piece.truncate(length);
                Bytes::from(piece)
            });
            if read.as_ref().is_ok_and(Bytes::is_empty) {
                break;
            }
            let is_last = read.is_err();
            let disconnected = sender.blocking_send(read).is_err();
            if is_last || disconnected {
                break;
            }
        }
    });
    Box::pin(ReceiverStream::new(receiver))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::TryStreamExt;

    async fn read(pieces: Pieces) -> io::Result<Vec<u8>> {
        let all: Vec<Bytes> = pieces.try_collect().await?;
        Ok(all.concat())
    }

    #[tokio::test]
    async fn all_of_it_and_no_more() {
        for length in [0, 1, PIECE, 10 * PIECE + 7] {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let all = read(pieces(io::Cursor::new(bytes.clone()))).await.unwrap();
            assert!(all == bytes, "{length}");
        }
    }

    #[tokio::test]
    async fn a_read_error_is_not_the_end() {
        struct Breaks;
        impl Read for Breaks {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("damaged"))
            }
        }
        let begun = io::Cursor::new(b"begun".to_vec()).chain(Breaks);
        assert!(read(pieces(begun)).await.is_err());
    }
}
