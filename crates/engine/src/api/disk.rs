//! Disk use of this installation.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_sandbox::images::{Images, Layer};
use swe_ci_sandbox::{Sandbox, host};
use swe_ci_views::account::AccountRole;
use swe_ci_views::disk::{DiskPart, DiskUse, ImageUse};

use crate::Engine;

/// The parts, what they hold and where; the last one is the rest.
const PARTS: [(&str, &str, &[&str]); 6] = [
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
    (
        "datasets",
        "downloaded or created datasets, and archives of images",
        &["datasets", "images", "curations"],
    ),
    ("harnesses", "how agent programs are built", &["harnesses"]),
    (
        "database",
        "runs, scores, accounts",
        &["swe-ci.sqlite", "swe-ci.sqlite-wal", "swe-ci.sqlite-shm"],
    ),
    ("other", "the gateway's spool, locks, keys", &[]),
];

#[swe_ci_boxed::boxed]
impl Engine {
    /// The disk use by part; for administrators. Reads every file's size: slow
    /// where there are many.
    pub async fn disk_use(&self) -> Result<DiskUse> {
        self.require(AccountRole::Admin)?;
        let data = self.config().data.clone();
        let parts = blocking({
            let data = data.clone();
            move || parts(&data)
        });
        let digests = self.store.task_images().await?;
        let images = match self.docker.ping().await {
            Ok(()) => Some(image_use(&self.images, &digests).await?),
            Err(_) => None,
        };
        Ok(DiskUse {
            parts: parts.await?,
            images,
            image_quota: self.config().image_quota,
            free_bytes: host::free_bytes(&data),
        })
    }
}

fn parts(data: &Path) -> anyhow::Result<Vec<DiskPart>> {
    let mut parts = PARTS.map(|(name, holds, _)| DiskPart {
        name: name.to_owned(),
        holds: holds.to_owned(),
        files: 0,
        bytes: 0,
    });
    let mut seen = HashSet::new();
    let entries = fs::read_dir(data).with_context(|| format!("cannot read {}", data.display()))?;
    for entry in entries {
        let entry = entry?;
        let file = entry.file_name();
        let known = |(_, _, files): &(_, _, &[&str])| files.iter().any(|known| file == *known);
        let at = PARTS.iter().position(known).unwrap_or(PARTS.len() - 1);
        add(&mut parts[at], entry.path(), &mut seen);
    }
    Ok(parts.into())
}

/// Files that vanish meanwhile count nothing.
fn add(part: &mut DiskPart, path: PathBuf, seen: &mut HashSet<(u64, u64)>) {
    let mut paths = vec![path];
    while let Some(path) = paths.pop() {
        let Ok(found) = path.symlink_metadata() else {
            continue;
        };
        if !seen.insert((found.dev(), found.ino())) {
            continue;
        }
        // In blocks of 512 bytes, whatever the file system's block size.
        part.bytes += found.blocks() * 512;
        if found.is_dir() {
            let inside = fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(inside.map(|entry| entry.path()));
        } else {
            part.files += 1;
        }
    }
}

async fn image_use(images: &Images, digests: &[String]) -> anyhow::Result<ImageUse> {
    let mut all = Vec::new();
    for digest in digests {
        all.extend(images.layers(digest).await?);
    }
    Ok(ImageUse {
        missing: (digests.len() - all.len()) as u64,
        ..use_of(&all)
    })
}

fn use_of(images: &[Vec<Layer>]) -> ImageUse {
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
            let found = use_of(&images.iter().map(owned).collect::<Vec<_>>());
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
        // A link that must neither be followed nor cause a loop.
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
