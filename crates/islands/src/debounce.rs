//! Waiting until a control rests.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

/// How long a control must rest before the address follows.
const SETTLED: Duration = Duration::from_millis(250);

/// An action that waits until a control rests.
#[derive(Clone, Copy)]
pub struct Rest(StoredValue<Option<TimeoutHandle>>);

impl Rest {
    pub fn new() -> Self {
        let rest = Self(StoredValue::new(None));
        on_cleanup(move || rest.stop());
        rest
    }

    /// Acts later, unless the control moves again first.
    pub fn then(self, act: impl FnOnce() + 'static) {
        self.stop();
        let arrive = move || {
            self.0.set_value(None);
            act();
        };
        self.0
            .set_value(set_timeout_with_handle(arrive, SETTLED).ok());
    }

    pub fn stop(self) {
        let waiting = self.0.try_update_value(Option::take).flatten();
        if let Some(handle) = waiting {
            handle.clear();
        }
    }
}
