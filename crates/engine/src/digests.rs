//! Reads the recordings and the code of evolutions for their numbers and texts,
//! once and in the background: a run has gigabytes of them.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use swe_ci_base::blocking::blocking;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::Verdict;
use swe_ci_gateway::trajectory::Conversations;
use swe_ci_store::artifacts::{Artifacts, is_missing, is_outage};
use swe_ci_store::{IterationRow, Store};
use swe_ci_views::failures::Loss;
use swe_ci_views::trajectories::{
    EvolutionDigest, IterationChanges, MessageTexts, StepDigest, message_texts,
};
use tokio_util::sync::CancellationToken;

use crate::Engine;
use crate::diffs::FileHistory;
use crate::heavy_reads::{readable, typed};

/// Of the stored digests. Raise it when they or how they are made changes.
const FORMAT: u32 = 3;
/// Larger code is not read.
const MAX_CODE: u64 = 512 << 20;
/// Larger texts of a step are not read.
const MAX_TEXTS: u64 = 256 << 20;

/// The runs whose recordings are being read.
#[derive(Debug, Default)]
pub struct DigestReaders {
    /// Done when its token is cancelled.
    readings: Mutex<HashMap<String, CancellationToken>>,
    /// One run at a time, so that visitors cannot make the server read many.
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl DigestReaders {
    /// Reads for a run, unless that is under way; returns when it is done. It
    /// goes on when nobody waits for it.
    pub async fn done(&self, run_id: &str, read: impl Future<Output = ()> + Send + 'static) {
        let done = self.start(run_id, read);
        done.cancelled().await;
    }

    fn start(
        &self,
        run_id: &str,
        read: impl Future<Output = ()> + Send + 'static,
    ) -> CancellationToken {
        let mut readings = self.readings.lock().unwrap_or_else(PoisonError::into_inner);
        readings.retain(|_, done| !done.is_cancelled());
        if let Some(done) = readings.get(run_id) {
            return done.clone();
        }
        let done = CancellationToken::new();
        readings.insert(run_id.to_owned(), done.clone());
        let (guard, turn) = (done.clone().drop_guard(), self.turn.clone());
        tokio::spawn(async move {
            let _guard = guard;
            let _turn = turn.lock_owned().await;
            read.await;
        });
        done
    }
}

/// The stored digests of a run's evolutions; one that cannot be parsed is
/// missing.
pub async fn stored_digests(
    store: &Store,
    run_id: &str,
) -> Result<HashMap<String, EvolutionDigest>> {
    let rows = store.evolution_digests(run_id, FORMAT).await?;
    let parse = move || {
        let rows = rows.into_iter();
        let parsed = rows.filter_map(|row| {
            let digest = serde_json::from_str(&row.digest).ok()?;
            Some((row.evolution_id, digest))
        });
        Ok(parsed.collect())
    };
    Ok(blocking(parse).await?)
}

/// The losses beside a digest, whose rest is much longer.
#[derive(Serialize, Deserialize)]
struct Losses<'a> {
    losses: Cow<'a, BTreeMap<u32, Vec<Loss>>>,
}

/// The losses of runs by evolution, as far as their reports were read.
pub async fn stored_losses(store: &Store, runs: &[String]) -> Result<Vec<(String, Vec<Loss>)>> {
    let rows = store.losses_of_runs(runs, FORMAT).await?;
    let parse = move || {
        let parsed = rows.into_iter().filter_map(|(run, json)| {
            let of: Losses<'_> = serde_json::from_str(&json).ok()?;
            let losses: Vec<Loss> = of.losses.values().flatten().cloned().collect();
            Some((run, losses))
        });
        Ok(parsed.collect())
    };
    Ok(blocking(parse).await?)
}

/// The texts of a recorded step; `None` until they were read.
pub async fn texts(artifacts: &Artifacts, recording: &str) -> Option<MessageTexts> {
    let key = format!("{}.zst", texts_key(recording));
    let json = artifacts.get_within(&key, MAX_TEXTS).await.ok()?;
    let parse = move || Ok(serde_json::from_slice(&json)?);
    blocking(parse).await.ok()
}

fn texts_key(recording: &str) -> String {
    format!("{recording}.texts")
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Completes the digests of evolutions and stores them, each as soon as it
    /// is complete.
    pub(crate) async fn read_digests(self, incomplete: Vec<(String, EvolutionDigest)>) {
        for (id, digest) in incomplete {
            if let Err(error) = self.read_digest(&id, digest).await {
                tracing::warn!(evolution = id, "its recordings were not read: {error:#}");
                return;
            }
        }
    }

    /// A missing file is left out, and read once it is back.
    async fn read_digest(&self, id: &str, mut digest: EvolutionDigest) -> Result<()> {
        let steps = self.store.steps(id).await?;
        for recording in steps.iter().filter_map(|step| step.trajectory.clone()) {
            if let Entry::Vacant(entry) = digest.steps.entry(recording) {
                let _permit = self.heavy_reads.permit().await?;
                match self.read_recording(entry.key()).await {
                    Err(error) if is_missing(error.as_ref()) => {
                        tracing::warn!(evolution = id, "a recording is not there: {error:#}");
                    }
                    read => {
                        entry.insert(readable(read)?);
                    }
                }
            }
        }
        let iterations = self.store.iterations(id).await?;
        if !iterations.iter().all(|row| has_changes(&digest, row)) {
            digest.changes = self.read_changes(id, &iterations).await?;
        }
        self.read_losses(id, &iterations, &steps, &mut digest)
            .await?;
        let json = serde_json::to_string(&digest).map_err(anyhow::Error::new)?;
        let losses = Losses {
            losses: Cow::Borrowed(&digest.losses),
        };
        let losses = serde_json::to_string(&losses).map_err(anyhow::Error::new)?;
        let put = self.store.put_evolution_digest(id, FORMAT, &json, &losses);
        put.await
    }

    /// The texts of a recorded step, read now unless they were before; `None` if
    /// it is damaged.
    pub(crate) async fn read_texts(&self, recording: &str) -> Result<Option<MessageTexts>> {
        if let Some(texts) = texts(&self.artifacts, recording).await {
            return Ok(Some(texts));
        }
        let permit = self.heavy_reads.permit().await?;
        let read = self.read_recording(recording).await;
        drop(permit);
        Ok(match readable(read)? {
            Some(_) => texts(&self.artifacts, recording).await,
            None => None,
        })
    }

    async fn read_recording(&self, recording: &str) -> anyhow::Result<StepDigest> {
        let (key, bytes) = (recording.to_owned(), self.artifacts.get(recording).await?);
        let read = move || {
            let conversations = Conversations::read(&key, bytes)?;
            let digest = conversations.digest();
            let texts = message_texts(&conversations.into_messages().messages);
            Ok((serde_json::to_vec(&texts)?, digest))
        };
        let (texts, digest) = blocking(read).await?;
        self.artifacts.put(&texts_key(recording), texts).await?;
        Ok(digest)
    }

    /// The changes of each iteration with code, as far as it is there; empty where
    /// it, or the code it was built upon, is damaged.
    async fn read_changes(
        &self,
        id: &str,
        iterations: &[IterationRow],
    ) -> Result<BTreeMap<u32, IterationChanges>> {
        let evolution = self.store.evolution(id).await?;
        let mut changes = BTreeMap::new();
        let base = match self.base_code(&evolution).await {
            Err(error) if !is_outage(error.as_ref()) => {
                tracing::warn!(evolution = id, "its base cannot be read: {error:#}");
                return Ok(changes);
            }
            base => base.map_err(typed)?,
        };
        let mut before = Some(Arc::new(base));
        let mut history = FileHistory::default();
        for row in iterations.iter().filter(|row| !row.code.is_empty()) {
            let _permit = self.heavy_reads.permit().await?;
            let is_kept = matches!(row.verdict, Verdict::Scored { .. });
            let after = self.artifacts.get_code_within(&row.code, MAX_CODE).await;
            if let Err(error) = &after
                && is_missing(error.as_ref())
            {
                tracing::warn!(evolution = id, "code is not there: {error:#}");
                break;
            }
            let after: Option<Arc<CodeTree>> = readable(after)?.map(Arc::new);
            let mut files = Vec::new();
            if let Some((old, new)) = before.clone().zip(after.clone()) {
                let counted = move || {
                    let files = history.changes(&old, &new, is_kept);
                    Ok((history, files))
                };
                (history, files) = blocking(counted).await?;
            }
            let code = row.code.clone();
            changes.insert(row.iteration, IterationChanges { code, files });
            if is_kept {
                before = after;
            }
        }
        Ok(changes)
    }
}

/// Whether the change of an iteration was counted, with this code, or has none.
fn has_changes(digest: &EvolutionDigest, row: &IterationRow) -> bool {
    let changes = digest.changes.get(&row.iteration);
    row.code.is_empty() || changes.is_some_and(|changes| changes.code == row.code)
}

/// Whether each of the tests that an iteration lost was read.
pub fn has_losses(digest: &EvolutionDigest, row: &IterationRow) -> bool {
    let losses = digest.losses.get(&row.iteration).into_iter().flatten();
    losses.map(|loss| loss.tests).sum::<u32>() >= row.verdict.lost()
}

/// Whether nothing of an iteration is left to read.
pub fn is_known(digest: &EvolutionDigest, row: &IterationRow) -> bool {
    has_changes(digest, row) && has_losses(digest, row)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_run_is_read_once_however_many_ask() {
        let readers = DigestReaders::default();
        let (reads, go) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let read = || {
            let (reads, go) = (reads.clone(), go.clone());
            async move {
                reads.fetch_add(1, Ordering::Relaxed);
                go.notified().await;
            }
        };
        let first = readers.start("a", read());
        let second = readers.start("a", read());
        tokio::task::yield_now().await;
        go.notify_one();
        first.cancelled().await;
        second.cancelled().await;
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        // What was recorded since is read anew.
        let third = readers.start("a", read());
        go.notify_one();
        third.cancelled().await;
        assert_eq!(reads.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_reading_that_fails_frees_its_run() {
        let readers = DigestReaders::default();
        readers.done("a", async { panic!("no disk") }).await;
        readers.done("a", async {}).await;
    }
}
