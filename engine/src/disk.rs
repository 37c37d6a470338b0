//! What this installation takes of the disk, and of what.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use swe_ci_core::account::AccountRole;
use swe_ci_core::disk::{DiskPart, DiskUse, ImageUse};

use crate::Engine;
use crate::blocking::blocking;
use crate::error::{Error, Result};
use crate::harness::Layers;
use crate::host;
use crate::images::{Held, Images, Layer};
use crate::sandbox::Sandbox;
use crate::shelf::Shelf;

/// The parts there are; everything else is the last one.
const PARTS: [(&str, &str, &[&str]); 5] = [
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
        "what was downloaded or made, and archives of images",
        &["datasets", "images", "curations"],
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
    /// What it takes of the disk; for administrators. Reads every file's size: a
    /// while, where there are many.
    ///
    /// # Errors
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn disk_use(&self) -> Result<DiskUse> {
        self.require(AccountRole::Admin)?;
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
            image_quota: self.config().image_quota,
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
            name: name.to_owned(),
            holds: holds.to_owned(),
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

/// What was used this lately is not given back: whoever prepared it or works in
/// it goes on with it.
const LATELY: Duration = Duration::from_mins(10);
/// How often the quota is looked at.
const EVERY: Duration = Duration::from_mins(1);

/// Something that was given back to the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GivenBack {
    /// The digest of an image, or the name of a harness's layer.
    pub name: String,
    /// What is taken less without it.
    pub bytes: u64,
}

impl Engine {
    /// Gives back images of tasks and layers of harnesses, the longest unused
    /// first, until those that are left take no more than `quota` bytes. Kept
    /// are those that are worked with, were used in the last ten minutes, or
    /// could not be made again. They come back when they are needed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the container engine does not answer;
    /// [`Error::Unauthenticated`], [`Error::Forbidden`].
    pub async fn keep_within(&self, quota: u64) -> Result<Vec<GivenBack>> {
        self.require(AccountRole::Admin)?;
        let inner = &self.inner;
        inner
            .docker
            .ping()
            .await
            .map_err(|error| Error::Unavailable(format!("images cannot be looked at: {error}")))?;
        let (shelf, layers) = (&inner.shelf, inner.harnesses.layers());
        let mut held: Vec<(Keeper<'_>, Held)> = Vec::new();
        held.extend(
            shelf
                .held()
                .await?
                .into_iter()
                .map(|h| (Keeper::Shelf(shelf), h)),
        );
        held.extend(
            layers
                .held()
                .await?
                .into_iter()
                .map(|h| (Keeper::Layers(layers), h)),
        );
        held.sort_by_key(|(_, held)| held.used);
        let at_work = inner.store.images_at_work().await?;
        let mut given = Vec::new();
        let mut at = 0;
        while at < held.len() && bytes(&held) > quota {
            let (keeper, oldest) = &held[at];
            let lately = oldest.used.elapsed().is_ok_and(|since| since < LATELY);
            let name = oldest.name.clone();
            if lately || at_work.contains(&name) || !keeper.give_back(&name).await? {
                at += 1;
                continue;
            }
            let before = bytes(&held);
            held.remove(at);
            let bytes = before - bytes(&held);
            tracing::info!(name, bytes, "given back to the disk");
            given.push(GivenBack { name, bytes });
        }
        Ok(given)
    }

    /// Keeps to the quota, where there is one.
    pub(crate) async fn keep_tidy(&self) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(EVERY).await;
            if let Some(quota) = self.config().image_quota
                && let Err(error) = self.keep_within(quota).await
            {
                tracing::warn!("cannot keep to the quota of images: {error}");
            }
        }
    }
}

/// Who can give something back.
enum Keeper<'a> {
    Shelf(&'a Shelf),
    Layers(&'a Layers),
}

impl Keeper<'_> {
    async fn give_back(&self, name: &str) -> anyhow::Result<bool> {
        match self {
            Self::Shelf(shelf) => shelf.give_back(name).await,
            Self::Layers(layers) => layers.give_back(name).await,
        }
    }
}

/// Every layer once.
fn bytes(held: &[(Keeper<'_>, Held)]) -> u64 {
    let layers = held.iter().flat_map(|(_, held)| &held.layers);
    let once: HashSet<&Layer> = layers.collect();
    once.iter().map(|(_, size)| size).sum()
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
