//! Tracks which processes of an installation are alive. Each process that
//! creates containers holds a lock on its own file; the operating system
//! releases the lock when the process ends, for any reason.

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use swe_ci_base::files;

/// This process; its containers carry its name as a label.
#[derive(Debug)]
pub struct Process {
    pub name: String,
    /// The folder with the lock files of all processes.
    folder: PathBuf,
    lock: Mutex<Option<File>>,
}

impl Process {
    pub fn new(data: &Path) -> Self {
        Self {
            name: uuid::Uuid::now_v7().to_string(),
            folder: data.join("processes"),
            lock: Mutex::default(),
        }
    }

    /// Announces to other processes that this one is alive. Blocks.
    pub fn announce(&self) -> anyhow::Result<()> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if lock.is_some() {
            return Ok(());
        }
        let path = self.folder.join(&self.name);
        let cannot = || format!("cannot lock {}", path.display());
        std::fs::create_dir_all(&self.folder).with_context(cannot)?;
        // A process that looked before the file was locked took this one for
        // dead and removed the file; then create it again.
        while lock.is_none() {
            let file = File::create(&path).with_context(cannot)?;
            file.lock().with_context(cannot)?;
            *lock = path.exists().then_some(file);
        }
        Ok(())
    }

    /// Names of the processes that are alive; removes the files of the others.
    /// Blocks.
    pub fn alive(&self) -> anyhow::Result<HashSet<String>> {
        let cannot = || format!("cannot read {}", self.folder.display());
        std::fs::create_dir_all(&self.folder).with_context(cannot)?;
        let mut alive = HashSet::new();
        for entry in std::fs::read_dir(&self.folder).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Open without creating: a file created here would look to its
            // process like its own.
            match File::open(entry.path()).and_then(files::lock_opened) {
                Ok(None) => {
                    alive.insert(name);
                }
                // Remove the file before releasing the lock: see above.
                Ok(Some(_lock)) => {
                    let _ = std::fs::remove_file(entry.path());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // When in doubt, count the process as alive, so that its
                // containers stay.
                Err(error) => {
                    tracing::warn!("{}: {error:#}", entry.path().display());
                    alive.insert(name);
                }
            }
        }
        Ok(alive)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let lock = self.lock.get_mut().unwrap_or_else(PoisonError::into_inner);
        if lock.is_some() {
            let _ = std::fs::remove_file(self.folder.join(&self.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn dead_processes_are_forgotten() {
        let data = tempfile::tempdir().unwrap();
        let [watcher, worker, killed] = [(); 3].map(|()| Process::new(data.path()));
        assert!(watcher.alive().unwrap().is_empty());
        worker.announce().unwrap();
        worker.announce().unwrap();
        killed.announce().unwrap();
        assert_eq!(watcher.alive().unwrap().len(), 2);
        // The operating system does this for a killed process.
        killed.lock.lock().unwrap().take();
        for watching in [&watcher, &worker] {
            // A program that another test starts inherits our files for a
            // moment.
            for _ in 0..500 {
                if !watching.alive().unwrap().contains(&killed.name) {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
            let alive = watching.alive().unwrap();
            assert_eq!(alive, HashSet::from([worker.name.clone()]));
        }
        assert!(!data.path().join("processes").join(&killed.name).exists());
        drop(worker);
        assert!(watcher.alive().unwrap().is_empty());
        let left = std::fs::read_dir(data.path().join("processes")).unwrap();
        assert_eq!(left.count(), 0);
    }

    /// Processes start while others look: none that announced itself is missed.
    #[test]
    fn starting_while_others_look() {
        let data = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let process = Process::new(data.path());
                        process.announce().unwrap();
                        assert!(process.alive().unwrap().contains(&process.name));
                    }
                });
            }
        });
    }
}
