//! Events for clients that watch runs: one broadcast channel for the process
//! and a bounded history, so that a client can catch up after a lost
//! connection. The database rows are the source of truth; a missed event costs
//! a reload, never a result. Provider waits are the exception: no row holds
//! them, and they end with the process.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{Stream, StreamExt};
use swe_ci_views::event::{RunEvent, What};
use swe_ci_views::view::ProviderWait;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::wrappers::BroadcastStream;

/// Size of the history, over all runs.
const HISTORY: usize = 2_000;
/// Events on their way to the servers; further ones are dropped.
const OUTBOX: usize = 4_000;

#[derive(Debug, Clone)]
pub struct Events {
    sender: broadcast::Sender<RunEvent>,
    history: Arc<Mutex<History>>,
    /// Where readers are in other processes.
    outbox: Option<mpsc::Sender<(String, What)>>,
}

#[derive(Debug, Default)]
struct History {
    seq: u64,
    recent: VecDeque<RunEvent>,
    /// By evolution.
    waits: HashMap<String, ProviderWait>,
}

impl History {
    fn of(&self, run_id: &str, after: Option<u64>) -> Vec<RunEvent> {
        let wanted = |e: &&RunEvent| match after {
            // A number from the future comes from before a restart of the
            // server.
            Some(seq) if seq <= self.seq => e.seq > seq,
            _ => matches!(e.what, What::Log { .. }),
        };
        let of_run = self.recent.iter().filter(|e| e.run_id == run_id);
        of_run.filter(wanted).cloned().collect()
    }

    /// Carries the number of the event before it.
    fn unstored(&self, run_id: &str, what: What) -> RunEvent {
        RunEvent {
            seq: self.seq,
            run_id: run_id.to_owned(),
            what,
        }
    }
}

impl Default for Events {
    fn default() -> Self {
        Self {
            sender: broadcast::channel(HISTORY).0,
            history: Arc::default(),
            outbox: None,
        }
    }
}

impl Events {
    /// Events of a process without readers of its own: they come out of the
    /// receiver. When it is slow, events are missed, which costs readers a
    /// reload.
    pub fn with_outbox() -> (Self, mpsc::Receiver<(String, What)>) {
        let (sender, receiver) = mpsc::channel(OUTBOX);
        let outbox = Some(sender);
        let events = Self {
            outbox,
            ..Self::default()
        };
        (events, receiver)
    }

    /// Publishes an event of another process.
    pub fn relay(&self, run_id: &str, what: What) {
        match what {
            What::Waiting {
                evolution_id,
                waiting,
            } => self.set_wait(run_id, &evolution_id, waiting),
            what => self.publish(run_id, what),
        }
    }

    pub fn publish(&self, run_id: &str, what: What) {
        self.publish_and_store(&mut self.lock(), run_id, what);
    }

    /// Sends an event without storing it: it is useless to later readers.
    pub fn publish_unstored(&self, run_id: &str, what: What) {
        let history = self.lock();
        let _ = self.sender.send(history.unstored(run_id, what));
    }

    /// An event for one reader.
    pub fn unstored(&self, run_id: &str, what: What) -> RunEvent {
        self.lock().unstored(run_id, what)
    }

    pub fn has_listeners(&self) -> bool {
        self.sender.receiver_count() > 0
    }

    /// Records whether an evolution waits for its provider, and publishes an
    /// event if that changed.
    pub fn set_wait(&self, run_id: &str, evolution_id: &str, waiting: Option<ProviderWait>) {
        let mut history = self.lock();
        let same = match (&waiting, history.waits.get(evolution_id)) {
            // A slightly later start is only rounding.
            (Some(now), Some(before)) => {
                let alike = ProviderWait {
                    since: before.since.clone(),
                    ..now.clone()
                };
                alike == *before && now.since.is_empty() == before.since.is_empty()
            }
            (now, before) => now.is_none() && before.is_none(),
        };
        if same {
            return;
        }
        let evolution_id = evolution_id.to_owned();
        match &waiting {
            Some(wait) => history.waits.insert(evolution_id.clone(), wait.clone()),
            None => history.waits.remove(&evolution_id),
        };
        let what = What::Waiting {
            evolution_id,
            waiting,
        };
        self.publish_and_store(&mut history, run_id, what);
    }

    /// The provider wait of an evolution, as far as this process knows.
    pub fn current_wait(&self, evolution_id: &str) -> Option<ProviderWait> {
        self.lock().waits.get(evolution_id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish_and_store(&self, history: &mut History, run_id: &str, what: What) {
        if let Some(outbox) = &self.outbox {
            let _ = outbox.try_send((run_id.to_owned(), what.clone()));
        }
        // A worker that died tells of no end of its wait; the next one tells of
        // its first step.
        if let What::Step { evolution_id, .. }
        | What::Queued { evolution_id }
        | What::Ended { evolution_id, .. } = &what
        {
            history.waits.remove(evolution_id);
        }
        history.seq += 1;
        let event = RunEvent {
            seq: history.seq,
            run_id: run_id.to_owned(),
            what,
        };
        if history.recent.len() == HISTORY {
            history.recent.pop_front();
        }
        history.recent.push_back(event.clone());
        // Sent while the history is locked, so that each reader sees each event
        // once, from the history or from the channel. An error means that
        // nobody is subscribed.
        let _ = self.sender.send(event);
    }

    /// The stored events of a run after `after`; without it, its stored log lines.
    pub fn stored(&self, run_id: &str, after: Option<u64>) -> Vec<RunEvent> {
        self.lock().of(run_id, after)
    }

    /// The events of a run: the stored ones after `after`, then all new ones.
    /// Without `after`, the stored log lines of the run.
    pub fn subscribe(
        &self,
        run_id: &str,
        after: Option<u64>,
    ) -> impl Stream<Item = RunEvent> + Send + 'static + use<> {
        let run_id = run_id.to_owned();
        let (past, live) = {
            let history = self.lock();
            (history.of(&run_id, after), self.sender.subscribe())
        };
        let live = BroadcastStream::new(live)
            // A reader too slow for the channel has missed events: its stream
            // ends, it reconnects and reads the rows.
            .take_while(|event| std::future::ready(event.is_ok()))
            .filter_map(|event| std::future::ready(event.ok()))
            .filter(move |event| std::future::ready(event.run_id == run_id));
        futures::stream::iter(past).chain(live)
    }
}

/// The events up to the one that tells that the run is over.
pub fn until_over(
    events: impl Stream<Item = RunEvent> + Send + 'static,
) -> impl Stream<Item = RunEvent> + Send + 'static {
    events
        .flat_map(|event| {
            let over = matches!(&event.what, What::Run { progress } if progress.is_over());
            futures::stream::iter(std::iter::once(Some(event)).chain(over.then_some(None)))
        })
        .take_while(|event| std::future::ready(event.is_some()))
        .filter_map(std::future::ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::run::Progress;
    use swe_ci_core::step::{Ending, Role};

    fn event(progress: Progress) -> What {
        What::Run { progress }
    }

    #[tokio::test]
    async fn a_reader_catches_up_and_goes_on() {
        let events = Events::default();
        events.publish("a", event(Progress::Queued));
        events.publish("b", event(Progress::Queued));
        events.publish("a", event(Progress::Running));
        let mut stream = Box::pin(events.subscribe("a", Some(1)));
        events.publish("b", event(Progress::Running));
        events.publish("a", event(Progress::Finished));
        let first = stream.next().await.unwrap();
        let second = stream.next().await.unwrap();
        assert_eq!((first.seq, second.seq), (3, 5));
    }

    #[tokio::test]
    async fn the_end_of_a_run_is_its_last_event() {
        let events = Events::default();
        let stream = until_over(events.subscribe("a", Some(0)));
        events.publish("a", event(Progress::Running));
        events.publish("b", event(Progress::Finished));
        events.publish("a", event(Progress::Finished));
        events.publish("a", event(Progress::Running));
        let numbers: Vec<_> = stream.map(|event| event.seq).collect().await;
        assert_eq!(numbers, [1, 3]);
        let stored = events.stored("a", Some(3));
        assert_eq!(stored.iter().map(|e| e.seq).collect::<Vec<_>>(), [4]);
    }

    #[tokio::test]
    async fn a_wait_is_published_once_and_known_until_it_ends() {
        let events = Events::default();
        let wait = |why: &str, since: &str| {
            Some(ProviderWait {
                since: since.into(),
                why: why.into(),
                ..ProviderWait::default()
            })
        };
        let stream = events.subscribe("a", Some(0));
        events.set_wait("a", "e", None);
        events.set_wait("a", "e", wait("", "10"));
        events.set_wait("a", "e", wait("", "11"));
        assert_eq!(events.current_wait("e"), wait("", "10"));
        events.set_wait("a", "e", wait("HTTP 429", "10"));
        events.publish_unstored("a", event(Progress::Running));
        events.set_wait("a", "e", None);
        assert_eq!(events.current_wait("e"), None);
        let numbers: Vec<_> = stream.take(4).map(|event| event.seq).collect().await;
        assert_eq!(numbers, [1, 2, 2, 3], "an unstored event takes no number");
        let later: Vec<_> = events.subscribe("a", Some(1)).take(2).collect().await;
        assert_eq!(later.iter().map(|e| e.seq).collect::<Vec<_>>(), [2, 3]);
    }

    /// The worker that waited died without a word.
    #[tokio::test]
    async fn a_wait_ends_with_the_next_step() {
        let events = Events::default();
        let evolution_id = || "e".to_owned();
        let later = [
            What::Queued {
                evolution_id: evolution_id(),
            },
            What::Step {
                evolution_id: evolution_id(),
                iteration: 1,
                role: Role::Test,
                attempt: 1,
            },
            What::Ended {
                evolution_id: evolution_id(),
                ending: Ending::Solved,
                reason: None,
            },
        ];
        for what in later {
            let wait = ProviderWait {
                since: "10".into(),
                why: "HTTP 429".into(),
                ..ProviderWait::default()
            };
            events.set_wait("a", "e", Some(wait.clone()));
            events.set_wait("a", "other", Some(wait));
            events.relay("a", what);
            assert_eq!(events.current_wait("e"), None);
            assert!(events.current_wait("other").is_some());
        }
    }

    #[tokio::test]
    async fn a_reader_too_slow_is_disconnected() {
        let events = Events::default();
        let stream = events.subscribe("a", Some(0));
        // The channel rounds its size up to a power of two.
        for _ in 0..=HISTORY.next_power_of_two() {
            events.publish("a", event(Progress::Running));
        }
        assert_eq!(stream.count().await, 0);
    }
}
