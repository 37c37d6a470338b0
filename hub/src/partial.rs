use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::checked::Checked;
use super::checksum::Running;
use super::error::blocking;
use super::{Checksum, HubError, RemoteFile};

/// How much is hashed at once: who gives up a download waits for no more.
const SLICE: u64 = 64 << 20;

/// A file on disk, hashed as far as it was read or written here. All work on
/// it happens beside the async runtime.
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
    running: Running,
    expected: Checksum,
    /// Work that outlives a dropped download holds the folder until it ends.
    checked: Arc<Checked>,
}

impl HashedFile {
    /// The unfinished download of a file, new or as it was left.
    pub(super) async fn partial(
        file: &RemoteFile,
        checked: &Arc<Checked>,
    ) -> Result<Self, HubError> {
        let path = file.path.partial_below(checked.folder());
        let at = path.clone();
        let open = move || {
            if let Some(parent) = at.parent() {
                std::fs::create_dir_all(parent)?;
            }
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&at)
        };
        Self::open(path, file, checked, open).await
    }

    /// The file under its own name.
    pub(super) async fn in_place(
        file: &RemoteFile,
        checked: &Arc<Checked>,
    ) -> Result<Self, HubError> {
        let path = file.path.below(checked.folder());
        let at = path.clone();
        Self::open(path, file, checked, move || File::open(at)).await
    }

    async fn open(
        path: PathBuf,
        file: &RemoteFile,
        checked: &Arc<Checked>,
        open: impl FnOnce() -> io::Result<File> + Send + 'static,
    ) -> Result<Self, HubError> {
        let (expected, checked) = (file.checksum.clone(), checked.clone());
        let inner = blocking(&path, move || {
            Ok(Inner {
                file: open()?,
                running: Running::like(&expected),
                expected,
                checked,
            })
        });
        let shared = Arc::new(Mutex::new(inner.await?));
        Ok(Self {
            path,
            len: 0,
            shared,
        })
    }

    /// How far it was read or written, in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Reads what is there; `false` if that is more than `most` bytes.
    pub(super) async fn read_all(
        &mut self,
        most: u64,
        so_far: impl Fn(u64),
    ) -> Result<bool, HubError> {
        loop {
            let read = self.run(|inner, _| inner.read_slice()).await?;
            self.len += read;
            if self.len > most {
                return Ok(false);
            }
            if read == 0 {
                return Ok(true);
            }
            so_far(self.len);
        }
    }

    /// Writes what comes next.
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

    /// Empties it.
    pub(super) async fn start_over(&mut self) -> Result<(), HubError> {
        self.run(|inner, _| {
            inner.file.set_len(0)?;
            inner.file.seek(SeekFrom::Start(0))?;
            inner.running = Running::like(&inner.expected);
            Ok(())
        })
        .await?;
        self.len = 0;
        Ok(())
    }

    /// The checksum of all that was read and written.
    pub(super) async fn checksum(&self) -> Result<Checksum, HubError> {
        self.run(|inner, path| inner.running.clone().finish(path))
            .await
    }

    /// Gives the finished file its own name, and notes that it was checked.
    pub(super) async fn place(self, file: &RemoteFile) -> Result<(), HubError> {
        let file = file.clone();
        self.run(move |inner, path| {
            let name = file.path.below(inner.checked.folder());
            inner.file.sync_all()?;
            std::fs::rename(path, &name)?;
            if let Some(parent) = name.parent() {
                File::open(parent)?.sync_all()?;
            }
            inner.checked.note(&file)
        })
        .await
    }

    /// Removes it.
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
        while read < SLICE {
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
