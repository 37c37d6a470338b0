//! Keeps the address and the controls in sync, in both directions.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use swe_ci_core::metrics::Gamma;

use crate::query::Reading;

/// How long a control must rest before the address follows.
const SETTLED: Duration = Duration::from_millis(250);

/// How a change of the address appears in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A new entry, to go back on.
    New,
    /// Replaces the present entry.
    Same,
}

/// The state of the board: the address, plus changes of the controls that the
/// address does not contain yet.
#[derive(Clone, Copy)]
pub(super) struct BoardState {
    address: Signal<Reading>,
    pub gamma: RwSignal<Gamma>,
    /// The γ at which the slider last rested; it is moving while `gamma`
    /// differs.
    pub rested: RwSignal<Gamma>,
    pub text: RwSignal<String>,
    go: Callback<(Reading, Step)>,
    waiting: StoredValue<Option<TimeoutHandle>>,
}

impl BoardState {
    pub(super) fn new(address: Signal<Reading>, go: Callback<(Reading, Step)>) -> Self {
        let first = address.get_untracked();
        let state = Self {
            address,
            gamma: RwSignal::new(first.gamma),
            rested: RwSignal::new(first.gamma),
            text: RwSignal::new(first.view.text),
            go,
            waiting: StoredValue::new(None),
        };
        // Back and forward move the controls; while somebody moves one, the
        // address does not.
        Effect::new(move || {
            let from_address = address.get();
            if state.waiting.with_value(Option::is_some) {
                return;
            }
            follow(state.rested, from_address.gamma);
            follow(state.gamma, from_address.gamma);
            follow(state.text, from_address.view.text);
        });
        on_cleanup(move || state.stop_waiting());
        state
    }

    /// The present state.
    pub(super) fn get(self) -> Reading {
        let mut reading = self.address.get();
        reading.gamma = self.gamma.get();
        reading.view.text = self.text.get();
        reading
    }

    /// The address after a change.
    pub(super) fn href(self, change: impl FnOnce(&mut Reading)) -> String {
        let mut reading = self.get();
        change(&mut reading);
        reading.href()
    }

    /// Goes to the address of a change, as a link would.
    pub(super) fn choose(self, change: impl FnOnce(&mut Reading)) {
        self.stop_waiting();
        let mut reading = untrack(|| self.get());
        change(&mut reading);
        self.go.run((reading, Step::New));
    }

    /// Updates the address, unless a control moves again first.
    pub(super) fn later(self) {
        self.stop_waiting();
        let arrive = move || {
            self.waiting.set_value(None);
            let reading = untrack(|| self.get());
            self.rested.set(reading.gamma);
            let before = self.address.with_untracked(|r| r.view.text.is_empty());
            // Starting and ending a search add to the history; further typing
            // does not.
            let step = match before == reading.view.text.is_empty() {
                true => Step::Same,
                false => Step::New,
            };
            self.go.run((reading, step));
        };
        let waiting = set_timeout_with_handle(arrive, SETTLED).ok();
        self.waiting.set_value(waiting);
    }

    fn stop_waiting(self) {
        let waiting = self.waiting.try_update_value(Option::take).flatten();
        if let Some(handle) = waiting {
            handle.clear();
        }
    }
}

/// Sets a signal to a new value only, so that equal ones wake nobody.
fn follow<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|now| *now != value) {
        signal.set(value);
    }
}
