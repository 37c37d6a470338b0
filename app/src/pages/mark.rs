//! Tags beside a result: how far to trust it, how it was made, who sees it.

use leptos::prelude::*;
use swe_ci_core::run::Kind;
use swe_ci_views::account::Visibility;
use swe_ci_views::verification::Mark;

use crate::components::{Tag, Term};
use crate::format;
use crate::glossary::Word;
use crate::words;

/// How many runs a table leaves out, because they are known by counts alone.
#[component]
pub(super) fn KnownByCounts(runs: u32) -> impl IntoView {
    (runs > 0).then(|| {
        let runs = format::count(runs, "run");
        view! { <p class="quiet">{format!("Not listed: {runs} known by counts alone, scored in the reference convention only.")}</p> }
    })
}

/// The mark with a tooltip, for tables whose key explains the marks.
#[component]
pub(super) fn MarkTag(mark: Option<Mark>) -> impl IntoView {
    mark.map(|mark| {
        let (word, tone) = words::mark(mark);
        view! { <Tag text=word.name().to_owned() tone hint=word.definition().to_owned()/> }
    })
}

/// The mark with its explanation, where it appears once.
#[component]
pub(super) fn MarkTerm(mark: Option<Mark>) -> impl IntoView {
    mark.map(|mark| {
        let (word, tone) = words::mark(mark);
        view! { <span class="tag" data-tone=tone.name()><Term word/></span> }
    })
}

/// The key for the marks in a table.
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

/// Nothing for runs measured here.
#[component]
pub(super) fn KindTag(kind: Kind) -> impl IntoView {
    words::kind(kind).map(|(text, hint, tone)| view! { <Tag text tone hint/> })
}

/// Nothing for public runs.
#[component]
pub(super) fn VisibilityTag(visibility: Visibility) -> impl IntoView {
    words::visibility(visibility).map(|(text, hint, tone)| view! { <Tag text tone hint/> })
}
