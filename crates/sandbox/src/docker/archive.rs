//! The archives by which files go into a container and come out of it: packed
//! while they are sent, and unpacked while they come. None is ever in memory as
//! a whole.

use std::io::{self, BufWriter, Read, Write};

use bollard::query_parameters::{
    DownloadFromContainerOptionsBuilder, UploadToContainerOptionsBuilder,
};
use bytes::{Buf, Bytes};
use futures::{TryStreamExt, stream};
use swe_ci_base::code::{CodeTree, UnpackError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::container::DockerContainer;
use super::error::status_of;
use crate::{SandboxError, WantedFiles};

/// Pieces of an archive that wait for being unpacked or sent.
pub(crate) const PIECES: usize = 16;
/// The engine sends pieces of up to this many bytes, and gets such.
const PIECE_BYTES: usize = 64 << 10;

impl DockerContainer {
    /// Writes files below absolute folders.
    pub(super) async fn pack(&self, parts: Vec<(String, CodeTree)>) -> Result<(), SandboxError> {
        let (packing, receiver) = packed(parts);
        let pieces = stream::unfold(receiver, |mut receiver| async move {
            receiver.recv().await.map(|piece| (Ok(piece), receiver))
        });
        let options = UploadToContainerOptionsBuilder::default().path("/").build();
        let body = bollard::body_try_stream(pieces);
        let uploaded = self.api.upload_to_container(&self.id, Some(options), body);
        if let Err(error) = uploaded.await {
            return Err(self.failed(&error, "accept files").await);
        }
        // The engine stops reading behind the end of an archive.
        match packing.await.map_err(anyhow::Error::new)? {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(anyhow::Error::new(error).into())
            }
            _ => Ok(()),
        }
    }

    /// Files by an archive of the engine's. `None` when there is no such path.
    /// Ends the download as soon as the files exceed a limit.
    #[tracing::instrument(name = "get files", level = "debug", skip_all)]
    pub(super) async fn unpack(
        &self,
        wanted: &WantedFiles,
    ) -> Result<Option<CodeTree>, SandboxError> {
        let path = wanted.path.as_str();
        let (sender, receiver) = mpsc::channel(PIECES);
        let reader = PieceReader::new(receiver);
        let of_archive = wanted.clone();
        let unpacking = tokio::task::spawn_blocking(move || of_archive.read_archive(reader));
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

impl WantedFiles {
    /// The files in their archive, in which a folder has its name.
    pub(crate) fn read_archive(&self, archive: impl Read) -> Result<CodeTree, UnpackError> {
        // Trees count names; the limit of a single file is one of contents.
        let name = if self.is_folder { 0 } else { self.path.len() };
        let max_bytes = self.max_bytes.saturating_add(name as u64);
        CodeTree::from_tar(archive, self.is_folder.into(), max_bytes)
    }
}

/// The archive of files below absolute folders, in pieces, and the task that
/// packs it.
pub(super) fn packed(
    parts: Vec<(String, CodeTree)>,
) -> (JoinHandle<io::Result<()>>, mpsc::Receiver<Bytes>) {
    let (sender, receiver) = mpsc::channel(PIECES);
    let packing = tokio::task::spawn_blocking(move || write_archive(&parts, sender));
    (packing, receiver)
}

/// Blocks while the receiver has enough.
fn write_archive(parts: &[(String, CodeTree)], to: mpsc::Sender<Bytes>) -> io::Result<()> {
    let pieces = BufWriter::with_capacity(PIECE_BYTES, PieceWriter(to));
    let mut archive = tar::Builder::new(pieces);
    for (folder, files) in parts {
        files.append_to(&mut archive, folder.trim_start_matches('/'))?;
    }
    archive.into_inner()?.flush()
}

/// Sends what is written as pieces of a channel.
pub(crate) struct PieceWriter(pub mpsc::Sender<Bytes>);

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = Bytes::copy_from_slice(&bytes[..bytes.len().min(PIECE_BYTES)]);
        let length = piece.len();
        let sent = self.0.blocking_send(piece);
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the pieces of a channel; blocks while none is there.
pub(crate) struct PieceReader {
    receiver: mpsc::Receiver<Bytes>,
    piece: Bytes,
}

impl PieceReader {
    pub fn new(receiver: mpsc::Receiver<Bytes>) -> Self {
        Self {
            receiver,
            piece: Bytes::new(),
        }
    }
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
    async fn an_archive_comes_in_pieces() {
        let mut code = CodeTree::default();
        code.insert_file("large", vec![b'x'; 5 * PIECE_BYTES]);
        code.insert_file("small", "y");
        let parts = vec![("/app/code".to_owned(), code.clone())];
        let (packing, mut receiver) = packed(parts);
        let mut archive = Vec::new();
        while let Some(piece) = receiver.recv().await {
            assert!(piece.len() <= PIECE_BYTES);
            archive.extend_from_slice(&piece);
        }
        packing.await.unwrap().unwrap();
        let unpacked = CodeTree::from_tar(archive.as_slice(), 2, 1 << 20).unwrap();
        assert_eq!(unpacked, code);
    }

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
        let mut reader = PieceReader::new(receiver);
        let read = move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).map(|_| text)
        };
        let text = tokio::task::spawn_blocking(read).await.unwrap().unwrap();
        assert_eq!(text, "one text");
    }
}
