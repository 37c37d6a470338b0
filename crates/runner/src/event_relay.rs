//! Carries live events from workers to servers, through rows that live for
//! minutes: every page follows the runs of every worker.

use std::collections::HashSet;
use std::convert::Infallible;
use std::time::Duration;

use swe_ci_store::{MOST_EVENTS, Store};
use swe_ci_views::event::What;
use tokio::sync::mpsc;

use crate::events::Events;

/// How long a worker collects events before it stores them.
const COLLECT: Duration = Duration::from_millis(300);
/// How often a server looks for events.
const LOOK: Duration = Duration::from_millis(500);
/// How far back it looks: transactions become visible out of their order.
const OVERLAP_MS: i64 = 10_000;
/// How many parts of them it reads at once: 40,000 events, which is 4,000 a second.
const MOST_LOOKS: usize = 20;
/// How long events are kept, and how often older ones are removed.
const KEPT_MS: i64 = 5 * 60_000;
const CLEAN_UP: Duration = Duration::from_mins(1);

/// The events that a worker has to tell servers.
#[derive(Debug)]
pub struct Outbox {
    events: mpsc::Receiver<(String, What)>,
    /// Taken out of the channel, and not stored yet.
    batch: Vec<(String, String)>,
}

impl Outbox {
    pub fn new(events: mpsc::Receiver<(String, What)>) -> Self {
        Self {
            events,
            batch: Vec::new(),
        }
    }

    /// Stores events in batches, for ever.
    pub async fn send(&mut self, store: &Store) -> Infallible {
        loop {
            self.send_pending(store).await;
            tokio::time::sleep(COLLECT).await;
        }
    }

    /// Stores the events that there are.
    pub async fn send_pending(&mut self, store: &Store) {
        while let Ok((run_id, what)) = self.events.try_recv() {
            match serde_json::to_string(&what) {
                Ok(what) => self.batch.push((run_id, what)),
                Err(error) => tracing::warn!("an event is not told: {error:#}"),
            }
        }
        if let Err(error) = store.put_events(&self.batch).await {
            tracing::warn!("readers of runs miss events: {error:#}");
        }
        self.batch.clear();
    }
}

/// Publishes the events of all workers in this process.
pub async fn receive(store: &Store, events: &Events) -> Infallible {
    let mut known = HashSet::new();
    let mut cleaned = None;
    loop {
        tokio::time::sleep(LOOK).await;
        if let Err(error) = receive_once(store, events, &mut known).await {
            tracing::debug!("cannot look for events: {error:#}");
            continue;
        }
        let due = cleaned.is_none_or(|at: tokio::time::Instant| at.elapsed() >= CLEAN_UP);
        if due {
            cleaned = Some(tokio::time::Instant::now());
            if let Err(error) = clean_up(store).await {
                tracing::debug!("old events stay: {error:#}");
            }
        }
    }
}

/// `known` are the events of the last look.
async fn receive_once(
    store: &Store,
    events: &Events,
    known: &mut HashSet<String>,
) -> anyhow::Result<()> {
    let since = store.now().await? - OVERLAP_MS;
    let mut seen = HashSet::with_capacity(known.len());
    let mut after = String::new();
    for _ in 0..MOST_LOOKS {
        let found = store.events_since(since, &after).await?;
        let last = found.len() < MOST_EVENTS;
        for event in found {
            if !known.contains(&event.id) {
                // A worker of another version may send what this one does not know.
                match serde_json::from_str(&event.what) {
                    Ok(what) => events.relay(&event.run_id, what),
                    Err(error) => tracing::debug!("an event was passed over: {error:#}"),
                }
            }
            after.clone_from(&event.id);
            seen.insert(event.id);
        }
        if last {
            break;
        }
    }
    *known = seen;
    Ok(())
}

async fn clean_up(store: &Store) -> anyhow::Result<()> {
    let before = store.now().await? - KEPT_MS;
    store.remove_events_before(before).await?;
    Ok(())
}
