//! The reader's own provider keys: their names, never their values.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::keys;
use self::view::Keys;
use crate::components::{Confirmation, PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::query::named;

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 2] = [
    ("set", "The key is stored encrypted and never shown again."),
    ("removed", "The key is removed."),
];

#[component]
pub fn KeysPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let done = use_query_map().with_untracked(|query| named(query, "done"));
    let resource = fetched(|| (), |()| keys());
    view! {
        <PageHead title="Keys" description="The keys your runs use for their providers." missing=true/>
        <div class="hero">
            <h1>"Keys"</h1>
            <p class="lede">
                "Your runs name the key that pays their provider. Only your own runs can use it; it is sent to that provider and nowhere else, and no page shows it."
            </p>
        </div>
        <Confirmation word=done known=&DONE/>
        {loaded(resource, move |keys| view! { <Keys keys answer=answer.clone()/> })}
    }
}
