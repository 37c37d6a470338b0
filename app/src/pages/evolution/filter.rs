//! Which tests are looked at: links, and a text.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use swe_ci_core::fates::Wanted;

use super::data::{Address, Reading};
use super::heat::Tests;
use crate::components::{Choice, Choices};
use crate::pages::iteration::{DIFF, SPLIT};

/// How long the text rests before the address follows it.
const SETTLED: Duration = Duration::from_millis(250);

/// Filters at once; the address follows when typing rests. Without JavaScript
/// a button takes its place.
#[component]
pub(super) fn Filter(
    tests: StoredValue<Tests>,
    reading: Signal<Reading>,
    /// The text as it is being typed.
    text: RwSignal<String>,
    go: Callback<Reading>,
) -> impl IntoView {
    let address = tests.with_value(|tests| Address::of_detail(&tests.detail));
    let choices = choices(tests, &address, text);
    let follow = Following::new(reading, text, go);
    let sample = address.named_sample();
    let hidden = |name: &'static str, value: Option<String>| {
        value.map(|value| view! { <input type="hidden" name=name value=value/> })
    };
    let show = move || {
        let wanted = reading.with(|r| r.wanted);
        hidden(
            "show",
            (wanted != Wanted::All).then(|| wanted.name().to_owned()),
        )
    };
    let iteration = move || {
        let chosen = reading.with(|r| r.iteration);
        hidden("iteration", chosen.map(|n| n.to_string()))
    };
    let split = move || {
        let split = reading.with(|r| r.split);
        hidden(DIFF, split.then(|| SPLIT.to_owned()))
    };
    let first = text.get_untracked();
    view! {
        <div class="controls controls-plain heat-controls">
            <Choices label="Tests" choices=choices(reading)/>
            <form
                class="heat-filter"
                method="get"
                role="search"
                action=address.path()
                on:submit=|event| event.prevent_default()
            >
                {hidden("sample", sample)}
                {show}
                {iteration}
                {split}
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

/// A link for each choice, with how many tests it has.
fn choices(
    tests: StoredValue<Tests>,
    address: &Address,
    text: RwSignal<String>,
) -> impl Fn(Signal<Reading>) -> Vec<Choice> {
    let address = address.clone();
    move |reading| {
        let choice = |wanted: Wanted| {
            let fates = |tests: &Tests| tests.fates.iter().filter(|f| wanted.wants(**f)).count();
            let (label, hint) = words(wanted);
            let address = address.clone();
            Choice {
                label: format!("{label} · {}", tests.with_value(fates)),
                hint: hint.into(),
                href: Signal::derive(move || {
                    address.href(&Reading {
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
}

fn words(wanted: Wanted) -> (&'static str, &'static str) {
    match wanted {
        Wanted::Regressed => (
            "regressed",
            "Passed on the last scored code and no longer did, at some iteration; a collapse, which loses all at once, is not counted here",
        ),
        Wanted::NeverPassed => (
            "never passed",
            "Neither on the base nor after any iteration",
        ),
        Wanted::Gained => (
            "gained",
            "Did not pass on the base and passed at some iteration",
        ),
        Wanted::Flaky => (
            "flaky?",
            "Did otherwise on the very same code, which proves it, or went to and fro more than twice, which does not: each version of the code is tested once",
        ),
        Wanted::All => ("all", "Every test the target passes"),
    }
}

/// Keeps address and text together, in both directions.
#[derive(Clone, Copy)]
struct Following {
    reading: Signal<Reading>,
    text: RwSignal<String>,
    go: Callback<Reading>,
    waiting: StoredValue<Option<TimeoutHandle>>,
}

impl Following {
    fn new(reading: Signal<Reading>, text: RwSignal<String>, go: Callback<Reading>) -> Self {
        let following = Self {
            reading,
            text,
            go,
            waiting: StoredValue::new(None),
        };
        // Back and forward change the text; while somebody types the address
        // has nothing to say.
        Effect::new(move || {
            let asked = reading.with(|r| r.text.clone());
            if following.waiting.with_value(Option::is_none) && text.get_untracked() != asked {
                text.set(asked);
            }
        });
        on_cleanup(move || following.stop_waiting());
        following
    }

    /// The address follows, unless the text changes again before.
    fn later(self) {
        self.stop_waiting();
        let arrive = move || {
            self.waiting.set_value(None);
            let reading = self.reading.get_untracked();
            let text = self.text.get_untracked();
            self.go.run(Reading { text, ..reading });
        };
        self.waiting
            .set_value(set_timeout_with_handle(arrive, SETTLED).ok());
    }

    fn stop_waiting(self) {
        let waiting = self.waiting.try_update_value(Option::take).flatten();
        if let Some(handle) = waiting {
            handle.clear();
        }
    }
}
