use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::form_answer::Form;

/// Confirms the action in the query's `done`. Anybody can write an address, so
/// only known words count.
#[component]
pub fn Confirmation(
    /// Values of `done` and their messages.
    known: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let done = use_query_map().with_untracked(|query| query.get("done"));
    let found = known.iter().find(|(word, _)| done.as_deref() == Some(word));
    found.map(|(_, says)| view! { <p class="note" data-tone="good" role="status">{*says}</p> })
}

/// A secret that a form has just created, in a field to copy it from.
#[component]
pub fn ShownOnce(
    form: Form,
    label: &'static str,
    #[prop(default = "Copy it now: it is not shown again and cannot be retrieved.")]
    advice: &'static str,
) -> impl IntoView {
    form.read(|answer| answer.made.clone()).map(|text| view! {
        <div class="note shown-once" data-tone="good" role="status">
            <label for="shown-once">{label}</label>
            <input id="shown-once" type="text" value=text readonly=true autofocus=true autocomplete="off" spellcheck="false"/>
            <p>{advice}</p>
        </div>
    })
}

/// Why an action was refused.
#[component]
pub fn Refusal(
    #[prop(into)] why: Option<String>,
    #[prop(default = "bad")] tone: &'static str,
) -> impl IntoView {
    why.map(|why| view! { <p class="note" data-tone=tone role="alert">{why}</p> })
}
