//! How far a result is to be trusted, said beside its name.

use leptos::prelude::*;
use swe_ci_core::verification::Mark;

use super::words;
use crate::components::{Tag, Term};
use crate::glossary::Word;

/// The word, explained on hovering: where many of them stand on a page, whose
/// key explains it as well.
#[component]
pub(super) fn MarkTag(mark: Option<Mark>) -> impl IntoView {
    mark.map(|mark| {
        let (word, tone) = words::mark(mark);
        view! { <Tag text=word.name().to_owned() tone hint=word.definition().to_owned()/> }
    })
}

/// The word with its explanation, where it stands once.
#[component]
pub(super) fn MarkTerm(mark: Option<Mark>) -> impl IntoView {
    mark.map(|mark| {
        let (word, tone) = words::mark(mark);
        view! { <span class="tag" data-tone=tone.name()><Term word/></span> }
    })
}

/// What the marks mean that stand in a table, each once.
#[component]
pub(super) fn MarkKey(#[prop(into)] words: Signal<Vec<Word>>) -> impl IntoView {
    move || {
        let words = words.get();
        (!words.is_empty()).then(|| {
            let words = words.into_iter();
            let words = words.map(|word| view! { " "<Term word/> }).collect_view();
            view! { <p class="quiet marks-key">"Marks:"{words}</p> }
        })
    }
}
