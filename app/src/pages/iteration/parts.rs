//! The record of an iteration: its counts, its findings, its requirements.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::audit::Accusation;
use swe_ci_core::finding::{Finding, tampering};
use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::requirement::Requirement;
use swe_ci_core::step::Role;
use swe_ci_core::text::visible;
use swe_ci_views::failures::telling_lines;
use swe_ci_views::inspection::{KeptFiles, StepLog};
use swe_ci_views::likely_tests::is_about;
use swe_ci_views::view::IterationView as Tested;

use crate::components::CollectAny;
use crate::components::{GradeTag, Term, Time, fact};
use crate::glossary::Word;
use crate::{format, labels};

/// The counts, why the code collapsed if it did, and the findings.
#[component]
pub(in crate::pages) fn Facts(
    iteration: Tested,
    suite: SuiteCounts,
    imported: bool,
) -> impl IntoView {
    let verdict = iteration.verdict;
    let passing = format!("{} of {}", verdict.in_target(), suite.target);
    // With counts only, nobody knows which tests belong to the target.
    let counted = match suite.counts_only {
        true => "Tests passing",
        false => "Target tests passing",
    };
    // Imported results mostly lack the duration of a test run, and always its
    // time: the import wrote these rows.
    let took = iteration.test_seconds;
    let took = (!imported || took > 0.0).then(|| fact("Test run", format::seconds(took)));
    let contradicted = iteration.contradicted.map(|tests| {
        let both = format!("{} of {}", tests.passed, tests.shown);
        fact("Passing with their contradictions", both)
    });
    let at = Some(iteration.finished_at);
    let finished = (!imported).then(|| fact("Finished", view! { <Time at/> }));
    let collapse = iteration.collapse.map(|why| {
        let what = match tampering(&iteration.findings) {
            Some(_) => "Its results do not count: ",
            None => "The code no longer runs: ",
        };
        let why = visible(&why).into_owned();
        view! { <p class="note" data-tone="bad">{what}{why}</p> }
    });
    view! {
        <dl class="facts">
            <div><dt>{counted}</dt><dd>{passing}</dd></div>
            <div><dt>"Gained"</dt><dd>{labels::gained(iteration.gained)}</dd></div>
            <div><dt>"Lost"</dt><dd>{labels::lost(verdict.lost())}</dd></div>
            {contradicted}
            {took}
            {finished}
        </dl>
        {collapse}
        <Findings findings=iteration.findings/>
    }
}

/// The error in what the tests of collapsed code printed, or its end: it tells why.
pub(in crate::pages) fn collapse_log(
    iteration: &Tested,
    logs: &[StepLog],
) -> Option<impl IntoView + use<>> {
    const LINES: usize = 15;
    iteration.collapse.as_ref()?;
    let log = logs.iter().rfind(|log| log.role == Role::Test)?;
    let log = visible(log.tail.trim_end()).into_owned();
    let lines = telling_lines(&log, LINES).join("\n");
    Some(
        view! { <pre class="step-log" tabindex="0" role="region" aria-label="From the tests' log">{lines}</pre> },
    )
}

/// Each accused test beside its contradiction.
#[component]
pub(in crate::pages) fn Contradictions(accusations: Vec<Accusation>) -> impl IntoView {
    (!accusations.is_empty()).then(|| {
        let one = |accusation: Accusation| {
            let Accusation { test, as_written, contradiction, .. } = accusation;
            view! {
                <details>
                    <summary><code>{visible(&test).into_owned()}</code></summary>
                    <h3>"The test"</h3>
                    <pre class="log" tabindex="0">{visible(as_written.trim()).into_owned()}</pre>
                    <h3>"Its contradiction"</h3>
                    <pre class="log" tabindex="0">{visible(contradiction.trim()).into_owned()}</pre>
                </details>
            }
        };
        view! {
            <section aria-labelledby="contradictions-title">
                <h2 id="contradictions-title">"Passes a test and its contradiction"</h2>
                <p class="quiet">"Both cannot hold, so honest code passes both hardly ever. The audit saw it twice, in fresh containers."</p>
                {accusations.into_iter().map(one).collect_any()}
            </section>
        }
    })
}

#[component]
fn Findings(findings: Vec<Finding>) -> impl IntoView {
    (!findings.is_empty()).then(|| {
        let items = findings
            .iter()
            .map(|finding| {
                let text = visible(&finding.text).into_owned();
                let kind = labels::finding_kind(finding.kind);
                view! { <li><GradeTag grade=finding.grade/>" "{kind}": "{text}</li> }
            })
            .collect_any();
        view! {
            <section class="note" data-tone="warn" aria-labelledby="findings-title">
                <h2 id="findings-title"><Term word=Word::Finding text="Integrity findings"/></h2>
                <ul>{items}</ul>
            </section>
        }
    })
}

/// Folded, but for those that lost tests are probably about.
#[component]
pub(in crate::pages) fn Requirements(
    requirements: Vec<Requirement>,
    /// The tests gained and lost in the same iteration.
    gained: Vec<String>,
    lost: Vec<String>,
    href: Callback<String, String>,
    imported: bool,
) -> impl IntoView {
    if requirements.is_empty() {
        let none = match imported {
            true => "The imported results have none.",
            false => "None were written.",
        };
        return Either::Left(view! { <p class="quiet">{none}</p> });
    }
    let one = |requirement: Requirement| {
        let open = lost.iter().any(|test| is_about(&requirement, test));
        let changed = [("gained", &gained), ("lost", &lost)].map(|(what, tests)| {
            let about = tests.iter().filter(|test| is_about(&requirement, test));
            let tests: Vec<String> = about.cloned().collect();
            view! { <Likely what tests href/> }
        });
        let parts = requirement.parts().into_iter().skip(1).map(|(part, text)| {
            let text = visible(text).into_owned();
            view! { <div><dt>{labels::requirement_part(part)}</dt><dd>{text}</dd></div> }
        });
        let parts = parts.collect_any();
        let place = visible(&requirement.location).into_owned();
        view! {
            <li class="requirement">
                <details open=open>
                    <summary class="requirement-place"><code>{place}</code></summary>
                    <dl>{parts}</dl>
                    {changed.into_iter().collect_any()}
                </details>
            </li>
        }
    };
    let items = requirements.into_iter().map(one).collect_any();
    Either::Right(view! { <ol class="requirements">{items}</ol> })
}

/// Gained and lost tests that a requirement is probably about.
#[component]
fn Likely(what: &'static str, tests: Vec<String>, href: Callback<String, String>) -> impl IntoView {
    const MOST: usize = 10;
    (!tests.is_empty()).then(|| {
        let total = format::count(tests.len(), "test");
        let item = |test: String| {
            let href = href.run(test.clone());
            view! { <li><a href=href><code>{test}</code></a></li> }
        };
        let more = tests.len().saturating_sub(MOST);
        let items = tests.into_iter().take(MOST).map(item).collect_any();
        let more = (more > 0).then(|| view! { <li class="quiet">{format!("and {more} more")}</li> });
        view! {
            <details class="fold likely">
                <summary>{format!("{total} {what}, going by names")}</summary>
                <p class="quiet">
                    "A guess: this requirement names these tests, or the file they are named after. It does not prove that they changed because of it."
                </p>
                <ul class="test-list">{items}{more}</ul>
            </details>
        }
    })
}

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
            view! { <p class="quiet">{format!("After {lines}. ")}<a href=whole>"The whole log"</a></p> }
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
    Either::Right(logs.into_iter().map(one).collect_any())
}

/// Downloads; empty when no files were stored.
#[component]
pub(in crate::pages) fn Downloads(
    files: KeptFiles,
    evolution_id: String,
    iteration: u32,
) -> impl IntoView {
    let link = |there: bool, file: &'static str| {
        let href = format!("/api/v1/evolutions/{evolution_id}/iterations/{iteration}/{file}");
        there.then(|| view! { <li><a href=href download="">{file}</a></li> })
    };
    (files.code || files.report || files.document).then(|| {
        view! {
            <ul class="downloads" aria-label="Downloads">
                {link(files.document, "requirement.xml")}
                {link(files.code, "code.tar.gz")}
                {link(files.report, "report.json")}
            </ul>
        }
    })
}
