//! How the benchmark measures, its limits, and how to submit results and reuse
//! data. Every section has an anchor.

mod certainty;
mod glossary;
mod protocol;
mod scores;
mod sources;
mod taking;

use leptos::prelude::*;

use crate::components::PageTop;

/// A section: its anchor, its heading and its content.
type Section = (&'static str, &'static str, fn() -> AnyView);

/// In their order on the page.
const SECTIONS: [Section; 13] = [
    ("protocol", "The protocol", protocol::protocol),
    ("evoscore", "EvoScore", scores::score),
    ("columns", "The other figures", scores::figures),
    ("certainty", "How sure is that?", certainty::certainty),
    ("conventions", "Two conventions", scores::conventions),
    (
        "fairness",
        "Failures that do not count against an agent",
        protocol::fairness,
    ),
    ("human", "The human baseline", sources::human),
    ("elsewhere", "Results from elsewhere", sources::elsewhere),
    ("limits", "Limits", certainty::limits),
    ("submitting", "How to submit", taking::submitting),
    ("data", "Data and feed", taking::data),
    ("licence", "Licence", taking::licence),
    ("glossary", "Glossary", glossary::glossary),
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
        />
        <div class="about">
            <nav class="contents" aria-label="On this page">
                <ol>{SECTIONS.map(link).collect_view()}</ol>
            </nav>
            <article class="prose">{SECTIONS.map(section).collect_view()}</article>
        </div>
    }
}
