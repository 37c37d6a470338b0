//! Work that one process of all does, and whose result the others fetch.

use std::convert::Infallible;
use std::time::Duration;

use swe_ci_store::Store;

/// How long a process that says nothing keeps the others waiting.
const LEASE_MS: i64 = 60_000;
/// How often it renews its lease.
const RENEWAL: Duration = Duration::from_secs(10);

pub(super) struct SharedBuild<'a> {
    pub store: &'a Store,
    /// Names the work among all that have leases.
    pub name: String,
    /// Begins with the id of the data folder, by which a successor ends the lease.
    pub holder: String,
    /// The pause between two looks for what another process makes.
    pub pause: Duration,
}

impl SharedBuild<'_> {
    /// Fetches the result if it is there, makes it if nobody does, and waits
    /// otherwise. Calls `waits` before it begins to wait. When the process that
    /// makes it fails or dies, the next one makes it.
    pub async fn fetched_or_made<T, Fetch, Make>(
        &self,
        fetch: impl Fn() -> Fetch,
        make: impl FnOnce() -> Make,
        waits: impl FnOnce(),
    ) -> anyhow::Result<T>
    where
        Fetch: Future<Output = anyhow::Result<Option<T>>>,
        Make: Future<Output = anyhow::Result<T>>,
    {
        let mut waits = Some(waits);
        loop {
            if let Some(there) = fetch().await? {
                return Ok(there);
            }
            if self.take().await? {
                break;
            }
            if let Some(waits) = waits.take() {
                waits();
            }
            tokio::time::sleep(self.pause).await;
        }
        let made = self.made(fetch, make).await;
        if let Err(error) = self.store.end_lease(&self.name, &self.holder).await {
            tracing::debug!(
                "the lease on {} stays until it expires: {error:#}",
                self.name
            );
        }
        made
    }

    /// Makes it under the lease, unless another process finished just before.
    async fn made<T, Fetch, Make>(
        &self,
        fetch: impl Fn() -> Fetch,
        make: impl FnOnce() -> Make,
    ) -> anyhow::Result<T>
    where
        Fetch: Future<Output = anyhow::Result<Option<T>>>,
        Make: Future<Output = anyhow::Result<T>>,
    {
        if let Some(there) = fetch().await? {
            return Ok(there);
        }
        tokio::select! {
            made = make() => made,
            never = self.renew() => match never {},
        }
    }

    async fn take(&self) -> anyhow::Result<bool> {
        let taken = self.store.lease(&self.name, &self.holder, LEASE_MS);
        Ok(taken.await?)
    }

    /// Goes on without a lease that is lost: a second one of the same work does
    /// no harm.
    async fn renew(&self) -> Infallible {
        loop {
            tokio::time::sleep(RENEWAL).await;
            if let Err(error) = self.take().await {
                tracing::debug!("the lease on {} is not renewed: {error:#}", self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use anyhow::bail;
    use tokio::sync::Notify;

    use super::*;

    async fn store(folder: &tempfile::TempDir) -> Store {
        let file = folder.path().join("db");
        let url = format!("sqlite:{}?mode=rwc", file.display());
        Store::open(&url).await.unwrap()
    }

    fn of<'a>(store: &'a Store, holder: &str) -> SharedBuild<'a> {
        SharedBuild {
            store,
            name: "layer".into(),
            holder: holder.into(),
            pause: Duration::from_millis(5),
        }
    }

    /// The first makes it only when the second waits for it.
    #[tokio::test]
    async fn one_makes_what_the_other_fetches() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder).await;
        let (registry, waiting) = (AtomicU32::new(0), Notify::new());
        let (registry, waiting) = (&registry, &waiting);
        let fetch = || async move {
            let there = registry.load(Ordering::Relaxed);
            Ok((there > 0).then_some(there))
        };
        let make = |value| async move {
            waiting.notified().await;
            assert_eq!(registry.swap(value, Ordering::Relaxed), 0, "made twice");
            Ok(value)
        };
        let (one, two) = (of(&store, "i/1"), of(&store, "j/2"));
        let (first, second) = tokio::join!(
            one.fetched_or_made(fetch, || make(1), || waiting.notify_one()),
            two.fetched_or_made(fetch, || make(2), || waiting.notify_one()),
        );
        assert_eq!(first.unwrap(), second.unwrap());
    }

    #[tokio::test]
    async fn another_one_makes_what_failed() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder).await;
        let nothing = || std::future::ready(Ok(None::<u32>));
        let full = || async { bail!("the disk is full") };
        let failed = of(&store, "i/1")
            .fetched_or_made(nothing, full, || {})
            .await;
        assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
        // A process that died said nothing for longer than its lease.
        assert!(store.lease("layer", "k/3", -1).await.unwrap());
        let two = || std::future::ready(Ok(2));
        let made = of(&store, "j/2").fetched_or_made(nothing, two, || {}).await;
        assert_eq!(made.unwrap(), 2);
        assert!(store.lease("layer", "l/4", 60_000).await.unwrap(), "ended");
    }
}
