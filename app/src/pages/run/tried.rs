//! The try before a run begins: that it waits for it, and what it found.

use leptos::prelude::*;
use swe_ci_core::preflight::{Finding, PreflightState};
use swe_ci_core::view::RunDetail;

use crate::components::Time;

/// While the run is held up by it, and what went wrong. What went well is one
/// quiet line.
#[component]
pub(super) fn Tried(detail: RwSignal<RunDetail>) -> impl IntoView {
    let preflight = Memo::new(move |_| detail.with(|d| d.preflight.clone()));
    let over = Memo::new(move |_| detail.with(|d| d.summary.progress.is_over()));
    move || {
        let found = preflight.get()?;
        let (says, tone) = match found.state {
            PreflightState::Waiting if over.get() => return None,
            PreflightState::Waiting => (
                "It is tried first: its agents on a tiny task, then the quickest of its tasks at both ends. That takes a few minutes; nothing of the run is begun before.",
                Some("live"),
            ),
            PreflightState::Failed => (
                "The try before it begins went wrong, so nothing of it is begun:",
                Some("bad"),
            ),
            PreflightState::Skipped => ("It began without the try having gone well.", None),
            PreflightState::Passed => ("It was tried before it began, and all went well:", None),
        };
        let findings = found.findings.into_iter().map(line).collect_view();
        Some(view! {
            <section class="note" data-tone=tone aria-labelledby="tried-title" role="status">
                <h2 id="tried-title" class="visually-hidden">"Preflight"</h2>
                <p>{says}" "<span class="quiet"><Time at=Some(found.at)/></span></p>
                <ul>{findings}</ul>
            </section>
        })
    }
}

fn line(finding: Finding) -> impl IntoView {
    let Finding {
        subject,
        good,
        says,
        advice,
        last_lines,
    } = finding;
    let mark = if good { "✓ " } else { "✗ " };
    let advice = (!advice.is_empty()).then(|| {
        let advice = advice.into_iter().map(|text| view! { <li>{text}</li> });
        view! { <ul>{advice.collect_view()}</ul> }
    });
    let printed = (!last_lines.is_empty()).then(|| {
        view! {
            <details>
                <summary>"What was printed last"</summary>
                <pre class="log" tabindex="0">{last_lines.join("\n")}</pre>
            </details>
        }
    });
    view! {
        <li>
            <span aria-hidden="true">{mark}</span>
            <strong>{subject}</strong>
            ": "
            {says}
            {advice}
            {printed}
        </li>
    }
}
