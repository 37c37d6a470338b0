//! Recordings read into messages, kept for those who turn the page or look for
//! something.

use std::future::Future;
use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use swe_ci_core::conversation::{Message, Messages};
use tokio::sync::Semaphore;

/// Recordings read at the same time: each is in memory while it is.
const AT_ONCE: usize = 2;
/// Bytes of messages that are kept.
const ROOM: u64 = 64 << 20;
const KEPT: usize = 256;
/// About what a message takes beside its texts.
const BESIDE: usize = 400;

/// The artifact, and when the step that wrote it ended, in unix milliseconds.
type Key = (String, i64);

/// Messages by the recording they were read from.
#[derive(Debug)]
pub struct Readings {
    kept: Cache<Key, Arc<Messages>, Size>,
    at_once: Semaphore,
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Key, Arc<Messages>> for Size {
    fn weight(&self, (key, _): &Key, all: &Arc<Messages>) -> u64 {
        let bytes = |message: &Message| BESIDE + message.weight();
        let bytes: usize = all.messages.iter().map(bytes).sum();
        (key.len() + bytes) as u64
    }
}

impl Default for Readings {
    fn default() -> Self {
        Self {
            kept: Cache::with_weighter(KEPT, ROOM, Size),
            at_once: Semaphore::new(AT_ONCE),
        }
    }
}

impl Readings {
    /// The messages of a recording; `read` reads them when they are not kept.
    pub async fn of(
        &self,
        key: Key,
        read: impl Future<Output = anyhow::Result<Messages>>,
    ) -> anyhow::Result<Arc<Messages>> {
        if let Some(all) = self.kept.get(&key) {
            return Ok(all);
        }
        let _turn = self.at_once.acquire().await?;
        // Whoever waited may have waited for this one.
        if let Some(all) = self.kept.get(&key) {
            return Ok(all);
        }
        let all = Arc::new(read.await?);
        self.kept.insert(key, all.clone());
        Ok(all)
    }
}
