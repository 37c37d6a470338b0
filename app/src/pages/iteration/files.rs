//! The files of an iteration: the output of its steps, and downloads.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::text::visible;
use swe_ci_views::inspection::{KeptFiles, StepLog};

use crate::format;

/// Folded; each has a link to the whole log.
#[component]
pub(in crate::pages) fn Logs(
    logs: Vec<StepLog>,
    evolution_id: String,
    iteration: u32,
    imported: bool,
) -> impl IntoView {
    if logs.is_empty() {
        let none = match imported {
            true => "The imported results have no logs.",
            false => "The steps printed nothing.",
        };
        return Either::Left(view! { <p class="quiet">{none}</p> });
    }
    let base = format!("/api/v1/evolutions/{evolution_id}/iterations/{iteration}/logs");
    let one = move |log: StepLog| {
        let (role, attempt) = (log.role.name(), log.attempt);
        let whole = format!("{base}/{role}/{attempt}");
        let cut = (log.earlier > 0).then(|| {
            let lines = format::count(log.earlier, "earlier line");
            view! { <p class="quiet">{format!("After {lines}. ")}<a href=whole rel="external">"The whole log"</a></p> }
        });
        let tail = visible(&log.tail).into_owned();
        let title = format!("Log of the {role} step, attempt {attempt}");
        view! {
            <details class="fold">
                <summary>{title.clone()}</summary>
                {cut}
                <pre class="step-log" tabindex="0" role="region" aria-label=title>{tail}</pre>
            </details>
        }
    };
    Either::Right(logs.into_iter().map(one).collect_view())
}

/// Downloads; empty when no files were stored.
#[component]
pub(in crate::pages) fn Downloads(
    files: KeptFiles,
    evolution_id: String,
    iteration: u32,
) -> impl IntoView {
    let KeptFiles {
        code,
        report,
        document,
    } = files;
    let link = |there: bool, file: &'static str, name: &'static str| {
        let href = format!("/api/v1/evolutions/{evolution_id}/iterations/{iteration}/{file}");
        there.then(|| view! { <li><a href=href rel="external" download="">{name}</a></li> })
    };
    (code || report || document).then(|| {
        view! {
            <ul class="downloads" aria-label="Downloads">
                {link(document, "requirement.xml", "Requirement document")}
                {link(code, "code.tar.gz", "Code")}
                {link(report, "report.json", "Test report")}
            </ul>
        }
    })
}
