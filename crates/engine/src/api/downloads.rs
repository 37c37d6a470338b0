//! Downloads of an iteration's files, as they were stored.

use std::io::{self, Read};
use std::pin::Pin;

use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzEncoder;
use futures::{Stream, StreamExt, stream};
use swe_ci_base::error::{Error, Result};
use swe_ci_core::step::Role;

use crate::Engine;
use crate::heavy_reads::{readable, typed};

/// The most bytes of a piece.
const PIECE: usize = 64 << 10;

/// A file piece by piece: it never has to be in memory as a whole.
pub type Pieces = Pin<Box<dyn Stream<Item = io::Result<Bytes>> + Send>>;

#[swe_ci_boxed::boxed]
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

    /// The whole output of one attempt at a step.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is no such attempt, or it printed
    /// nothing.
    pub async fn log_file(
        &self,
        evolution_id: &str,
        iteration: u32,
        role: Role,
        attempt: u32,
    ) -> Result<Pieces> {
        let key = self.log_key(evolution_id, iteration, role, attempt).await?;
        Ok(pieces(self.artifacts.reader(&key).await.map_err(typed)?))
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
        let reader = readable(self.artifacts.reader(&key).await)?;
        reader.ok_or_else(|| Error::not_found(what, iteration))
    }
}

/// Reads a piece when the stream is asked for it. No thread waits for a slow
/// receiver: there are few, and everybody else needs them too.
pub(super) fn pieces(reader: impl Read + Send + 'static) -> Pieces {
    let pieces = stream::unfold(Some(reader), |reader| async move {
        let mut reader = reader?;
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = vec![0; PIECE];
            let length = reader.read(&mut piece)?;
            piece.truncate(length);
            io::Result::Ok((Bytes::from(piece), reader))
        });
        match read
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
        {
            Ok((piece, _)) if piece.is_empty() => None,
            Ok((piece, reader)) => Some((Ok(piece), Some(reader))),
            Err(error) => Some((Err(error), None)),
        }
    });
    // The compression layer polls once more after the end.
    Box::pin(pieces.fuse())
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
    async fn the_end_stays_the_end() {
        let mut all = pieces(io::empty());
        for _ in 0..3 {
            assert!(all.try_next().await.unwrap().is_none());
        }
    }

    #[tokio::test]
    async fn slow_receivers_keep_no_thread() {
        // Tokio has 512 threads for blocking work.
        let mut begun: Vec<Pieces> = (0..600).map(|_| pieces(io::repeat(1))).collect();
        for pieces in &mut begun {
            pieces.try_next().await.unwrap().unwrap();
        }
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        drop(begun);
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
