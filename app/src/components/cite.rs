//! How to cite a page.

use leptos::prelude::*;
use swe_ci_views::leaderboard::citation::{Citation, PAPER};

use crate::components::CollectAny;
use crate::context::PublicUrl;

/// A citation, folded, in sentences and as BibTeX, with that of the paper.
#[component]
pub fn Cite(
    /// The words that unfold it.
    what: &'static str,
    /// Its address is one of this site, without the site.
    citation: Citation,
) -> impl IntoView {
    let site = use_context::<Option<PublicUrl>>().flatten();
    let site = site.map_or(HERE.to_owned(), |url| url.at(""));
    let lasting = citation.basis.snapshot.is_none().then(|| {
        view! {
            <p class="quiet">
                "New results change these numbers. A "<a href="/snapshots">"snapshot"</a>" keeps them under its address."
            </p>
        }
    });
    let citation = Citation {
        address: format!("{site}{}", citation.address),
        ..citation
    };
    view! {
        <details class="cite">
            <summary>{what}</summary>
            <p>{with_site(&citation.plain())}</p>
            {lasting}
            <pre class="command"><code>{with_site(&citation.bibtex())}</code></pre>
            <p>"The benchmark is from this paper:"</p>
            <pre class="command"><code>{PAPER}</code></pre>
        </details>
    }
}

/// Stands for the address of this site where none is configured: it must not be
/// guessed here, and the reader's browser knows it.
const HERE: &str = "\u{e000}";

/// A text, with a place for the site's address that the page's script fills.
fn with_site(text: &str) -> impl IntoView + use<> {
    let parts = text.split(HERE).enumerate();
    let part = |(index, part): (usize, &str)| {
        let site = (index > 0).then(|| view! { <span data-site=""></span> });
        (site, part.to_owned())
    };
    parts.map(part).collect_any()
}
