//! Which processes of an installation are alive: each that makes containers
//! holds a lock on a file of its own, which the system lets go of when the
//! process ends, however it ends.

use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;

use crate::files;

/// This process, as its containers are marked with it.
#[derive(Debug)]
pub struct Process {
    pub name: String,
    /// Of the files of all processes.
    folder: PathBuf,
    held: Mutex<Option<File>>,
}

impl Process {
    pub fn new(data: &Path) -> Self {
        Self {
            name: uuid::Uuid::now_v7().to_string(),
            folder: data.join("processes"),
            held: Mutex::default(),
        }
    }

    /// From now on others know that it is alive. Blocks.
    pub fn show(&self) -> anyhow::Result<()> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return Ok(());
        }
        let path = self.folder.join(&self.name);
        let cannot = || format!("cannot lock {}", path.display());
        std::fs::create_dir_all(&self.folder).with_context(cannot)?;
        // Whoever looked before it was locked took it for one of the dead.
        while held.is_none() {
            let file = File::create(&path).with_context(cannot)?;
            file.lock().with_context(cannot)?;
            *held = path.exists().then_some(file);
        }
        Ok(())
    }

    /// Names of those that are alive; forgets the others. Blocks.
    pub fn alive(&self) -> anyhow::Result<HashSet<String>> {
        let cannot = || format!("cannot read {}", self.folder.display());
        std::fs::create_dir_all(&self.folder).with_context(cannot)?;
        let mut alive = HashSet::new();
        for entry in std::fs::read_dir(&self.folder).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // Not made anew when it has gone meanwhile: its process would take
            // it for its own.
            match File::open(entry.path()).and_then(files::lock_opened) {
                Ok(None) => {
                    alive.insert(name);
                }
                // Removed before the lock is let go of: see above.
                Ok(Some(_lock)) => {
                    let _ = std::fs::remove_file(entry.path());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                // Nobody's containers are removed on suspicion.
                Err(error) => {
                    tracing::warn!("{}: {error}", entry.path().display());
                    alive.insert(name);
                }
            }
        }
        Ok(alive)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            let _ = std::fs::remove_file(self.folder.join(&self.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_is_alive() {
        let data = tempfile::tempdir().unwrap();
        let [watcher, worker, killed] = [(); 3].map(|()| Process::new(data.path()));
        assert!(watcher.alive().unwrap().is_empty());
        worker.show().unwrap();
        worker.show().unwrap();
        killed.show().unwrap();
        assert_eq!(watcher.alive().unwrap().len(), 2);
        // What the system does for a process that is killed.
        killed.held.lock().unwrap().take();
        for watching in [&watcher, &worker] {
            // A program that another test begins has our files for a moment.
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

    /// Many look while many begin: nobody who says to be alive is missed.
    #[test]
    fn beginning_while_others_look() {
        let data = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let process = Process::new(data.path());
                        process.show().unwrap();
                        assert!(process.alive().unwrap().contains(&process.name));
                    }
                });
            }
        });
    }
}
