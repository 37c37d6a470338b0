use leptos::prelude::*;

/// Says what was done, when the address says that something was: one of the
/// words known, since anybody can write an address.
#[component]
pub fn Done(
    said: Option<String>,
    /// A word, and what is said to it.
    known: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let found = known.iter().find(|(word, _)| said.as_deref() == Some(word));
    found.map(
        |(_, sentence)| view! { <p class="note" data-tone="good" role="status">{*sentence}</p> },
    )
}

/// A secret that was just made, in a field to copy it from.
#[component]
pub fn ShownOnce(
    /// What it is.
    label: &'static str,
    text: String,
    /// What to do with it.
    advice: &'static str,
) -> impl IntoView {
    view! {
        <div class="note shown-once" data-tone="good" role="status">
            <label for="shown-once">{label}</label>
            <input id="shown-once" type="text" value=text readonly=true autofocus=true autocomplete="off" spellcheck="false"/>
            <p>{advice}</p>
        </div>
    }
}
