//! One's own keys of providers: what they are called, never what they are.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::keys;
use self::view::Keys;
use crate::components::{Done, PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::query::named;

/// What `done=` may say, and what the page says to it.
const DONE: [(&str, &str); 2] = [
    (
        "set",
        "The key is stored. It is sealed, and shown nowhere again.",
    ),
    ("removed", "The key is removed."),
];

#[component]
pub fn KeysPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let done = use_query_map().with_untracked(|query| named(query, "done"));
    let resource = fetched(|| (), |()| keys());
    view! {
        <PageHead title="Keys" description="The keys your runs pay their providers with." missing=true/>
        <div class="hero">
            <h1>"Keys"</h1>
            <p class="lede">
                "Your runs name a key to pay their provider with. Only your own runs can use it; it goes to that provider and nowhere else, and no page shows it."
            </p>
        </div>
        <Done said=done known=&DONE/>
        {loaded(resource, move |keys| view! { <Keys keys answer=answer.clone()/> })}
    }
}
