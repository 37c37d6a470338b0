//! Files of a container, unpacked while the engine sends their archive.

use std::io::{self, Read};

use bollard::query_parameters::DownloadFromContainerOptionsBuilder;
use bytes::{Buf, Bytes};
use futures::TryStreamExt;
use swe_ci_base::code::{CodeTree, UnpackError};
use tokio::sync::mpsc;

use super::container::DockerContainer;
use super::error::status_of;
use crate::SandboxError;

/// Pieces of an archive that wait for being unpacked; the engine sends pieces of
/// up to 64 KiB.
const PIECES: usize = 16;

impl DockerContainer {
    /// The files at a path, whose archive begins with `strip` components too
    /// many. `None` when there is no such path. Ends the download as soon as the
    /// files exceed a limit.
    #[tracing::instrument(name = "get files", level = "debug", skip_all)]
    pub(super) async fn unpack(
        &self,
        path: &str,
        strip: usize,
        max_bytes: u64,
    ) -> Result<Option<CodeTree>, SandboxError> {
        let (sender, receiver) = mpsc::channel(PIECES);
        let reader = PieceReader {
            receiver,
            piece: Bytes::new(),
        };
        let unpack = move || CodeTree::from_tar(reader, strip, max_bytes);
        let unpacking = tokio::task::spawn_blocking(unpack);
        let downloaded = self.download(path, sender).await;
        match (downloaded, unpacking.await.map_err(anyhow::Error::new)?) {
            (_, Err(UnpackError::TooBig(excess))) => Err(SandboxError::TooBig {
                path: path.into(),
                excess,
            }),
            (Err(error), _) => Err(error),
            (Ok(false), _) => Ok(None),
            (Ok(true), Ok(tree)) => Ok(Some(tree)),
            (Ok(true), Err(error)) => {
                let context = format!("the container engine's archive of {path}");
                Err(anyhow::Error::new(error).context(context).into())
            }
        }
    }

    /// Sends a path's archive in pieces, until the receiver wants no more; false
    /// when there is no such path.
    async fn download(
        &self,
        path: &str,
        sender: mpsc::Sender<Bytes>,
    ) -> Result<bool, SandboxError> {
        let options = DownloadFromContainerOptionsBuilder::default()
            .path(path)
            .build();
        let mut pieces = std::pin::pin!(self.api.download_from_container(&self.id, Some(options)));
        loop {
            match pieces.try_next().await {
                Ok(Some(piece)) => match sender.send(piece).await {
                    Ok(()) => {}
                    Err(_) => return Ok(true),
                },
                Ok(None) => return Ok(true),
                Err(error) if status_of(&error) == Some(404) && self.is_running().await => {
                    return Ok(false);
                }
                Err(error) => return Err(self.failed(&error, "return files").await),
            }
        }
    }
}

/// Reads the pieces of a channel; blocks while none is there.
struct PieceReader {
    receiver: mpsc::Receiver<Bytes>,
    piece: Bytes,
}

impl Read for PieceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            match self.receiver.blocking_recv() {
                Some(piece) => self.piece = piece,
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..length]);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pieces_are_read_as_one_text() {
        let (sender, receiver) = mpsc::channel(PIECES);
        for piece in ["", "one ", "", "text"] {
            sender
                .send(Bytes::from_static(piece.as_bytes()))
                .await
                .unwrap();
        }
        drop(sender);
        let mut reader = PieceReader {
            receiver,
            piece: Bytes::new(),
        };
        let read = move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        };
        let text = tokio::task::spawn_blocking(read).await.unwrap().unwrap();
        assert_eq!(text, "one text");
    }
}
