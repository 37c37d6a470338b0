//! All words of the glossary.

use leptos::prelude::*;

use crate::glossary::{CHAPTERS, Chapter, Word};

pub(super) fn glossary() -> AnyView {
    view! {
        <p>"Words with a dotted underline have an explanation in place; this is the full list."</p>
        {CHAPTERS.iter().copied().map(chapter).collect_view()}
    }
    .into_any()
}

fn chapter(chapter: Chapter) -> impl IntoView {
    view! {
        <h3>{chapter.title}</h3>
        <dl class="glossary">{chapter.words.iter().copied().map(entry).collect_view()}</dl>
    }
}

fn entry(word: Word) -> impl IntoView {
    let id = format!("term-{}", word.slug());
    view! {
        <div id=id>
            <dt>{word.name()}</dt>
            <dd>{word.definition()}</dd>
        </div>
    }
}
