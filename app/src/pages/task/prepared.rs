//! How the task was prepared, and its known issues.

use leptos::prelude::*;
use swe_ci_views::preparation::{Lines, Preparation, TaskFinding};

use crate::format;

#[component]
pub(super) fn Prepared(preparation: Preparation) -> impl IntoView {
    let runs = u32::try_from(preparation.suite_seconds.len()).unwrap_or(u32::MAX);
    (runs > 0).then(|| {
        let times = preparation.suite_seconds.iter().copied();
        let times: Vec<String> = times.map(format::seconds).collect();
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
            true => "No known issues.".to_owned(),
            false => String::new(),
        };
        let findings = findings.into_iter().map(|finding| view! { <Found finding/> });
        view! {
            <section aria-labelledby="prepared-title">
                <h2 id="prepared-title">"How it was prepared"</h2>
                <p class="quiet">
                    "Its suite ran on the base once and on the target "
                    {format::count(runs, "time")}
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
    let Lines {
        files,
        added,
        deleted,
    } = lines;
    let words = format!(
        "+{} \u{2212}{} in {}",
        format::thousands(added),
        format::thousands(deleted),
        format::count(files, "file")
    );
    view! { <div><dt>{label}</dt><dd>{words}</dd></div> }
}

#[component]
fn Found(finding: TaskFinding) -> impl IntoView {
    let names = finding.tests().map(|tests| {
        let rest = tests
            .count
            .saturating_sub(u32::try_from(tests.first.len()).unwrap_or(0));
        let more = (rest > 0)
            .then(|| view! { <li>{format!("and {}", format::count(rest, "other"))}</li> });
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
            <strong>{capital(finding.title())}</strong>
            <p>{finding.text()}</p>
            {names}
        </li>
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}
