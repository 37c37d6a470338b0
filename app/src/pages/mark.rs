//! Tags beside a name: who made a result, and how far to trust it.

use leptos::prelude::*;
use swe_ci_core::run::Kind;
use swe_ci_views::verification::Mark;

use crate::components::{Tag, Term};
use crate::format;
use crate::glossary::Word;
use crate::words;

/// Tells human and imported runs from others.
#[component]
pub(super) fn KindTag(kind: Kind) -> impl IntoView {
    words::kind(kind).map(|(word, hint, tone)| view! { <Tag text=word.to_owned() tone hint/> })
}

/// How many runs a table leaves out, because they are known by counts alone.
#[component]
pub(super) fn KnownByCounts(runs: u32) -> impl IntoView {
    (runs > 0).then(|| {
        let runs = format::count(runs, "run");
        view! { <p class="quiet">{format!("Not listed: {runs} known by counts alone, scored in the reference convention only.")}</p> }
    })
}

/// The mark with a tooltip, for tables with many marks, whose key has the
/// explanation.
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
