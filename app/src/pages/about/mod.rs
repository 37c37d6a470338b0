//! How the benchmark measures, its limits, and how to submit results and reuse
//! data. Every section has an anchor.

mod certainty;
mod formulas;
mod glossary;
mod protocol;
mod scores;
mod sources;
mod taking;

use leptos::prelude::*;

use self::certainty::{Certainty, Limits};
use self::glossary::Glossary;
use self::protocol::{Fairness, Protocol};
use self::scores::{Conventions, Figures, Score};
use self::sources::{Elsewhere, Human};
use self::taking::{Data, Licence, Submitting};
use crate::components::PageHead;

/// A section: its anchor and its heading.
#[derive(Debug, Clone, Copy)]
struct Place {
    id: &'static str,
    title: &'static str,
}

const fn place(id: &'static str, title: &'static str) -> Place {
    Place { id, title }
}

const PROTOCOL: Place = place("protocol", "The protocol");
const EVOSCORE: Place = place("evoscore", "EvoScore");
const COLUMNS: Place = place("columns", "The other figures");
const CERTAINTY: Place = place("certainty", "How sure is that?");
const CONVENTIONS: Place = place("conventions", "Two conventions");
const FAIRNESS: Place = place("fairness", "Failures that do not count against an agent");
const HUMAN: Place = place("human", "The human baseline");
const ELSEWHERE: Place = place("elsewhere", "Results from elsewhere");
const LIMITS: Place = place("limits", "Limits");
const SUBMITTING: Place = place("submitting", "How to submit");
const DATA: Place = place("data", "Data and feed");
const LICENCE: Place = place("licence", "Licence");
const GLOSSARY: Place = place("glossary", "Glossary");

/// In their order on the page.
const PLACES: [Place; 13] = [
    PROTOCOL,
    EVOSCORE,
    COLUMNS,
    CERTAINTY,
    CONVENTIONS,
    FAIRNESS,
    HUMAN,
    ELSEWHERE,
    LIMITS,
    SUBMITTING,
    DATA,
    LICENCE,
    GLOSSARY,
];

#[component]
pub fn AboutPage() -> impl IntoView {
    let link = |place: Place| {
        let href = format!("#{}", place.id);
        view! { <li><a href=href>{place.title}</a></li> }
    };
    view! {
        <PageHead
            title="How to read this"
            description="The protocol of SWE-CI, EvoScore and γ, regressions, how sure the figures are, the two conventions of counting, the human baseline, data to download, and every word explained."
        />
        <div class="hero">
            <h1>"How to read this"</h1>
            <p class="lede">
                "Fixing one bug says little about whether code stays easy to change. SWE-CI lets an agent maintain a real repository over many iterations and runs the tests after each."
            </p>
        </div>
        <div class="about">
            <nav class="contents" aria-label="On this page">
                <ol>{PLACES.map(link).collect_view()}</ol>
            </nav>
            <article class="prose">
                <Protocol/>
                <Score/>
                <Figures/>
                <Certainty/>
                <Conventions/>
                <Fairness/>
                <Human/>
                <Elsewhere/>
                <Limits/>
                <Submitting/>
                <Data/>
                <Licence/>
                <Glossary/>
            </article>
        </div>
    }
}

#[component]
fn Section(place: Place, children: Children) -> impl IntoView {
    let Place { id, title } = place;
    view! {
        <section aria-labelledby=id>
            <h2 id=id><a class="anchor" href=format!("#{id}")>{title}</a></h2>
            {children()}
        </section>
    }
}
