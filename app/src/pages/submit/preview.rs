use leptos::prelude::*;
use swe_ci_views::submission::Estimate;

use crate::format;

/// The estimate for the run, and its basis.
#[component]
pub fn Preview(estimate: Estimate) -> impl IntoView {
    let unknown = || "unknown".to_owned();
    let hours =
        |seconds: u64| format::seconds(f64::from(u32::try_from(seconds).unwrap_or(u32::MAX)));
    let facts = [
        ("Tasks", estimate.tasks.to_string()),
        ("Evolutions", format::thousands(estimate.evolutions)),
        ("Iterations at most", format::thousands(estimate.iterations)),
        (
            "Work, one after another",
            estimate.seconds.map_or_else(unknown, hours),
        ),
        (
            "Tokens",
            estimate.tokens.map_or_else(unknown, format::thousands),
        ),
        (
            "Money",
            estimate.micro_usd.map_or_else(unknown, format::dollars),
        ),
        (
            "Disk per running evolution, at most",
            format!("{} MiB", format::thousands(estimate.disk_mb)),
        ),
    ];
    let facts = facts.map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> });
    let rests_on = match estimate.rests_on {
        0 => "This site has no earlier evolutions of this harness and model, so time, tokens and money cannot be estimated.".to_owned(),
        n => format!(
            "If every evolution uses all its iterations, each like the median of {} earlier ones of this harness and model.",
            format::thousands(n)
        ),
    };
    view! {
        <section class="note" role="status" aria-labelledby="preview">
            <h2 id="preview">"Estimate"</h2>
            <dl class="facts">{facts.collect_view()}</dl>
            <p class="quiet">{rests_on}" Nothing is queued yet."</p>
        </section>
    }
}
