//! Keeps the address and the controls in sync, in both directions.

use leptos::prelude::*;
use swe_ci_core::metrics::Gamma;

use crate::debounce::Rest;
use crate::query::Reading;

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
    rest: Rest,
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
            rest: Rest::new(),
        };
        // Back and forward move the controls; while somebody moves one, the
        // address does not.
        Effect::new(move || {
            let from_address = address.get();
            if state.rest.is_awaited() {
                return;
            }
            follow(state.rested, from_address.gamma);
            follow(state.gamma, from_address.gamma);
            follow(state.text, from_address.view.text);
        });
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
        self.rest.stop();
        let mut reading = untrack(|| self.get());
        change(&mut reading);
        self.go.run((reading, Step::New));
    }

    /// Updates the address, unless a control moves again first.
    pub(super) fn later(self) {
        self.rest.then(move || {
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
        });
    }
}

/// Sets a signal to a new value only, so that equal ones wake nobody.
fn follow<T: PartialEq + Send + Sync + 'static>(signal: RwSignal<T>, value: T) {
    if signal.with_untracked(|now| *now != value) {
        signal.set(value);
    }
}
