//! Files that are hashed while they are read and written.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::checksum::RunningChecksum;
use super::download_folder::DownloadFolder;
use super::error::blocking;
use super::{Checksum, HubError, RemoteFile};

/// How many bytes are hashed in one piece of work; cancelling a download waits
/// for no more than that.
const SLICE_BYTES: u64 = 64 << 20;

/// A file on disk, hashed as far as it was read or written. All work on it runs
/// off the async runtime.
#[derive(Debug)]
pub(super) struct HashedFile {
    path: PathBuf,
    /// In bytes.
    len: u64,
    shared: Arc<Mutex<Inner>>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    running: RunningChecksum,
    expected: Checksum,
    /// Keeps the folder locked while work outlives a dropped download.
    folder: Arc<DownloadFolder>,
}

impl HashedFile {
    /// Opens the partial download of a file, or creates it.
    pub(super) async fn partial(
        file: &RemoteFile,
        folder: &Arc<DownloadFolder>,
    ) -> Result<Self, HubError> {
        let path = file.path.partial_below(folder.path());
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        Self::open(path, file, folder, options).await
    }

    pub(super) async fn in_place(
        file: &RemoteFile,
        folder: &Arc<DownloadFolder>,
    ) -> Result<Self, HubError> {
        let path = file.path.below(folder.path());
        let mut options = OpenOptions::new();
        options.read(true);
        Self::open(path, file, folder, options).await
    }

    async fn open(
        path: PathBuf,
        file: &RemoteFile,
        folder: &Arc<DownloadFolder>,
        options: OpenOptions,
    ) -> Result<Self, HubError> {
        let (expected, folder, at) = (file.checksum.clone(), folder.clone(), path.clone());
        let inner = blocking(&path, move || {
            if let Some(parent) = at.parent() {
                std::fs::create_dir_all(parent)?;
            }
            Ok(Inner {
                file: options.open(at)?,
                running: RunningChecksum::for_kind_of(&expected),
                expected,
                folder,
            })
        });
        let shared = Arc::new(Mutex::new(inner.await?));
        let len = 0;
        Ok(Self { path, len, shared })
    }

    /// Bytes that were read or written.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads and hashes the existing bytes; `false` if there are more than
    /// `max_bytes`.
    pub(super) async fn read_all(
        &mut self,
        max_bytes: u64,
        on_bytes: impl Fn(u64),
    ) -> Result<bool, HubError> {
        loop {
            let read = self.run(|inner, _| inner.read_slice()).await?;
            self.len += read;
            if self.len > max_bytes {
                return Ok(false);
            }
            if read == 0 {
                return Ok(true);
            }
            on_bytes(self.len);
        }
    }

    pub(super) async fn append(&mut self, bytes: Vec<u8>) -> Result<(), HubError> {
        let more = bytes.len() as u64;
        self.run(move |inner, _| {
            inner.file.write_all(&bytes)?;
            inner.running.update(&bytes);
            Ok(())
        })
        .await?;
        self.len += more;
        Ok(())
    }

    pub(super) async fn start_over(&mut self) -> Result<(), HubError> {
        self.run(|inner, _| {
            inner.file.set_len(0)?;
            inner.file.seek(SeekFrom::Start(0))?;
            inner.running = RunningChecksum::for_kind_of(&inner.expected);
            Ok(())
        })
        .await?;
        self.len = 0;
        Ok(())
    }

    /// The checksum of all bytes read and written.
    pub(super) async fn checksum(&self) -> Result<Checksum, HubError> {
        self.run(|inner, path| inner.running.clone().finish(path))
            .await
    }

    /// Renames the complete file to its own name, and records it as verified.
    pub(super) async fn place(self, file: &RemoteFile) -> Result<(), HubError> {
        let file = file.clone();
        self.run(move |inner, path| {
            let name = file.path.below(inner.folder.path());
            inner.file.sync_all()?;
            std::fs::rename(path, &name)?;
            if let Some(parent) = name.parent() {
                File::open(parent)?.sync_all()?;
            }
            inner.folder.record_checked(&file)
        })
        .await
    }

    pub(super) async fn remove(self) -> Result<(), HubError> {
        self.run(|_, path| std::fs::remove_file(path)).await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Inner, &Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T, HubError> {
        let (shared, path) = (self.shared.clone(), self.path.clone());
        blocking(&self.path, move || {
            let mut inner = shared.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut inner, &path)
        })
        .await
    }
}

impl Inner {
    fn read_slice(&mut self) -> io::Result<u64> {
        let mut buffer = vec![0; 256 << 10];
        let mut read = 0;
        while read < SLICE_BYTES {
            let more = self.file.read(&mut buffer)?;
            if more == 0 {
                break;
            }
            self.running.update(&buffer[..more]);
            read += more as u64;
        }
        Ok(read)
    }
}
