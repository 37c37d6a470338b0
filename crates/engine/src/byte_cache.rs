//! Caches of large values, within a limit on their bytes. Few values are
//! computed at the same time: each takes much more memory meanwhile.

use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;

/// A value whose approximate size in memory is known.
pub trait Weighed {
    fn bytes(&self) -> usize;
}

#[derive(Debug)]
pub struct ByteCache<K, V> {
    cache: Cache<K, Arc<V>, Size>,
    permits: Semaphore,
}

#[derive(Debug, Clone)]
struct Size;

impl<K, V: Weighed> Weighter<K, Arc<V>> for Size {
    fn weight(&self, _: &K, value: &Arc<V>) -> u64 {
        (size_of::<K>() + value.bytes()) as u64
    }
}

impl<K: Clone + Eq + Hash, V: Weighed> ByteCache<K, V> {
    /// About `most` values of `most_bytes` together, computed `at_once` at a
    /// time.
    pub fn new(most: usize, most_bytes: u64, at_once: usize) -> Self {
        Self {
            cache: Cache::with_weighter(most, most_bytes, Size),
            permits: Semaphore::new(at_once),
        }
    }

    /// The cached value of a key; on a miss, `compute` provides it.
    pub async fn of(
        &self,
        key: K,
        compute: impl Future<Output = anyhow::Result<V>>,
    ) -> anyhow::Result<Arc<V>> {
        let computed = async {
            let _permit = self.permits.acquire().await?;
            Ok(Arc::new(compute.await?))
        };
        self.cache.get_or_insert_async(&key, computed).await
    }
}
