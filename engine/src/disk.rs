//! What this installation takes of the disk, and of what.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::Engine;
use crate::blocking::blocking;
use crate::error::Result;
use crate::host;
use crate::images::{Images, Layer};
use crate::sandbox::Sandbox;

/// What takes room, in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskUse {
    /// What is in the data folder.
    pub parts: Vec<DiskPart>,
    /// The images of the tasks; none where the container engine does not
    /// answer.
    pub images: Option<ImageUse>,
    /// What may still be written in the data folder.
    pub free_bytes: Option<u64>,
}

/// A part of the data folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiskPart {
    pub name: &'static str,
    /// What is in it.
    pub holds: &'static str,
    pub files: u64,
    /// On the disk, where a file under two names is one.
    pub bytes: u64,
}

/// The images tasks are worked on in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ImageUse {
    /// Those the container engine has.
    pub images: u64,
    /// Those it has lost; their tasks have to be imported again.
    pub missing: u64,
    /// Every layer once.
    pub bytes: u64,
    /// What they would take if none shared a layer with another.
    pub apart_bytes: u64,
}

/// The parts there are; everything else is the last one.
const PARTS: [(&str, &str, &[&str]); 4] = [
    (
        "results",
        "code, reports, logs and recordings of runs",
        &["artifacts"],
    ),
    (
        "tasks",
        "repositories of the tasks, as they were imported",
        &["tasks"],
    ),
    ("harnesses", "how agent programs are made", &["harnesses"]),
    (
        "database",
        "runs, scores, accounts",
        &["swe-ci.sqlite", "swe-ci.sqlite-wal", "swe-ci.sqlite-shm"],
    ),
];
const REST: (&str, &str) = ("other", "the gateway's spool, locks, keys");

impl Engine {
    /// What it takes of the disk. Reads every file's size: a while, where there
    /// are many.
    pub async fn disk_use(&self) -> Result<DiskUse> {
        let data = self.config().data.clone();
        let parts = blocking({
            let data = data.clone();
            move || parts(&data)
        });
        let digests = self.inner.store.task_images().await?;
        let images = match self.docker().ping().await {
            Ok(()) => Some(image_use(self.images(), &digests).await?),
            Err(_) => None,
        };
        Ok(DiskUse {
            parts: parts.await?,
            images,
            free_bytes: host::free_bytes(&data),
        })
    }
}

fn parts(data: &Path) -> anyhow::Result<Vec<DiskPart>> {
    let mut counts: HashMap<&str, Count> = HashMap::new();
    let mut seen = HashSet::new();
    let entries = fs::read_dir(data).with_context(|| format!("cannot read {}", data.display()))?;
    for entry in entries {
        let entry = entry?;
        let file = entry.file_name();
        let part = PARTS
            .iter()
            .find(|(_, _, files)| files.iter().any(|known| file == *known));
        let part = part.map_or(REST.0, |(name, ..)| name);
        counts
            .entry(part)
            .or_default()
            .take(&entry.path(), &mut seen);
    }
    let all = PARTS.map(|(name, holds, _)| (name, holds));
    let all = all.into_iter().chain([REST]).map(|(name, holds)| {
        let Count { files, bytes } = counts.remove(name).unwrap_or_default();
        DiskPart {
            name,
            holds,
            files,
            bytes,
        }
    });
    Ok(all.collect())
}

#[derive(Debug, Default)]
struct Count {
    files: u64,
    bytes: u64,
}

impl Count {
    /// What goes away while one looks takes nothing.
    fn take(&mut self, path: &Path, seen: &mut HashSet<(u64, u64)>) {
        let mut paths = vec![path.to_owned()];
        while let Some(path) = paths.pop() {
            let Ok(found) = path.symlink_metadata() else {
                continue;
            };
            if !seen.insert((found.dev(), found.ino())) {
                continue;
            }
            // In pieces of 512 bytes, whatever the file system's are.
            self.bytes += found.blocks() * 512;
            if found.is_dir() {
                let inside = fs::read_dir(&path).into_iter().flatten().flatten();
                paths.extend(inside.map(|entry| entry.path()));
            } else {
                self.files += 1;
            }
        }
    }
}

async fn image_use(images: &Images, digests: &[String]) -> anyhow::Result<ImageUse> {
    let mut all = Vec::new();
    let mut missing = 0;
    for digest in digests {
        match images.layers(digest).await? {
            Some(layers) => all.push(layers),
            None => missing += 1,
        }
    }
    Ok(ImageUse {
        missing,
        ..together(&all)
    })
}

fn together(images: &[Vec<Layer>]) -> ImageUse {
    let layers = images.iter().flatten();
    let once: HashMap<&str, u64> = layers.clone().map(|(id, size)| (&**id, *size)).collect();
    ImageUse {
        images: images.len() as u64,
        missing: 0,
        bytes: once.values().sum(),
        apart_bytes: layers.map(|(_, size)| size).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_that_are_shared_count_once() {
        let check = |images: &[&[(&str, u64)]], bytes, apart| {
            let owned = |layers: &&[(&str, u64)]| {
                let owned = layers.iter().map(|(id, size)| ((*id).to_owned(), *size));
                owned.collect::<Vec<_>>()
            };
            let found = together(&images.iter().map(owned).collect::<Vec<_>>());
            assert_eq!((found.bytes, found.apart_bytes), (bytes, apart));
            assert_eq!(found.images, images.len() as u64);
        };
        check(&[], 0, 0);
        check(&[&[("a", 10), ("b", 1)]], 11, 11);
        check(&[&[("a", 10), ("b", 1)], &[("a", 10), ("c", 2)]], 13, 23);
        check(&[&[("a", 10)], &[("a", 10)]], 10, 20);
    }

    #[test]
    fn every_file_is_of_one_part_and_counts_once() {
        let data = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: usize| {
            let path = data.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![b'x'; bytes]).unwrap();
        };
        write("artifacts/a/b", 8_192);
        write("artifacts/c", 1);
        write("swe-ci.sqlite", 4_096);
        write("somewhere/else", 1);
        let twice = data.path().join("artifacts/twice");
        fs::hard_link(data.path().join("artifacts/a/b"), &twice).unwrap();
        // Neither followed nor in a circle.
        std::os::unix::fs::symlink("..", data.path().join("artifacts/up")).unwrap();
        let parts = parts(data.path()).unwrap();
        let of = |name: &str| {
            let part = parts.iter().find(|part| part.name == name).unwrap();
            (part.files, part.bytes)
        };
        let (files, bytes) = of("results");
        assert_eq!(files, 3, "a link under two names is one");
        assert!((8_192..65_536).contains(&bytes), "{bytes}");
        assert_eq!(of("database").0, 1);
        assert_eq!(of("other").0, 1);
        assert_eq!(of("tasks"), (0, 0));
        assert!(super::parts(&data.path().join("none")).is_err());
    }
}
