//! What happens, told to whoever watches: one channel for the process, with a
//! short memory so that a reader who lost the connection can catch up. Rows
//! are the truth; an event that is missed costs a reload, never a result.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{Stream, StreamExt};
use swe_ci_core::event::{RunEvent, What};
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
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
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
            let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
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
