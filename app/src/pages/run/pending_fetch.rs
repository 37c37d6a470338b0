//! Decides when the page fetches the run's rows again.

use swe_ci_views::event::RunEvent;

/// The present fetch of the rows, if there is one.
///
/// A fetch that began before an event may lack what the event announced. So an
/// event that asks for a fetch during another asks for one more after it.
#[derive(Debug, Default)]
pub(super) struct PendingFetch {
    /// Events since the fetch began; none without a fetch.
    since: Option<Vec<RunEvent>>,
    /// Another fetch must follow.
    again: bool,
}

impl PendingFetch {
    /// Remembers an event that the present fetch may lack.
    pub(super) fn note(&mut self, event: RunEvent) {
        if let Some(since) = &mut self.since {
            since.push(event);
        }
    }

    /// Asks for the rows; whether a fetch must begin now.
    pub(super) fn ask(&mut self) -> bool {
        let idle = self.since.is_none();
        self.again = !idle;
        self.since.get_or_insert_default();
        idle
    }

    /// Ends the fetch: the events since it began, and whether another must
    /// follow.
    pub(super) fn end(&mut self) -> (Vec<RunEvent>, bool) {
        let since = self.since.take().unwrap_or_default();
        (since, std::mem::take(&mut self.again))
    }
}

#[cfg(test)]
mod tests {
    use swe_ci_core::run::Progress;
    use swe_ci_views::event::What;

    use super::*;

    fn event(seq: u64) -> RunEvent {
        RunEvent {
            seq,
            run_id: "r".into(),
            what: What::Run {
                progress: Progress::Running,
            },
        }
    }

    fn ended(fetch: &mut PendingFetch) -> (Vec<u64>, bool) {
        let (since, again) = fetch.end();
        (since.iter().map(|event| event.seq).collect(), again)
    }

    #[test]
    fn an_event_during_a_fetch_asks_for_another() {
        let mut fetch = PendingFetch::default();
        fetch.note(event(1));
        assert!(fetch.ask());
        fetch.note(event(2));
        assert_eq!(ended(&mut fetch), (vec![2], false));

        assert!(fetch.ask());
        for seq in [3, 4] {
            fetch.note(event(seq));
            assert!(!fetch.ask(), "one at a time");
        }
        assert_eq!(ended(&mut fetch), (vec![3, 4], true));
        assert!(fetch.ask());
        assert_eq!(ended(&mut fetch), (vec![], false));
    }
}
