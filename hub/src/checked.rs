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

/// How often another download's lock is looked at, and how long in all. What a
/// dropped download is writing just then ends within it.
const LOOKS: u32 = 50;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The folder of a download, held by this download alone, with a record of the
/// files that were checked: hashing them all each time takes minutes.
#[derive(Debug)]
pub(super) struct Checked {
    folder: PathBuf,
    record: Mutex<Record>,
}

#[derive(Debug)]
struct Record {
    /// Locked as long as it is open.
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

impl Checked {
    /// Makes the folder if there is none.
    ///
    /// # Errors
    /// [`HubError::Busy`] while another download holds it.
    pub(super) async fn open(folder: &Path) -> Result<Arc<Self>, HubError> {
        for _ in 0..LOOKS {
            let at = folder.to_owned();
            if let Some(checked) = blocking(folder, move || Self::try_open(at)).await? {
                return Ok(Arc::new(checked));
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        Err(HubError::Busy {
            folder: folder.to_owned(),
        })
    }

    fn try_open(folder: PathBuf) -> io::Result<Option<Self>> {
        std::fs::create_dir_all(&folder)?;
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(folder.join(RECORD))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some network file systems have no locks; one download at a time
            // is then up to who starts them.
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(error);
            }
            _ => {}
        }
        let lines = read(&file)?;
        end_torn_line(&mut file)?;
        Ok(Some(Self {
            folder,
            record: Mutex::new(Record { file, lines }),
        }))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the file is in place and was checked as it is. Blocks.
    pub(super) fn holds(&self, file: &RemoteFile) -> io::Result<bool> {
        let Some(found) = line(file, &self.folder)? else {
            return Ok(false);
        };
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(record.lines.get(file.path.as_str()) == Some(&found))
    }

    /// Notes that the file in place has this checksum, for good. Blocks.
    pub(super) fn note(&self, file: &RemoteFile) -> io::Result<()> {
        let line = line(file, &self.folder)?.ok_or(io::ErrorKind::NotFound)?;
        let mut text = serde_json::to_vec(&line)?;
        text.push(b'\n');
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        record.file.write_all(&text)?;
        record.file.sync_data()?;
        record.lines.insert(line.path.clone(), line);
        Ok(())
    }
}

/// What the record says of a file that is in place with the right size and
/// content.
fn line(file: &RemoteFile, folder: &Path) -> io::Result<Option<Line>> {
    let found = metadata(&file.path.below(folder))?;
    Ok(found
        .filter(|found| found.is_file() && found.size() == file.size)
        .map(|found| Line {
            path: file.path.as_str().to_owned(),
            size: file.size,
            modified: (found.mtime(), found.mtime_nsec()),
            checksum: file.checksum.clone(),
        }))
}

/// Of a file that may not be there.
pub(super) fn metadata(path: &Path) -> io::Result<Option<std::fs::Metadata>> {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// The last line of every path; a line that is torn or not one of ours counts
/// for nothing, and its file is hashed again.
fn read(file: &File) -> io::Result<HashMap<String, Line>> {
    let mut lines = HashMap::new();
    for text in BufReader::new(file).split(b'\n') {
        if let Ok(line) = serde_json::from_slice::<Line>(&text?) {
            lines.insert(line.path.clone(), line);
        }
    }
    Ok(lines)
}

/// So that the next line starts on one of its own.
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

/// How many bytes of these files are still to come, for comparing with the
/// room on the disk. What is there of unfinished downloads is not counted, nor
/// what is in place with the right size and is not known to be another
/// content. Blocks for as long as looking at the files takes.
///
/// # Errors
/// [`HubError::Disk`] when the folder cannot be read; that it is not there is
/// fine.
pub fn bytes_missing(files: &[RemoteFile], into: &Path) -> Result<u64, HubError> {
    let disk = |path: &Path, source| HubError::Disk {
        path: path.to_owned(),
        source,
    };
    let record = into.join(RECORD);
    let lines = match File::open(&record) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(HashMap::new()),
        opened => opened.and_then(|file| read(&file)),
    };
    let lines = lines.map_err(|error| disk(&record, error))?;
    let mut missing: u64 = 0;
    for file in files {
        let found = line(file, into).map_err(|error| disk(&file.path.below(into), error))?;
        let another = |found: &Line| {
            let known = lines.get(&found.path);
            known.is_some_and(|known| {
                known.modified == found.modified && known.checksum != found.checksum
            })
        };
        if found.is_some_and(|found| !another(&found)) {
            continue;
        }
        let partial = file.path.partial_below(into);
        let begun = metadata(&partial).map_err(|error| disk(&partial, error))?;
        // One that is too long is thrown away.
        let begun = begun.map_or(0, |begun| begun.len());
        missing = missing.saturating_add(file.size.saturating_sub(begun));
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
        let checked = Checked::open(at).await.unwrap();
        checked.note(&x).unwrap();
        drop(checked);
        let record = at.join(RECORD);
        let mut torn = std::fs::read(&record).unwrap();
        torn.extend_from_slice(b"{\"path\":\"y\",\"si");
        std::fs::write(&record, &torn).unwrap();
        let checked = Checked::open(at).await.unwrap();
        assert!(checked.holds(&x).unwrap());
        assert!(!checked.holds(&y).unwrap());
        checked.note(&y).unwrap();
        drop(checked);
        let checked = Checked::open(at).await.unwrap();
        assert!(checked.holds(&y).unwrap(), "noted behind the torn line");
        assert!(
            !checked.holds(&file("x", 3, "c")).unwrap(),
            "another content"
        );
        assert!(!checked.holds(&file("x", 4, "a")).unwrap(), "another size");
        let touched = File::options().write(true).open(at.join("x")).unwrap();
        touched.set_modified(std::time::UNIX_EPOCH).unwrap();
        assert!(!checked.holds(&x).unwrap(), "changed since");
        std::fs::remove_file(at.join("y")).unwrap();
        assert!(!checked.holds(&y).unwrap(), "gone");
    }

    #[test]
    fn a_folder_takes_one_download_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Checked::try_open(folder.path().to_owned()).unwrap();
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
        Checked::open(at).await.unwrap().note(&x).unwrap();
        check(&x, 0);
        check(&file("data/x", 10, "b"), 6);
        let all = [x, file("y", u64::MAX, "a"), file("z", 1, "a")];
        assert_eq!(bytes_missing(&all, at).unwrap(), u64::MAX);
    }
}
