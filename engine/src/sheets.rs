//! What was made of the data, kept as long as the data stands. Whoever asks
//! while it is being made waits for the same answer.
//!
//! Things are made in tasks of their own. A part of a page that asks for one
//! may rest half way until the parts before it are done; if it was making what
//! one of those waits for, neither would ever go on.

use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use quick_cache::sync::Cache;
use swe_ci_core::leaderboard::{Entry, Row, Sheet, Unseen};
use swe_ci_core::metrics::{Convention, Gamma};

use crate::error::Result;

/// Splits looked at at the same time, and runs of them that are over.
const SHEETS: usize = 16;
const ENTRIES: usize = 4_096;
/// Rankings under different γ and conventions.
const RANKINGS: usize = 256;

/// Everything kept is found by the count of changes it was made at, or by
/// something that changes with its content; so nothing is ever taken back, it
/// is only forgotten.
#[derive(Debug)]
pub struct Sheets {
    sheets: Arc<Cache<(String, i64), Arc<Sheet>>>,
    unseen: Arc<Cache<(String, i64), Arc<Unseen>>>,
    entries: Arc<Cache<OverRun, Option<Arc<Entry>>>>,
    rankings: Arc<Cache<Ranking, Arc<Vec<Row>>>>,
}

/// A run that is over: nothing changes it but another import of it, counting it
/// anew, or measuring its style, and each of them shows here.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OverRun {
    pub run_id: String,
    pub finished_at: Option<String>,
    /// Its configuration, as JSON.
    pub config: String,
    pub metric_version: u32,
    /// Evolutions whose style was measured.
    pub measured: i64,
    /// Of what was imported.
    pub digest: Option<String>,
}

/// Which ranking of which state of the data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ranking {
    split: String,
    changes: i64,
    /// Its bits.
    gamma: u64,
    convention: Convention,
    /// Of what no model can have seen.
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

impl Default for Sheets {
    fn default() -> Self {
        Self {
            sheets: Arc::new(Cache::new(SHEETS)),
            unseen: Arc::new(Cache::new(SHEETS)),
            entries: Arc::new(Cache::new(ENTRIES)),
            rankings: Arc::new(Cache::new(RANKINGS)),
        }
    }
}

impl Sheets {
    pub async fn sheet(
        &self,
        split: String,
        changes: i64,
        make: impl Future<Output = Result<Sheet>> + Send + 'static,
    ) -> Result<Arc<Sheet>> {
        let make = async { Ok(Arc::new(make.await?)) };
        kept(&self.sheets, (split, changes), make).await
    }

    pub async fn unseen(
        &self,
        split: String,
        changes: i64,
        make: impl Future<Output = Result<Unseen>> + Send + 'static,
    ) -> Result<Arc<Unseen>> {
        let make = async { Ok(Arc::new(make.await?)) };
        kept(&self.unseen, (split, changes), make).await
    }

    pub async fn entry(
        &self,
        run: OverRun,
        make: impl Future<Output = Result<Option<Entry>>> + Send + 'static,
    ) -> Result<Option<Arc<Entry>>> {
        let make = async { Ok(make.await?.map(Arc::new)) };
        kept(&self.entries, run, make).await
    }

    pub async fn ranking(
        &self,
        of: Ranking,
        make: impl Future<Output = Result<Vec<Row>>> + Send + 'static,
    ) -> Result<Arc<Vec<Row>>> {
        let make = async { Ok(Arc::new(make.await?)) };
        kept(&self.rankings, of, make).await
    }
}

/// What is kept under a key, or is made now, by a task of its own.
async fn kept<K, V>(
    cache: &Arc<Cache<K, V>>,
    key: K,
    make: impl Future<Output = Result<V>> + Send + 'static,
) -> Result<V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    if let Some(found) = cache.get(&key) {
        return Ok(found);
    }
    let cache = cache.clone();
    let making = tokio::spawn(async move { cache.get_or_insert_async(&key, make).await });
    making.await.map_err(anyhow::Error::new)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// One asks first and is then left lying; the other waits for what the
    /// first asked for.
    #[tokio::test]
    async fn a_future_that_rests_holds_up_nobody() {
        let sheets = Sheets::default();
        let make = || async {
            tokio::task::yield_now().await;
            Ok(Sheet::default())
        };
        let mut resting = Box::pin(sheets.sheet("s".into(), 1, make()));
        assert!(futures::poll!(&mut resting).is_pending());
        let other = sheets.sheet("s".into(), 1, make());
        let found = tokio::time::timeout(Duration::from_secs(5), other).await;
        assert!(found.expect("it is not held up").is_ok());
        assert!(resting.await.is_ok());
    }

    #[tokio::test]
    async fn what_fails_is_made_again() {
        let sheets = Sheets::default();
        let fails = async { Err(crate::Error::Unavailable("not now".into())) };
        assert!(sheets.sheet("s".into(), 1, fails).await.is_err());
        let works = async { Ok(Sheet::default()) };
        assert!(sheets.sheet("s".into(), 1, works).await.is_ok());
        // And kept: this one is not asked.
        let never = std::future::pending();
        assert!(sheets.sheet("s".into(), 1, never).await.is_ok());
    }
}
