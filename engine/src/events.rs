//! What happens, told to whoever watches: one channel for the process, with a
//! short memory so that a reader who lost the connection can catch up. Rows
//! are the truth; an event that is missed costs a reload, never a result. Only
//! who waits for a provider is in no row: it passes with the process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{Stream, StreamExt};
use swe_ci_core::event::{RunEvent, What};
use swe_ci_core::view::ProviderWait;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;

/// Events remembered, over all runs.
const MEMORY: usize = 2_000;

#[derive(Debug, Clone)]
pub struct Events {
    sender: broadcast::Sender<RunEvent>,
    memory: Arc<Mutex<Memory>>,
}

#[derive(Debug, Default)]
struct Memory {
    seq: u64,
    recent: VecDeque<RunEvent>,
    /// By evolution.
    waits: HashMap<String, ProviderWait>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            sender: broadcast::channel(MEMORY).0,
            memory: Arc::default(),
        }
    }
}

impl Events {
    pub fn tell(&self, run_id: &str, what: What) {
        self.tell_and_remember(&mut self.lock(), run_id, what);
    }

    /// Tells what is of no use to whoever comes later. It has the number of
    /// the event before.
    pub fn mention(&self, run_id: &str, what: What) {
        let memory = self.lock();
        let _ = self.sender.send(RunEvent {
            seq: memory.seq,
            run_id: run_id.to_owned(),
            what,
        });
    }

    /// Whether anybody listens.
    pub fn are_heard(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Notes whether an evolution waits for its provider, and tells of it where
    /// that is news.
    pub fn tell_wait(&self, run_id: &str, evolution_id: &str, waiting: Option<ProviderWait>) {
        let mut memory = self.lock();
        let same = match (&waiting, memory.waits.get(evolution_id)) {
            // That it goes on since a moment later is rounding, and no news.
            (Some(now), Some(before)) => now.why == before.why,
            (now, before) => now.is_none() && before.is_none(),
        };
        if same {
            return;
        }
        let id = evolution_id.to_owned();
        match &waiting {
            Some(wait) => memory.waits.insert(id.clone(), wait.clone()),
            None => memory.waits.remove(evolution_id),
        };
        let evolution_id = id;
        let what = What::Waiting {
            evolution_id,
            waiting,
        };
        self.tell_and_remember(&mut memory, run_id, what);
    }

    /// What an evolution waits for now, as far as this process knows.
    pub fn wait_of(&self, evolution_id: &str) -> Option<ProviderWait> {
        self.lock().waits.get(evolution_id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_and_remember(&self, memory: &mut Memory, run_id: &str, what: What) {
        memory.seq += 1;
        let event = RunEvent {
            seq: memory.seq,
            run_id: run_id.to_owned(),
            what,
        };
        if memory.recent.len() == MEMORY {
            memory.recent.pop_front();
        }
        memory.recent.push_back(event.clone());
        // Sent while the memory is locked: a reader sees each event once,
        // from the memory or from the channel. Nobody watching is fine.
        let _ = self.sender.send(event);
    }

    /// The events of a run: those after `after` that are remembered, then all
    /// that come. Without `after`, the remembered log lines of the run.
    pub fn of_run(
        &self,
        run_id: &str,
        after: Option<u64>,
    ) -> impl Stream<Item = RunEvent> + Send + 'static + use<> {
        let run_id = run_id.to_owned();
        let (past, live) = {
            let memory = self.lock();
            let wanted = |e: &&RunEvent| match after {
                // A number from the future is one of an earlier life of the server.
                Some(seq) if seq <= memory.seq => e.seq > seq,
                _ => matches!(e.what, What::Log { .. }),
            };
            let past: Vec<RunEvent> = memory
                .recent
                .iter()
                .filter(|e| e.run_id == run_id)
                .filter(wanted)
                .cloned()
                .collect();
            (past, self.sender.subscribe())
        };
        let live = BroadcastStream::new(live)
            // A reader too slow for the channel has missed events: its stream
            // ends, it connects again and reads the rows.
            .take_while(|event| std::future::ready(event.is_ok()))
            .filter_map(|event| std::future::ready(event.ok()))
            .filter(move |event| std::future::ready(event.run_id == run_id));
        futures::stream::iter(past).chain(live)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::run::Progress;

    fn happened(progress: Progress) -> What {
        What::Run { progress }
    }

    #[tokio::test]
    async fn a_reader_catches_up_and_goes_on() {
        let events = Events::default();
        events.tell("a", happened(Progress::Queued));
        events.tell("b", happened(Progress::Queued));
        events.tell("a", happened(Progress::Running));
        let mut stream = Box::pin(events.of_run("a", Some(1)));
        events.tell("b", happened(Progress::Running));
        events.tell("a", happened(Progress::Finished));
        let first = stream.next().await.unwrap();
        let second = stream.next().await.unwrap();
        assert_eq!((first.seq, second.seq), (3, 5));
    }

    #[tokio::test]
    async fn a_wait_is_told_once_and_known_until_it_is_over() {
        let events = Events::default();
        let wait = |why: &str, since: &str| {
            Some(ProviderWait {
                since: since.into(),
                why: why.into(),
            })
        };
        let stream = events.of_run("a", Some(0));
        events.tell_wait("a", "e", None);
        events.tell_wait("a", "e", wait("", "10"));
        events.tell_wait("a", "e", wait("", "11"));
        assert_eq!(events.wait_of("e"), wait("", "10"));
        events.tell_wait("a", "e", wait("HTTP 429", "10"));
        events.mention("a", happened(Progress::Running));
        events.tell_wait("a", "e", None);
        assert_eq!(events.wait_of("e"), None);
        let told: Vec<_> = stream.take(4).map(|event| event.seq).collect().await;
        assert_eq!(told, [1, 2, 2, 3], "a mention takes no number");
        let later: Vec<_> = events.of_run("a", Some(1)).take(2).collect().await;
        assert_eq!(later.iter().map(|e| e.seq).collect::<Vec<_>>(), [2, 3]);
    }

    #[tokio::test]
    async fn a_reader_too_slow_is_sent_away_rather_than_misled() {
        let events = Events::default();
        let stream = events.of_run("a", Some(0));
        // The channel rounds its size up to a power of two.
        for _ in 0..=MEMORY.next_power_of_two() {
            events.tell("a", happened(Progress::Running));
        }
        assert_eq!(stream.count().await, 0);
    }
}
