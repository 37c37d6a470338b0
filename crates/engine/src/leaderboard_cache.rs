//! Data derived from the store, cached as long as the store does not change.
//! Concurrent callers for the same entry share one computation.
//!
//! Entries are computed in tasks of their own. A part of a page that requests
//! one may not be polled until the parts before it are done; if it were
//! computing an entry one of those waits for, neither would ever finish.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use quick_cache::sync::Cache;
use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::Convention;
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;
use swe_ci_views::handover::HandoverRun;
use swe_ci_views::leaderboard::{
    Board, LeaderboardData, Ranking, RecoveryTime, ScoredTask, Unseen,
};
use swe_ci_views::task_results::TaskInResults;
use tokio::sync::Semaphore;

/// Leaderboards in view at the same time.
const BOARDS: usize = 8;
/// Runs whose counts are in memory.
const RUNS: usize = 4_096;
/// Rankings under different γ and conventions.
const RANKINGS: usize = 64;

/// Every entry's key holds the change counter of the store, or something that
/// changes with the content; so entries are never invalidated, only evicted.
#[derive(Debug, Default)]
pub struct LeaderboardCache {
    pub leaderboards: Shared<(Board, i64), LeaderboardData, BOARDS>,
    pub unseen: Shared<(Board, i64), Unseen, BOARDS>,
    pub runs: CountedRuns,
    pub rankings: Shared<RankingKey, Ranking, RANKINGS>,
    pub processors: Processors,
    /// How long regressions lasted, by run and revision of its results.
    pub recoveries: Shared<(String, String), Option<RecoveryTime>, RANKINGS>,
    /// The tasks of splits by their results.
    pub tasks: Shared<(String, i64), HashMap<TaskId, TaskInResults>, RANKINGS>,
    /// The finished handovers of splits.
    pub handovers: Shared<(String, i64), Vec<HandoverRun>, BOARDS>,
}

/// Permits for computations that keep a processor busy: visitors choose γ, and
/// the rest of the site needs processors too.
#[derive(Debug)]
pub struct Processors(Semaphore);

impl Default for Processors {
    fn default() -> Self {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Semaphore::new(all.div_ceil(2)))
    }
}

impl Processors {
    /// Computes on a thread that may block, as soon as there is a permit.
    pub async fn compute<T: Send + 'static>(
        &self,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let _permit = self.0.acquire().await.map_err(anyhow::Error::new)?;
        Ok(blocking(move || Ok(compute())).await?)
    }
}

/// The counted results of a run with the facts about its tasks.
#[derive(Debug)]
pub struct CountedRun {
    pub usage: Option<Usage>,
    pub micro_usd: Option<u64>,
    pub findings: u32,
    pub truncated_steps: u32,
    /// Tested iterations of all its evolutions.
    pub iterations: u32,
    pub out_of_budget: u32,
    pub being_audited: u32,
    pub tasks_total: u32,
    pub tasks_blocked: u32,
    /// Shared by all leaderboards that show them.
    pub tasks: Arc<Vec<ScoredTask>>,
}

/// The inputs of the counts of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inputs {
    /// Of the run's results.
    pub revision: String,
    /// Digest of the facts about the tasks of its split.
    pub origins: u64,
}

/// The last counts of each run.
#[derive(Debug)]
pub struct CountedRuns(Cache<String, (Inputs, Arc<CountedRun>)>);

impl Default for CountedRuns {
    fn default() -> Self {
        Self(Cache::new(RUNS))
    }
}

impl CountedRuns {
    /// The counts of a run, if they follow from these inputs.
    pub fn get(&self, run_id: &str, inputs: &Inputs) -> Option<Arc<CountedRun>> {
        let (of, counted) = self.0.get(run_id)?;
        (of == *inputs).then_some(counted)
    }

    pub fn insert(&self, run_id: String, inputs: Inputs, counted: Arc<CountedRun>) {
        self.0.insert(run_id, (inputs, counted));
    }
}

/// A ranking of one state of the data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RankingKey {
    pub board: Board,
    pub changes: i64,
    /// The bits of γ.
    pub gamma: u64,
    pub convention: Convention,
    /// Counts only tasks that the model cannot have seen.
    pub unseen: bool,
}

/// The last values by key, each computed once for all who ask at the same time.
#[derive(Debug)]
pub struct Shared<K, V, const MOST: usize>(Arc<Cache<K, Arc<V>>>);

impl<K: Eq + Hash, V, const MOST: usize> Default for Shared<K, V, MOST> {
    fn default() -> Self {
        Self(Arc::new(Cache::new(MOST)))
    }
}

impl<K, V, const MOST: usize> Shared<K, V, MOST>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    /// The cached value of a key; on a miss, a task of its own computes it.
    pub async fn of(
        &self,
        key: K,
        compute: impl Future<Output = Result<V>> + Send + 'static,
    ) -> Result<Arc<V>> {
        if let Some(value) = self.0.get(&key) {
            return Ok(value);
        }
        let cache = self.0.clone();
        let compute = async { Ok(Arc::new(compute.await?)) };
        let computation =
            tokio::spawn(async move { cache.get_or_insert_async(&key, compute).await });
        computation.await.map_err(anyhow::Error::new)?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// The first future is not polled after its start; the second waits for the
    /// computation that the first started.
    #[tokio::test]
    async fn an_unpolled_future_blocks_no_other() {
        let leaderboards = LeaderboardCache::default().leaderboards;
        let compute = || async {
            tokio::task::yield_now().await;
            Ok(LeaderboardData::default())
        };
        let mut unpolled = Box::pin(leaderboards.of(("s".into(), 1), compute()));
        assert!(futures::poll!(&mut unpolled).is_pending());
        let other = leaderboards.of(("s".into(), 1), compute());
        let result = tokio::time::timeout(Duration::from_secs(5), other).await;
        assert!(result.expect("the second caller is not blocked").is_ok());
        assert!(unpolled.await.is_ok());
    }

    #[tokio::test]
    async fn a_failed_computation_is_repeated() {
        let leaderboards = LeaderboardCache::default().leaderboards;
        let fails = async { Err(crate::Error::Unavailable("not now".into())) };
        assert!(leaderboards.of(("s".into(), 1), fails).await.is_err());
        let works = async { Ok(LeaderboardData::default()) };
        assert!(leaderboards.of(("s".into(), 1), works).await.is_ok());
        // Cached: this future is never polled.
        let never = std::future::pending();
        assert!(leaderboards.of(("s".into(), 1), never).await.is_ok());
    }

    #[tokio::test]
    async fn half_of_the_processors_compute() {
        use std::sync::atomic::{AtomicUsize, Ordering};

        let processors = Arc::new(Processors::default());
        let most = processors.0.available_permits();
        let (now, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let computations = (0..4 * most).map(|_| {
            let (now, peak) = (now.clone(), peak.clone());
            processors.compute(move || {
                peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let until = Instant::now() + Duration::from_millis(5);
                while Instant::now() < until {}
                now.fetch_sub(1, Ordering::SeqCst);
            })
        });
        futures::future::join_all(computations).await;
        assert!(peak.load(Ordering::SeqCst) <= most);
    }
}
