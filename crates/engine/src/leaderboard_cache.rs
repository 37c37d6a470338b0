//! Data derived from the store, cached as long as the store does not change.
//! Concurrent callers for the same entry share one computation.
//!
//! Entries are computed in tasks of their own. A part of a page that requests
//! one may not be polled until the parts before it are done; if it were
//! computing an entry one of those waits for, neither would ever finish.

use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use quick_cache::sync::Cache;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::leaderboard::{Entry, LeaderboardData, Row, Unseen};

/// Splits in view at the same time, and finished runs of them.
const SPLITS: usize = 16;
const ENTRIES: usize = 4_096;
/// Rankings under different γ and conventions.
const RANKINGS: usize = 256;

/// Every entry's key holds the change counter of the store, or something that
/// changes with the content; so entries are never invalidated, only evicted.
#[derive(Debug)]
pub struct LeaderboardCache {
    leaderboards: Arc<Cache<(String, i64), Arc<LeaderboardData>>>,
    unseen: Arc<Cache<(String, i64), Arc<Unseen>>>,
    entries: Arc<Cache<OverRun, Option<Arc<Entry>>>>,
    rankings: Arc<Cache<Ranking, Arc<Vec<Row>>>>,
}

/// A finished run: only another import of it, a rescore, or a style measurement
/// changes it, and each of them changes this key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OverRun {
    pub run_id: String,
    pub finished_at: Option<String>,
    /// Configuration as JSON.
    pub config: String,
    pub metric_version: u32,
    /// Evolutions whose style was measured.
    pub measured: i64,
    /// Digest of the imported files.
    pub digest: Option<String>,
}

/// A ranking of one state of the data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ranking {
    split: String,
    changes: i64,
    /// The bits of γ.
    gamma: u64,
    convention: Convention,
    /// Counts only tasks that the model cannot have seen.
    unseen: bool,
}

impl Ranking {
    pub fn new(
        (split, changes): (&str, i64),
        gamma: Gamma,
        convention: Convention,
        unseen: bool,
    ) -> Self {
        Self {
            split: split.to_owned(),
            changes,
            gamma: gamma.get().to_bits(),
            convention,
            unseen,
        }
    }
}

impl Default for LeaderboardCache {
    fn default() -> Self {
        Self {
            leaderboards: Arc::new(Cache::new(SPLITS)),
            unseen: Arc::new(Cache::new(SPLITS)),
            entries: Arc::new(Cache::new(ENTRIES)),
            rankings: Arc::new(Cache::new(RANKINGS)),
        }
    }
}

impl LeaderboardCache {
    pub async fn leaderboard(
        &self,
        split: String,
        changes: i64,
        compute: impl Future<Output = Result<LeaderboardData>> + Send + 'static,
    ) -> Result<Arc<LeaderboardData>> {
        let compute = async { Ok(Arc::new(compute.await?)) };
        cached(&self.leaderboards, (split, changes), compute).await
    }

    pub async fn unseen(
        &self,
        split: String,
        changes: i64,
        compute: impl Future<Output = Result<Unseen>> + Send + 'static,
    ) -> Result<Arc<Unseen>> {
        let compute = async { Ok(Arc::new(compute.await?)) };
        cached(&self.unseen, (split, changes), compute).await
    }

    pub async fn entry(
        &self,
        run: OverRun,
        compute: impl Future<Output = Result<Option<Entry>>> + Send + 'static,
    ) -> Result<Option<Arc<Entry>>> {
        let compute = async { Ok(compute.await?.map(Arc::new)) };
        cached(&self.entries, run, compute).await
    }

    pub async fn ranking(
        &self,
        key: Ranking,
        compute: impl Future<Output = Result<Vec<Row>>> + Send + 'static,
    ) -> Result<Arc<Vec<Row>>> {
        let compute = async { Ok(Arc::new(compute.await?)) };
        cached(&self.rankings, key, compute).await
    }
}

/// The cached value of a key; on a miss, a task of its own computes it.
async fn cached<K, V>(
    cache: &Arc<Cache<K, V>>,
    key: K,
    compute: impl Future<Output = Result<V>> + Send + 'static,
) -> Result<V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    if let Some(value) = cache.get(&key) {
        return Ok(value);
    }
    let cache = cache.clone();
    let computation = tokio::spawn(async move { cache.get_or_insert_async(&key, compute).await });
    computation.await.map_err(anyhow::Error::new)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The first future is not polled after its start; the second waits for the
    /// computation that the first started.
    #[tokio::test]
    async fn an_unpolled_future_blocks_no_other() {
        let leaderboards = LeaderboardCache::default();
        let compute = || async {
            tokio::task::yield_now().await;
            Ok(LeaderboardData::default())
        };
        let mut unpolled = Box::pin(leaderboards.leaderboard("s".into(), 1, compute()));
        assert!(futures::poll!(&mut unpolled).is_pending());
        let other = leaderboards.leaderboard("s".into(), 1, compute());
        let result = tokio::time::timeout(Duration::from_secs(5), other).await;
        assert!(result.expect("the second caller is not blocked").is_ok());
        assert!(unpolled.await.is_ok());
    }

    #[tokio::test]
    async fn a_failed_computation_is_repeated() {
        let leaderboards = LeaderboardCache::default();
        let fails = async { Err(crate::Error::Unavailable("not now".into())) };
        assert!(
            leaderboards
                .leaderboard("s".into(), 1, fails)
                .await
                .is_err()
        );
        let works = async { Ok(LeaderboardData::default()) };
        assert!(leaderboards.leaderboard("s".into(), 1, works).await.is_ok());
        // Cached: this future is never polled.
        let never = std::future::pending();
        assert!(leaderboards.leaderboard("s".into(), 1, never).await.is_ok());
    }
}
