//! Eviction of task images and harness layers: by the quota, by command, and in
//! the background of a page.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::{Error, Result};
use swe_ci_sandbox::Sandbox;
use swe_ci_sandbox::images::{EvictableImage, Layer};
use swe_ci_views::account::AccountRole;
use swe_ci_views::background::BackgroundWork;
use swe_ci_views::disk::{Evicted, EvictionPlan, size_shown};

use crate::Engine;

/// An image or layer used this recently is not evicted: its user still needs
/// it.
const RECENTLY: Duration = Duration::from_mins(10);
const CHECK_INTERVAL: Duration = Duration::from_mins(1);

/// An image or a layer that returns when it is needed.
#[derive(Debug, Clone)]
struct Cached {
    image: EvictableImage,
    is_layer: bool,
    /// In use, or used recently.
    needed: bool,
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Evicts task images and harness layers, the longest unused first, until
    /// the rest takes no more than `quota` bytes. Keeps those that are in use,
    /// were used in the last ten minutes, or could not be built again. Evicted
    /// ones return when they are needed.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the container engine does not answer.
    pub async fn keep_within(&self, quota: u64) -> Result<Vec<Evicted>> {
        let (mut cached, mut evicted, mut at) = (self.cached().await?, Vec::new(), 0);
        while let Some(next) = next(&cached, at, quota) {
            at = next;
            if !self.evict(&cached[at]).await? {
                at += 1;
                continue;
            }
            let Evicted { name, bytes, .. } = take(&mut cached, at, &mut evicted);
            tracing::info!(name, bytes, "evicted");
        }
        Ok(evicted)
    }

    /// False when something uses it.
    async fn evict(
        &self,
        Cached {
            image, is_layer, ..
        }: &Cached,
    ) -> Result<bool> {
        Ok(match is_layer {
            true => self.harnesses.layers().evict(&image.name).await?,
            false => self.image_cache.give_back(&image.name).await?,
        })
    }

    /// What [`Engine::keep_within`] would evict.
    ///
    /// # Errors
    /// As there.
    pub async fn eviction_plan(&self, quota: u64) -> Result<EvictionPlan> {
        let mut cached = self.cached().await?;
        let cached_bytes = bytes(&cached);
        let mut evicted = Vec::new();
        while let Some(at) = next(&cached, 0, quota) {
            take(&mut cached, at, &mut evicted);
        }
        Ok(EvictionPlan {
            cached_bytes,
            evicted,
        })
    }

    /// Starts [`Engine::keep_within`] in the background of this process, whose
    /// machine has the images.
    ///
    /// # Errors
    /// As there; [`Error::Conflict`] while another eviction is at work.
    pub async fn start_eviction(&self, quota: u64) -> Result<()> {
        self.cached().await?;
        let engine = self.clone();
        self.eviction.start(self.by(), async move {
            let evicted = engine.keep_within(quota).await?;
            let freed = evicted.iter().map(|evicted| evicted.bytes).sum();
            let count = evicted.len();
            let result = format!("{count} evicted, {} freed", size_shown(freed));
            engine.store.note_eviction(engine.by(), &result).await?;
            Ok(result)
        })
    }

    /// The eviction that a page started last, since the start of this process.
    pub fn eviction(&self) -> Result<Option<BackgroundWork>> {
        self.require(AccountRole::Admin)?;
        Ok(self.eviction.last())
    }

    pub(crate) async fn enforce_quota(&self) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            if let Some(quota) = self.config().image_quota
                && let Err(error) = self.keep_within(quota).await
            {
                tracing::warn!("cannot enforce the image quota: {error:#}");
            }
        }
    }

    /// Everything that can be evicted, the longest unused first.
    async fn cached(&self) -> Result<Vec<Cached>> {
        self.require(AccountRole::Admin)?;
        let answer = self.docker.ping().await;
        answer.map_err(|error| Error::Unavailable(format!("images cannot be listed: {error}")))?;
        let images = self.image_cache.evictable().await?.into_iter();
        let images = images.map(|image| (image, false));
        let layers = self.harnesses.layers().evictable().await?.into_iter();
        let layers = layers.map(|layer| (layer, true));
        let at_work = self.store.images_at_work().await?;
        let cached = images.chain(layers).map(|(image, is_layer)| {
            let recent = image.used.elapsed().is_ok_and(|since| since < RECENTLY);
            Cached {
                needed: recent || at_work.contains(&image.name),
                image,
                is_layer,
            }
        });
        let mut cached: Vec<Cached> = cached.collect();
        cached.sort_by_key(|cached| cached.image.used);
        Ok(cached)
    }
}

/// The first to evict from a place on; none when the rest takes no more than
/// `quota` bytes.
fn next(cached: &[Cached], from: usize, quota: u64) -> Option<usize> {
    let rest = cached.get(from..).filter(|_| bytes(cached) > quota)?;
    let free = rest.iter().position(|cached| !cached.needed)?;
    Some(from + free)
}

/// Moves one to the evicted, with the disk space that it alone took.
fn take<'e>(cached: &mut Vec<Cached>, at: usize, evicted: &'e mut Vec<Evicted>) -> &'e Evicted {
    let before = bytes(cached);
    let Cached {
        image, is_layer, ..
    } = cached.remove(at);
    let taken = Evicted {
        used_at: moment(image.used),
        name: image.name,
        is_layer,
        bytes: before - bytes(cached),
    };
    evicted.push(taken);
    &evicted[evicted.len() - 1]
}

fn bytes(cached: &[Cached]) -> u64 {
    bytes_of(cached.iter().map(|cached| &cached.image))
}

/// Counts every layer once.
pub(super) fn bytes_of<'i>(images: impl IntoIterator<Item = &'i EvictableImage>) -> u64 {
    let layers = images.into_iter().flat_map(|image| &image.layers);
    let once: HashSet<&Layer> = layers.collect();
    once.iter().map(|(_, size)| size).sum()
}

/// In RFC 3339.
fn moment(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    rfc3339(crate::millis(since.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cached(name: &str, needed: bool, layers: &[(&str, u64)]) -> Cached {
        let layers = layers.iter().map(|(id, size)| ((*id).to_owned(), *size));
        Cached {
            image: EvictableImage {
                name: name.to_owned(),
                used: SystemTime::UNIX_EPOCH,
                layers: layers.collect(),
            },
            is_layer: false,
            needed,
        }
    }

    #[test]
    fn what_is_needed_stays() {
        let all = [
            cached("old", false, &[("base", 100), ("o", 10)]),
            cached("at work", true, &[("base", 100), ("w", 20)]),
            cached("new", false, &[("n", 40)]),
        ];
        let check = |quota, expect: &[(&str, u64)]| {
            let (mut rest, mut evicted) = (all.to_vec(), Vec::new());
            while let Some(at) = next(&rest, 0, quota) {
                take(&mut rest, at, &mut evicted);
            }
            let found: Vec<(&str, u64)> = evicted
                .iter()
                .map(|evicted| (evicted.name.as_str(), evicted.bytes))
                .collect();
            assert_eq!(found, expect, "{quota}");
        };
        assert_eq!(bytes(&all), 170);
        check(170, &[]);
        check(165, &[("old", 10)]);
        // The base stays with the image at work.
        check(0, &[("old", 10), ("new", 40)]);
        // One that something uses is passed over.
        assert_eq!(next(&all, 1, 0), Some(2));
        assert_eq!(next(&all, 3, 0), None);
    }
}
