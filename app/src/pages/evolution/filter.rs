//! Filtering tests: links, and a text field.

use leptos::prelude::*;
use swe_ci_core::test_history::Wanted;

use super::tests::Tests;
use crate::components::{Choice, Choices, HiddenFields};
use crate::pages::routes::{EvolutionAddress, EvolutionQuery};

/// Filters while somebody types; without scripts a button submits the form.
#[component]
pub(super) fn Filter(tests: StoredValue<Tests>, query: EvolutionQuery) -> impl IntoView {
    let address = tests.with_value(|tests| EvolutionAddress::of_detail(&tests.detail));
    let choices = choices(tests, &address, &query);
    // All but the text, which has a field of its own, and the place in the list.
    let others = address.fields(&EvolutionQuery {
        text: String::new(),
        from: 0,
        ..query.clone()
    });
    view! {
        <div class="controls controls-plain heat-controls">
            <Choices label="Tests" choices/>
            <form class="heat-filter" method="get" role="search" action=address.path() data-in-place="">
                <HiddenFields fields=others/>
                <label for="heat-text">"Node id has"</label>
                <input
                    id="heat-text"
                    type="search"
                    name="q"
                    maxlength="200"
                    autocomplete="off"
                    spellcheck="false"
                    value=query.text
                />
                <button class="button no-js">"Filter"</button>
            </form>
        </div>
    }
}

/// A link for each choice, with its number of tests.
fn choices(
    tests: StoredValue<Tests>,
    address: &EvolutionAddress,
    query: &EvolutionQuery,
) -> Vec<Choice> {
    let choice = |wanted: Wanted| {
        let count = |tests: &Tests| {
            let histories = tests.test_histories.iter();
            histories.filter(|history| wanted.wants(**history)).count()
        };
        let (label, hint) = words(wanted);
        let href = address.href(&EvolutionQuery {
            wanted,
            from: 0,
            ..query.clone()
        });
        Choice {
            label: format!("{label} · {}", tests.with_value(count)),
            hint: hint.into(),
            href: Signal::stored(href),
            chosen: Signal::stored(query.wanted == wanted),
        }
    };
    Wanted::ALL.map(choice).to_vec()
}

fn words(wanted: Wanted) -> (&'static str, &'static str) {
    match wanted {
        Wanted::Changed => (
            "changed",
            "Did not pass on the base and after every iteration",
        ),
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
