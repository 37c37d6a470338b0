//! Words with their explanations.
//!
//! An explanation is a popover beside its word. Hovering or focusing the word
//! shows it, and clicking keeps it open, all without a script. Browsers close
//! only open popovers on Escape; the page's script does that for the others. Each
//! explanation appears once on a page, beside one [`Term`] or [`Explained`];
//! others refer to it.

use std::borrow::Cow;

use leptos::prelude::*;

use crate::components::CollectAny;
use crate::glossary::Word;

/// A word in running text, by its name or in the form the sentence needs.
#[component]
pub fn Term(word: Word, #[prop(optional, into)] text: Option<Cow<'static, str>>) -> AnyView {
    let text = text.unwrap_or(Cow::Borrowed(word.name()));
    explained(word, button(word, text))
}

/// An element with another purpose, such as a sortable column heading, plus the
/// explanation of its word. The element refers to it with `aria-describedby`.
#[component]
pub fn Explained(word: Option<Word>, children: Children) -> AnyView {
    let inside = children().into_any();
    match word {
        Some(word) => explained(word, inside),
        None => inside,
    }
}

/// A heading: a glossary word with its explanation, or a name with a tooltip.
pub fn heading(name: &'static str, hint: &'static str) -> AnyView {
    match Word::headed(name) {
        Some(word) => explained(word, button(word, name.into())),
        None => view! { <span title=hint>{name}</span> }.into_any(),
    }
}

/// Words that the page explains elsewhere, for people who cannot hover there.
#[component]
pub fn Key(#[prop(into)] words: Signal<Vec<Word>>) -> impl IntoView {
    let buttons = move || {
        let words = words.get().into_iter();
        words
            .map(|word| view! { <li>{button(word, word.name().into())}</li> })
            .collect_any()
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
    view! {
        <span class="term">
            {inside}
            <span class="term-tip" id=word.tip() role="tooltip" popover="auto">
                {word.definition()}
            </span>
        </span>
    }
    .into_any()
}
