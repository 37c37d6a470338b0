//! Filtering tests: links, and a text field.

use leptos::prelude::*;
use swe_ci_core::test_history::Wanted;

use super::tests::Tests;
use crate::components::{Choice, Choices, HiddenFields};
use crate::debounce::Rest;
use crate::pages::routes::{EvolutionAddress, EvolutionQuery};

/// Filters immediately; the address follows when typing rests. Without
/// JavaScript a button submits the form.
#[component]
pub(super) fn Filter(
    tests: StoredValue<Tests>,
    reading: Signal<EvolutionQuery>,
    text: RwSignal<String>,
    go: Callback<EvolutionQuery>,
) -> impl IntoView {
    let address = tests.with_value(|tests| EvolutionAddress::of_detail(&tests.detail));
    let choices = choices(tests, address.clone(), text, reading);
    let follow = Following::new(reading, text, go);
    let path = address.path();
    // All but the text, which has a field of its own.
    let others = move || {
        let text = String::new();
        let fields = address.fields(&EvolutionQuery {
            text,
            ..reading.get()
        });
        view! { <HiddenFields fields/> }
    };
    let first = text.get_untracked();
    view! {
        <div class="controls controls-plain heat-controls">
            <Choices label="Tests" choices/>
            <form
                class="heat-filter"
                method="get"
                role="search"
                action=path
                on:submit=|event| event.prevent_default()
            >
                {others}
                <label for="heat-text">"Node id has"</label>
                <input
                    id="heat-text"
                    type="search"
                    name="q"
                    maxlength="200"
                    autocomplete="off"
                    spellcheck="false"
                    value=first
                    prop:value=move || text.get()
                    on:input=move |event| {
                        text.set(event_target_value(&event));
                        follow.later();
                    }
                />
                <button class="button no-js">"Filter"</button>
            </form>
        </div>
    }
}

/// A link for each choice, with its number of tests.
fn choices(
    tests: StoredValue<Tests>,
    address: EvolutionAddress,
    text: RwSignal<String>,
    reading: Signal<EvolutionQuery>,
) -> Vec<Choice> {
    let choice = |wanted: Wanted| {
        let count = |tests: &Tests| {
            let histories = tests.test_histories.iter();
            histories.filter(|history| wanted.wants(**history)).count()
        };
        let (label, hint) = words(wanted);
        let address = address.clone();
        Choice {
            label: format!("{label} · {}", tests.with_value(count)),
            hint: hint.into(),
            href: Signal::derive(move || {
                address.href(&EvolutionQuery {
                    wanted,
                    text: text.get(),
                    ..reading.get()
                })
            }),
            chosen: Signal::derive(move || reading.with(|r| r.wanted == wanted)),
        }
    };
    Wanted::ALL.map(choice).to_vec()
}

fn words(wanted: Wanted) -> (&'static str, &'static str) {
    match wanted {
        Wanted::Regressed => (
            "regressed",
            "Failed in some iteration after passing on the last scored code; a collapse, which loses all tests at once, does not count",
        ),
        Wanted::NeverPassed => (
            "never passed",
            "Passed neither on the base nor after any iteration",
        ),
        Wanted::Gained => ("gained", "Failed on the base and passed in some iteration"),
        Wanted::Flaky => (
            "flaky?",
            "Had different outcomes on the same code, which proves it, or changed more than twice, which does not: each version of the code is tested once",
        ),
        Wanted::All => ("all", "Every test the target passes"),
    }
}

/// Keeps address and text in sync, in both directions.
#[derive(Clone, Copy)]
struct Following {
    reading: Signal<EvolutionQuery>,
    text: RwSignal<String>,
    go: Callback<EvolutionQuery>,
    rest: Rest,
}

impl Following {
    fn new(
        reading: Signal<EvolutionQuery>,
        text: RwSignal<String>,
        go: Callback<EvolutionQuery>,
    ) -> Self {
        let following = Self {
            reading,
            text,
            go,
            rest: Rest::new(),
        };
        // Back and forward change the text, but not while somebody types.
        Effect::new(move || {
            let from_address = reading.with(|r| r.text.clone());
            if !following.rest.is_awaited() && text.get_untracked() != from_address {
                text.set(from_address);
            }
        });
        following
    }

    /// Updates the address, unless the text changes again first.
    fn later(self) {
        self.rest.then(move || {
            let reading = self.reading.get_untracked();
            let text = self.text.get_untracked();
            self.go.run(EvolutionQuery { text, ..reading });
        });
    }
}
