//! How the benchmark measures, its limits, and how to submit results and reuse
//! data. Every section has an anchor.

mod text;

use leptos::prelude::*;

use crate::components::CollectAny;
use crate::components::PageTop;
use crate::glossary::{CHAPTERS, Chapter, Word};

/// A section: its anchor, its heading and its content.
type Section = (&'static str, &'static str, fn() -> AnyView);

/// In their order on the page.
const SECTIONS: [Section; 13] = [
    ("protocol", "The protocol", text::protocol),
    ("evoscore", "EvoScore", text::score),
    ("columns", "The other figures", text::figures),
    ("certainty", "How sure is that?", text::certainty),
    ("conventions", "Two conventions", text::conventions),
    (
        "fairness",
        "Failures that do not count against an agent",
        text::fairness,
    ),
    ("human", "The human baseline", text::human),
    ("elsewhere", "Results from elsewhere", text::elsewhere),
    ("limits", "Limits", text::limits),
    ("submitting", "How to submit", text::submitting),
    ("data", "Data and feed", text::data),
    ("licence", "Licence", text::licence),
    ("glossary", "Glossary", glossary),
];

#[component]
pub fn AboutPage() -> impl IntoView {
    let link = |(id, title, _): Section| {
        view! { <li><a href=format!("#{id}")>{title}</a></li> }
    };
    let section = |(id, title, content): Section| {
        view! {
            <section aria-labelledby=id>
                <h2 id=id><a class="anchor" href=format!("#{id}")>{title}</a></h2>
                {content()}
            </section>
        }
    };
    view! {
        <PageTop
            title="How to read this"
            description="The protocol of SWE-CI, EvoScore and γ, regressions, how sure the figures are, the two conventions of counting, the human baseline, data to download, and every word explained."
            lede="Fixing one bug says little about whether code stays easy to change. SWE-CI lets an agent maintain a real repository over many iterations and runs the tests after each."
        >
            <p>
                "The benchmark: "
                <a href="https://arxiv.org/abs/2603.03823">"the paper"</a>
                ", "
                <a href="https://github.com/SKYLENAGE-AI/SWE-CI">"its authors’ program"</a>
                ", "
                <a href="https://huggingface.co/datasets/skylenage/SWE-CI">"the dataset"</a>
                "."
            </p>
        </PageTop>
        <div class="about">
            <nav class="contents" aria-label="On this page">
                <ol>{SECTIONS.map(link).collect_any()}</ol>
            </nav>
            <article class="prose">{SECTIONS.map(section).collect_any()}</article>
        </div>
    }
}

pub(super) fn glossary() -> AnyView {
    view! {
        <p>"Words with a dotted underline have an explanation in place; this is the full list."</p>
        {CHAPTERS.iter().copied().map(chapter).collect_any()}
    }
    .into_any()
}

fn chapter(chapter: Chapter) -> impl IntoView {
    view! {
        <h3>{chapter.title}</h3>
        <dl class="glossary">{chapter.words.iter().copied().map(entry).collect_any()}</dl>
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
