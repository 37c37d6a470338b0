//! How the task was prepared, and its known issues.

use leptos::prelude::*;
use swe_ci_views::preparation::{Lines, Preparation, TaskFinding};

use crate::format;

#[component]
pub(super) fn Prepared(preparation: Preparation) -> impl IntoView {
    let runs = preparation.suite_seconds;
    (!runs.is_empty()).then(|| {
        let times: Vec<String> = runs.iter().copied().map(format::seconds).collect();
        let lines = preparation.lines.map(|lines| {
            view! {
                <Changed label="Source lines" lines=lines.source/>
                <Changed label="Test lines" lines=lines.tests/>
                <Changed label="Other lines" lines=lines.other/>
            }
        });
        let licence = preparation.licence.map(|licence| {
            view! { <div><dt>"Licence"</dt><dd>{licence}</dd></div> }
        });
        let findings = preparation.findings;
        let found = match findings.is_empty() {
            true => "No known issues.",
            false => "",
        };
        let findings = findings.into_iter().map(|finding| view! { <Found finding/> });
        view! {
            <section aria-labelledby="prepared-title">
                <h2 id="prepared-title">"How it was prepared"</h2>
                <p class="quiet">
                    "Its suite ran on the base once and on the target "
                    {format::count(runs.len(), "time")}
                    ". Tests that did not pass every time are not counted. "
                    {found}
                </p>
                <ul class="found-list">{findings.collect_view()}</ul>
                <dl class="facts">
                    <div><dt>"The suite took"</dt><dd>{times.join(", ")}</dd></div>
                    <div><dt>"Found on the target"</dt><dd>{format::count(preparation.target_collected, "test")}</dd></div>
                    <div><dt>"Found on the base"</dt><dd>{format::count(preparation.base_collected, "test")}</dd></div>
                    {lines}
                    {licence}
                </dl>
            </section>
        }
    })
}

#[component]
fn Changed(label: &'static str, lines: Lines) -> impl IntoView {
    let files = format::count(lines.files, "file");
    let changed = format::added_deleted(lines.added, lines.deleted);
    let words = format!("{changed} in {files}");
    view! { <div><dt>{label}</dt><dd>{words}</dd></div> }
}

#[component]
fn Found(finding: TaskFinding) -> impl IntoView {
    let names = finding.tests().map(|tests| {
        let rest = (tests.count as usize).saturating_sub(tests.first.len());
        let more = format!("and {}", format::count(rest, "other"));
        let more = (rest > 0).then(|| view! { <li>{more}</li> });
        let name = |name: &String| view! { <li><code>{name.clone()}</code></li> };
        view! {
            <details>
                <summary>"Which"</summary>
                <ul class="test-list">{tests.first.iter().map(name).collect_view()}{more}</ul>
            </details>
        }
    });
    view! {
        <li>
            <strong>{format::capital(finding.title())}</strong>
            <p>{finding.text()}</p>
            {names}
        </li>
    }
}
