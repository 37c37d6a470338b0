//! Disk use of this installation.

use std::cmp::Reverse;
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
use swe_ci_views::disk::{DiskPart, DiskUse, ImageUse, RunUse, SplitUse};

use crate::Engine;

/// The most runs that are listed.
const LISTED: usize = 10;

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
        let (parts, own) = parts.await?;
        let digests = self.store.task_images().await?;
        let images = match self.docker.ping().await {
            Ok(()) => Some(image_use(&self.images, &digests).await?),
            Err(_) => None,
        };
        let (runs, splits) = self.owners_on_disk(&own).await?;
        Ok(DiskUse {
            parts,
            images,
            image_quota: self.config().image_quota,
            free_bytes: host::free_bytes(&data),
            runs,
            splits,
        })
    }

    /// The largest runs, and all splits, the largest first.
    async fn owners_on_disk(&self, own: &OwnBytes) -> Result<(Vec<RunUse>, Vec<SplitUse>)> {
        let mut of_runs: HashMap<String, u64> = HashMap::new();
        let mut splits: HashMap<String, SplitUse> = HashMap::new();
        for [task, split] in self.store.tasks_in_splits().await? {
            let bytes = own.tasks.get(&task).copied().unwrap_or_default();
            splits.entry(split).or_default().task_bytes += bytes;
        }
        for [evolution, run, split] in self.store.evolution_owners().await? {
            if let Some(bytes) = own.evolutions.get(&evolution) {
                *of_runs.entry(run).or_default() += bytes;
                splits.entry(split).or_default().run_bytes += bytes;
            }
        }
        let mut largest: Vec<(String, u64)> = of_runs.into_iter().collect();
        largest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        largest.truncate(LISTED);
        let mut runs = Vec::new();
        for (run_id, bytes) in largest {
            let config = self.store.run(&run_id).await?.config;
            runs.push(RunUse {
                run_id,
                model: config.model,
                split: config.split,
                bytes,
            });
        }
        let named = splits
            .into_iter()
            .map(|(split, used)| SplitUse { split, ..used });
        let mut splits: Vec<SplitUse> = named.collect();
        splits.sort_by_key(|of| (Reverse(of.task_bytes + of.run_bytes), of.split.clone()));
        Ok((runs, splits))
    }
}

/// The bytes of folders that belong to one evolution or task, by its id.
#[derive(Debug, Default)]
struct OwnBytes {
    evolutions: HashMap<String, u64>,
    tasks: HashMap<String, u64>,
}

fn parts(data: &Path) -> anyhow::Result<(Vec<DiskPart>, OwnBytes)> {
    let mut parts = PARTS.map(|(name, holds, _)| DiskPart {
        name: name.to_owned(),
        holds: holds.to_owned(),
        files: 0,
        bytes: 0,
    });
    let (mut seen, mut own) = (HashSet::new(), OwnBytes::default());
    // First, and one by one, those that are somebody's.
    own.evolutions = add_each(&mut parts[0], &data.join("artifacts/evolutions"), &mut seen);
    own.tasks = add_each(&mut parts[1], &data.join("tasks"), &mut seen);
    let entries = fs::read_dir(data).with_context(|| format!("cannot read {}", data.display()))?;
    for entry in entries {
        let entry = entry?;
        let file = entry.file_name();
        let known = |(_, _, files): &(_, _, &[&str])| files.iter().any(|known| file == *known);
        let at = PARTS.iter().position(known).unwrap_or(PARTS.len() - 1);
        add(&mut parts[at], entry.path(), &mut seen);
    }
    Ok((parts.into(), own))
}

/// Adds what is in a folder; returns the bytes of each, by its name.
fn add_each(
    part: &mut DiskPart,
    folder: &Path,
    seen: &mut HashSet<(u64, u64)>,
) -> HashMap<String, u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let one = |entry: fs::DirEntry| {
        let before = part.bytes;
        add(part, entry.path(), seen);
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, part.bytes - before)
    };
    entries.map(one).collect()
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
        write("artifacts/evolutions/e/0001/log", 8_192);
        write("tasks/t/code", 8_192);
        write("swe-ci.sqlite", 4_096);
        write("somewhere/else", 1);
        let twice = data.path().join("artifacts/twice");
        fs::hard_link(data.path().join("artifacts/a/b"), &twice).unwrap();
        // A link that must neither be followed nor cause a loop.
        std::os::unix::fs::symlink("..", data.path().join("artifacts/up")).unwrap();
        let (parts, own) = parts(data.path()).unwrap();
        assert!((8_192..65_536).contains(&own.evolutions["e"]));
        assert!((8_192..65_536).contains(&own.tasks["t"]));
        let of = |name: &str| {
            let part = parts.iter().find(|part| part.name == name).unwrap();
            (part.files, part.bytes)
        };
        let (files, bytes) = of("results");
        assert_eq!(files, 4, "a link under two names is one");
        assert!((16_384..65_536).contains(&bytes), "{bytes}");
        assert_eq!(of("database").0, 1);
        assert_eq!(of("other").0, 1);
        assert_eq!(of("tasks").0, 1);
        assert!(super::parts(&data.path().join("none")).is_err());
    }
}
