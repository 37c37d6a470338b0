//! The preflight of a run: that the run waits for it, and its result.

use leptos::prelude::*;
use swe_ci_views::preflight::{Finding, PreflightState};
use swe_ci_views::view::RunDetail;

use crate::components::Time;

/// Shown while it blocks the run, with its errors. A success is one quiet line.
#[component]
pub(super) fn PreflightNotice(detail: RwSignal<RunDetail>) -> impl IntoView {
    let preflight = Memo::new(move |_| detail.with(|d| d.preflight.clone()));
    let over = Memo::new(move |_| detail.with(|d| d.summary.progress.is_over()));
    move || {
        let found = preflight.get()?;
        let (says, tone) = match found.state {
            PreflightState::Waiting if over.get() => return None,
            PreflightState::Waiting => (
                "The preflight runs first: its agents on a tiny task, then the quickest of its tasks at both ends. This takes a few minutes; the run starts afterwards.",
                Some("live"),
            ),
            PreflightState::Failed => (
                "The preflight failed, so the run has not started:",
                Some("bad"),
            ),
            PreflightState::Skipped => ("It started without a successful preflight.", None),
            PreflightState::Passed => ("The preflight passed:", None),
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
    let mark = if finding.good { "✓ " } else { "✗ " };
    let advice = (!finding.advice.is_empty()).then(|| {
        let advice = finding
            .advice
            .into_iter()
            .map(|text| view! { <li>{text}</li> });
        view! { <ul>{advice.collect_view()}</ul> }
    });
    let printed = (!finding.last_lines.is_empty()).then(|| {
        view! {
            <details>
                <summary>"Last output"</summary>
                <pre class="log" tabindex="0">{finding.last_lines.join("\n")}</pre>
            </details>
        }
    });
    view! {
        <li>
            <span aria-hidden="true">{mark}</span>
            <strong>{finding.subject}</strong>
            ": "
            {finding.says}
            {advice}
            {printed}
        </li>
    }
}
