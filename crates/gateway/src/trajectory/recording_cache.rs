//! Caches the messages parsed from recordings, for paging and search.

use std::future::Future;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use swe_ci_views::conversation::{Message, Messages};
use tokio::sync::Semaphore;

/// Recordings parsed concurrently; each is in memory meanwhile.
const MAX_CONCURRENT: usize = 2;
/// Maximum bytes of cached messages.
const MAX_BYTES: u64 = 64 << 20;
const MAX_RECORDINGS: usize = 256;
/// Approximate bytes of a message without its texts.
const MESSAGE_OVERHEAD: usize = 400;

/// The artifact, and when the step that wrote it ended, in unix milliseconds.
type Key = (String, i64);

/// Messages by the recording they were read from.
#[derive(Debug)]
pub struct RecordingCache {
    cache: Cache<Key, Arc<Messages>, Size>,
    parsing: Semaphore,
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Key, Arc<Messages>> for Size {
    fn weight(&self, (key, _): &Key, all: &Arc<Messages>) -> u64 {
        let bytes = |message: &Message| MESSAGE_OVERHEAD + message.weight();
        let bytes: usize = all.messages.iter().map(bytes).sum();
        (key.len() + bytes) as u64
    }
}

impl Default for RecordingCache {
    fn default() -> Self {
        Self {
            cache: Cache::with_weighter(MAX_RECORDINGS, MAX_BYTES, Size),
            parsing: Semaphore::new(MAX_CONCURRENT),
        }
    }
}

impl RecordingCache {
    /// The messages of a recording; `read` parses it if they are not cached.
    pub async fn of(
        &self,
        key: Key,
        read: impl Future<Output = anyhow::Result<Messages>>,
    ) -> anyhow::Result<Arc<Messages>> {
        let parsed = async {
            let _permit = self.parsing.acquire().await?;
            Ok(Arc::new(read.await?))
        };
        self.cache.get_or_insert_async(&key, parsed).await
    }
}
