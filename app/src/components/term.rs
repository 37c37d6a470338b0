//! Words with their explanations.
//!
//! An explanation is a popover beside its word: hovering or focusing the word
//! shows it, pressing it keeps it open, and none of that needs a script.
//! Escape hides it, which only an open popover does by itself. On a page each
//! stands once, beside one [`Term`] or [`Explained`]; others point at it.

use std::borrow::Cow;

use leptos::ev;
use leptos::prelude::*;

use crate::glossary::Word;

/// A word in running text: its name, or how the sentence has it.
#[component]
pub fn Term(
    word: Word,
    /// In place of the word's name.
    #[prop(optional, into)]
    text: Option<Cow<'static, str>>,
) -> AnyView {
    let text = text.unwrap_or(Cow::Borrowed(word.name()));
    explained(word, button(word, text))
}

/// What has another purpose, such as the head of a column that sorts, with
/// the explanation of its word. It refers to it by `aria-describedby`.
#[component]
pub fn Explained(word: Option<Word>, children: Children) -> AnyView {
    let inside = children().into_any();
    match word {
        Some(word) => explained(word, inside),
        None => inside,
    }
}

/// The head of a row or column: explained where it is a word of the field,
/// else said more of on hovering.
pub fn heading(name: &'static str, hint: &'static str) -> AnyView {
    match Word::headed(name) {
        Some(word) => explained(word, button(word, name.into())),
        None => view! { <span title=hint>{name}</span> }.into_any(),
    }
}

/// Words explained elsewhere on the page, for those who cannot hover there.
#[component]
pub fn Key(#[prop(into)] words: Signal<Vec<Word>>) -> impl IntoView {
    let buttons = move || {
        let words = words.get().into_iter();
        words
            .map(|word| view! { <li>{button(word, word.name().into())}</li> })
            .collect_view()
    };
    view! {
        <div class="key">
            <span class="key-label" id="key-label">"What it means:"</span>
            <ul aria-labelledby="key-label">{buttons}</ul>
        </div>
    }
}

fn button(word: Word, text: Cow<'static, str>) -> AnyView {
    view! {
        <button type="button" class="term-word" popovertarget=word.tip() aria-describedby=word.tip()>
            {text}
        </button>
    }
    .into_any()
}

fn explained(word: Word, inside: AnyView) -> AnyView {
    // Until the pointer or the focus comes anew.
    let hushed = RwSignal::new(false);
    Effect::new(move || {
        let escape = window_event_listener(ev::keydown, move |event| {
            if event.key() == "Escape" {
                hushed.set(true);
            }
        });
        on_cleanup(move || escape.remove());
    });
    view! {
        <span
            class="term"
            class:hushed=hushed
            on:mouseenter=move |_| hushed.set(false)
            on:focusin=move |_| hushed.set(false)
        >
            {inside}
            <span class="term-tip" id=word.tip() role="tooltip" popover="auto">
                {word.definition()}
            </span>
        </span>
    }
    .into_any()
}
