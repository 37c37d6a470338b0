//! Every word of the field, from the list that explains them on all pages.

use leptos::prelude::*;

use super::{GLOSSARY, Section};
use crate::glossary::{CHAPTERS, Chapter, Word};

#[component]
pub(super) fn Glossary() -> impl IntoView {
    view! {
        <Section place=GLOSSARY>
            <p>"Words with a dotted line are explained where they stand; here are all of them."</p>
            {CHAPTERS.map(chapter).collect_view()}
        </Section>
    }
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
