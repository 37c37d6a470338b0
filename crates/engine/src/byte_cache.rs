//! Caches of large values, within a limit on their bytes. Few values are
//! computed at the same time: each takes much more memory meanwhile.

use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::heavy_reads::HeavyReads;

/// A value whose approximate size in memory is known.
pub trait Weighed {
    fn bytes(&self) -> usize;
}

#[derive(Debug)]
pub struct ByteCache<K, V> {
    cache: Cache<K, Arc<V>, Size>,
    reads: HeavyReads,
}

#[derive(Debug, Clone)]
struct Size;

impl<K, V: Weighed> Weighter<K, Arc<V>> for Size {
    fn weight(&self, _: &K, value: &Arc<V>) -> u64 {
        (size_of::<K>() + value.bytes()) as u64
    }
}

impl<K: Clone + Eq + Hash, V: Weighed> ByteCache<K, V> {
    /// About `most` values of `most_bytes` together.
    pub fn new(most: usize, most_bytes: u64, reads: HeavyReads) -> Self {
        Self {
            cache: Cache::with_weighter(most, most_bytes, Size),
            reads,
        }
    }

    /// The cached value of a key; on a miss, `compute` provides it.
    ///
    /// # Errors
    /// The error of `compute`; an [`Error`](swe_ci_base::Error) inside when
    /// too many values are being computed.
    pub async fn of(
        &self,
        key: K,
        compute: impl Future<Output = anyhow::Result<V>>,
    ) -> anyhow::Result<Arc<V>> {
        let computed = async {
            let _permit = self.reads.permit().await?;
            Ok(Arc::new(compute.await?))
        };
        self.cache.get_or_insert_async(&key, computed).await
    }
}
