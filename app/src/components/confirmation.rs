use leptos::prelude::*;

/// Confirms an action when the address names it. Anybody can write an address,
/// so only known words count.
#[component]
pub fn Confirmation(
    word: Option<String>,
    /// Words in the address and their messages.
    known: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let found = known
        .iter()
        .find(|(known, _)| word.as_deref() == Some(known));
    found.map(
        |(_, sentence)| view! { <p class="note" data-tone="good" role="status">{*sentence}</p> },
    )
}

/// A new secret, in a field to copy it from.
#[component]
pub fn ShownOnce(
    /// The kind of secret.
    label: &'static str,
    text: String,
    /// How to use it.
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
