use leptos::prelude::*;
use swe_ci_core::run::Kind;

use crate::query::encode;

/// The reproducibility card of the run, and a link to repeat it.
#[component]
pub(super) fn ReproducibilityCard(run_id: String, kind: Kind, text: String) -> impl IntoView {
    let api = format!("/api/v1/runs/{run_id}/card");
    // Imported results cannot be repeated here.
    let again = (kind != Kind::Imported).then(|| {
        let href = format!("/runs/new?from={}", encode(&run_id));
        view! { <a href=href>"Run again"</a>" begins a new run with the same configuration." }
    });
    view! {
        <section class="card-section" aria-labelledby="card-title">
            <h2 id="card-title">"Reproducibility"</h2>
            <p class="quiet">
                "Everything needed to check this result or cite it in a paper. "
                {again}
            </p>
            <details class="fold">
                <summary>"Reproducibility card"</summary>
                <pre class="run-card" tabindex="0" role="region" aria-label="Reproducibility card">{text}</pre>
                <p class="quiet">
                    <a href=format!("{api}?format=text") rel="external">"As text"</a>
                    " · "
                    <a href=api rel="external">"As JSON"</a>
                </p>
            </details>
        </section>
    }
}
