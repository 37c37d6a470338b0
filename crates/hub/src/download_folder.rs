//! The folder that a download writes to: its lock, and the record of verified
//! files.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::blocking;
use super::path::RECORD;
use super::{Checksum, HubError, RemoteFile};

/// How often, and at which interval, another download's lock is tried. A
/// dropped download finishes its last write within this time.
const LOCK_TRIES: u32 = 50;
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The folder of a download, locked for it, with a record of the files that
/// were verified: hashing all of them each time takes minutes.
#[derive(Debug)]
pub(super) struct DownloadFolder {
    path: PathBuf,
    record: Mutex<Record>,
}

#[derive(Debug)]
struct Record {
    /// Open file handles hold the lock.
    file: File,
    lines: HashMap<String, Line>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Line {
    path: String,
    size: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    checksum: Checksum,
}

impl DownloadFolder {
    /// Opens and locks the folder, creating it if necessary.
    ///
    /// # Errors
    /// [`HubError::Busy`] while another download holds it.
    pub(super) async fn open(folder: &Path) -> Result<Arc<Self>, HubError> {
        for _ in 0..LOCK_TRIES {
            let at = folder.to_owned();
            if let Some(opened) = blocking(folder, move || Self::try_open(at)).await? {
                return Ok(Arc::new(opened));
            }
            tokio::time::sleep(LOCK_RETRY_INTERVAL).await;
        }
        Err(HubError::Busy {
            folder: folder.to_owned(),
        })
    }

    fn try_open(path: PathBuf) -> io::Result<Option<Self>> {
        std::fs::create_dir_all(&path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path.join(RECORD))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some network file systems have no locks; users must then avoid
            // parallel downloads themselves.
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(error);
            }
            _ => {}
        }
        let lines = read_record(&file)?;
        end_torn_line(&mut file)?;
        Ok(Some(Self {
            path,
            record: Mutex::new(Record { file, lines }),
        }))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the record lists the file in place with its present content.
    /// Blocks.
    pub(super) fn is_checked(&self, file: &RemoteFile) -> io::Result<bool> {
        let Some(line) = current_line(file, &self.path)? else {
            return Ok(false);
        };
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(record.lines.get(file.path.as_str()) == Some(&line))
    }

    /// Records durably that the file in place has this checksum. Blocks.
    pub(super) fn record_checked(&self, file: &RemoteFile) -> io::Result<()> {
        let line = current_line(file, &self.path)?.ok_or(io::ErrorKind::NotFound)?;
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.file.write_all(&text)?;
        record.file.sync_data()?;
        record.lines.insert(line.path.clone(), line);
        Ok(())
    }
}

/// The record's line for a file, if it is in place with the right size and
/// content.
fn current_line(file: &RemoteFile, folder: &Path) -> io::Result<Option<Line>> {
    let metadata = metadata_if_exists(&file.path.below(folder))?;
    Ok(metadata
        .filter(|metadata| metadata.is_file() && metadata.size() == file.size)
        .map(|metadata| Line {
            path: file.path.as_str().to_owned(),
            size: file.size,
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            checksum: file.checksum.clone(),
        }))
}

/// Metadata of a file; `None` if there is none.
pub(super) fn metadata_if_exists(path: &Path) -> io::Result<Option<std::fs::Metadata>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        metadata => metadata.map(Some),
    }
}

/// The last line for every path. Ignores torn and foreign lines; their files
/// are hashed again.
fn read_record(file: &File) -> io::Result<HashMap<String, Line>> {
    let mut lines = HashMap::new();
    for text in BufReader::new(file).split(b'\n') {
        if let Ok(line) = serde_json::from_slice::<Line>(&text?) {
            lines.insert(line.path.clone(), line);
        }
    }
    Ok(lines)
}

/// Ends a torn last line, so that the next one starts on its own.
fn end_torn_line(file: &mut File) -> io::Result<()> {
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// How many bytes of these files are still to be downloaded, to compare with
/// the free disk space. Does not count partial downloads, nor files in place
/// with the right size unless the record says that their content differs.
/// Blocks while it looks at the files.
///
/// # Errors
/// [`HubError::Disk`] when the folder cannot be read; a missing folder is fine.
pub fn bytes_missing(files: &[RemoteFile], into: &Path) -> Result<u64, HubError> {
    let disk = |path: &Path, source| HubError::Disk {
        path: path.to_owned(),
        source,
    };
    let record = into.join(RECORD);
    let lines = match File::open(&record) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(HashMap::new()),
        file => file.and_then(|file| read_record(&file)),
    };
    let lines = lines.map_err(|error| disk(&record, error))?;
    let mut missing: u64 = 0;
    for file in files {
        let current =
            current_line(file, into).map_err(|error| disk(&file.path.below(into), error))?;
        let has_other_content = |current: &Line| {
            let recorded = lines.get(&current.path);
            recorded.is_some_and(|recorded| {
                recorded.modified == current.modified && recorded.checksum != current.checksum
            })
        };
        if current.is_some_and(|current| !has_other_content(&current)) {
            continue;
        }
        let partial = file.path.partial_below(into);
        let metadata = metadata_if_exists(&partial).map_err(|error| disk(&partial, error))?;
        // A partial download that is too long is discarded.
        let partial_bytes = metadata.map_or(0, |metadata| metadata.len());
        missing = missing.saturating_add(file.size.saturating_sub(partial_bytes));
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::super::RemotePath;
    use super::*;

    fn file(path: &str, size: u64, digit: &str) -> RemoteFile {
        RemoteFile {
            path: RemotePath::new(path).unwrap(),
            size,
            checksum: Checksum::sha256(&digit.repeat(64)).unwrap(),
        }
    }

    #[tokio::test]
    async fn the_record_survives_a_torn_line() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        std::fs::write(at.join("x"), "123").unwrap();
        std::fs::write(at.join("y"), "123").unwrap();
        let (x, y) = (file("x", 3, "a"), file("y", 3, "b"));
        let download = DownloadFolder::open(at).await.unwrap();
        download.record_checked(&x).unwrap();
        drop(download);
        let record = at.join(RECORD);
        let mut torn = std::fs::read(&record).unwrap();
        torn.extend_from_slice(b"{\"path\":\"y\",\"si");
        std::fs::write(&record, &torn).unwrap();
        let download = DownloadFolder::open(at).await.unwrap();
        assert!(download.is_checked(&x).unwrap());
        assert!(!download.is_checked(&y).unwrap());
        download.record_checked(&y).unwrap();
        drop(download);
        let download = DownloadFolder::open(at).await.unwrap();
        assert!(
            download.is_checked(&y).unwrap(),
            "recorded after the torn line"
        );
        assert!(
            !download.is_checked(&file("x", 3, "c")).unwrap(),
            "another content"
        );
        assert!(
            !download.is_checked(&file("x", 4, "a")).unwrap(),
            "another size"
        );
        let touched = File::options().write(true).open(at.join("x")).unwrap();
        touched.set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(!download.is_checked(&x).unwrap(), "changed since");
        std::fs::remove_file(at.join("y")).unwrap();
        assert!(!download.is_checked(&y).unwrap(), "gone");
    }

    #[test]
    fn a_folder_takes_one_download_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let open = || DownloadFolder::try_open(folder.path().to_owned()).unwrap();
        let first = open();
        assert!(first.is_some());
        assert!(open().is_none());
        drop(first);
        assert!(open().is_some());
    }

    #[tokio::test]
    async fn counts_the_bytes_that_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        let check = |file: &RemoteFile, expect: u64| {
            let missing = bytes_missing(std::slice::from_ref(file), at).unwrap();
            assert_eq!(missing, expect, "{}", file.path);
        };
        let x = file("data/x", 10, "a");
        check(&x, 10);
        std::fs::create_dir(at.join("data")).unwrap();
        let put = |name: &str, bytes: usize| {
            std::fs::write(at.join("data").join(name), vec![0; bytes]).unwrap();
        };
        put("x.partial", 4);
        check(&x, 6);
        put("x", 9);
        check(&x, 6);
        put("x", 10);
        check(&x, 0);
        DownloadFolder::open(at)
            .await
            .unwrap()
            .record_checked(&x)
            .unwrap();
        check(&x, 0);
        check(&file("data/x", 10, "b"), 6);
        let all = [x, file("y", u64::MAX, "a"), file("z", 1, "a")];
        assert_eq!(bytes_missing(&all, at).unwrap(), u64::MAX);
    }
}
