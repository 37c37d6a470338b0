//! The record of a run: configuration, limits, endpoints, import.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::agent::Endpoint;
use swe_ci_core::agent_files::AgentFiles;
use swe_ci_core::handover::Handover;
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::text::visible;
use swe_ci_views::verification::{GradedIteration, Mark, Verification};
use swe_ci_views::view::{ImportedFrom, NotHandedOver, Provenance, RunDetail};

use super::regrade::place_link;
use crate::components::CollectAny;
use crate::components::{Tag, Term, fact};
use crate::glossary::Word;
use crate::pages::result_table::MarkTerm;
use crate::pages::routes::{handover_href, run_href};
use crate::query::encode;
use crate::{format, labels};

/// The facts that make a result reproducible; for imported results, their origin.
#[component]
pub(super) fn Record(detail: RwSignal<RunDetail>) -> impl IntoView {
    let (summary, provenance) =
        detail.with_untracked(|d| (d.summary.clone(), d.provenance.clone()));
    let config = summary.config;
    let imported = provenance.imported.clone();
    let notes = imported.as_ref().map(|from| from.notes.clone());
    let origin = match imported {
        Some(from) => Either::Left(view! { <Elsewhere from/> }),
        None => {
            Either::Right(view! { <Here config=config.clone() provenance=provenance.clone()/> })
        }
    };
    view! {
        <section class="recorded" aria-labelledby="recorded-title">
            <h2 id="recorded-title">"Recorded with this run"</h2>
            <dl class="record">
                <div><dt>"Run"</dt><dd><code>{summary.run_id.clone()}</code></dd></div>
                <div><dt>"Harness"</dt><dd>{labels::harness(&config.harness)}</dd></div>
                {config.release_date.map(|day| view! { <div><dt>"Model released"</dt><dd>{day}</dd></div> })}
                {config.training_cutoff.map(|day| view! { <div><dt>"Training data up to"</dt><dd>{day}</dd></div> })}
                {config.handover.map(|handover| view! { <Continued handover left_out=provenance.not_handed_over.clone() split=config.split.clone()/> })}
                {origin}
                <div><dt>"Dataset digest"</dt><dd><code>{provenance.dataset_digest}</code></dd></div>
                <div><dt>"Metric definitions"</dt><dd>{format!("version {}", provenance.metric_version)}</dd></div>
                <div><dt>"Platform"</dt><dd><code>{provenance.platform_version}</code></dd></div>
                {provenance.engines.into_iter().map(|engine| fact("Container engine", engine)).collect_any()}
            </dl>
            <Notes notes=notes.unwrap_or_default()/>
            <p><a href=format!("/api/v1/runs/{}", summary.run_id)>"All of it as JSON"</a></p>
        </section>
    }
}

/// The run whose code it goes on with, and what that run did not hand over.
#[component]
fn Continued(handover: Handover, left_out: Vec<NotHandedOver>, split: String) -> impl IntoView {
    let at = match handover.iteration {
        Some(iteration) => format!(" after iteration {iteration}"),
        None => " after the last scored iteration".to_owned(),
    };
    let item = |left: NotHandedOver| {
        let why = left.why.in_words();
        view! { <li>{format!("{}, sample {}: {why}", left.task_id, left.sample)}</li> }
    };
    let left_out = (!left_out.is_empty()).then(|| {
        let items = left_out.into_iter().map(item).collect_any();
        view! { <div><dt>"Not handed over"</dt><dd><ul class="plain">{items}</ul></dd></div> }
    });
    view! {
        <div>
            <dt>"Goes on with the code of"</dt>
            <dd>
                <a href=run_href(&handover.run)><code>{handover.run.clone()}</code></a>
                {at}
                {format!(", towards {}", handover.target.in_words())}
                ". It is not ranked: "
                <a href=handover_href(&split)>"handovers of this split"</a>
            </dd>
        </div>
        {left_out}
    }
}

/// The limits of runs measured here.
#[component]
fn Here(config: RunConfig, provenance: Provenance) -> impl IntoView {
    view! {
        <div><dt>"Harness version"</dt><dd><code>{provenance.harness_version}</code></dd></div>
        {config.endpoint.map(|endpoint| view! { <Asked endpoint/> })}
        {config.programmer.map(|own| {
            let asked = own.endpoint.map(|endpoint| view! { <Asked endpoint of="Programmer's"/> });
            view! {
                <div><dt>"Programmer's harness"</dt><dd>{labels::harness(&own.harness)}</dd></div>
                {asked}
            }
        })}
        {provenance.prompts.map(|prompts| view! { <div><dt>"Prompts"</dt><dd><code title=prompts.clone()>{labels::prompts(&prompts)}</code></dd></div> })}
        {labels::budget(&config.budget).map(|budget| view! { <div><dt><Term word=Word::Budget text="Budget"/></dt><dd>{budget}</dd></div> })}
        {labels::budget(&config.evolution_budget).map(|budget| fact("Budget of each evolution", budget))}
        {config.arm.map(|arm| view! { <div><dt><Term word=Word::Arm text="Arm"/></dt><dd>{arm}</dd></div> })}
        {(!config.agent_files.is_empty()).then(|| view! { <GivenFiles files=config.agent_files/> })}
        {(!config.needs.is_empty()).then(|| fact("Workers with", config.needs.to_string()))}
        <div><dt>"Limits of a step"</dt><dd>{labels::limits(&config.limits)}</dd></div>
        <div><dt>"Time limits"</dt><dd>{labels::time_limits(&config.limits)}</dd></div>
    }
}

/// The files that its agents had.
#[component]
fn GivenFiles(files: AgentFiles) -> impl IntoView {
    let file = |(path, text): (&str, &str)| {
        let head = format!("{path}, {} bytes", format::thousands(text.len() as u64));
        let (label, text) = (path.to_owned(), visible(text).into_owned());
        view! {
            <details class="fold">
                <summary>{head}</summary>
                <pre tabindex="0" role="region" aria-label=label>{text}</pre>
            </details>
        }
    };
    let files = files.iter().map(file).collect_any();
    view! { <div><dt>"Files for the agents"</dt><dd>{files}</dd></div> }
}

/// The endpoint of a model, and the prices of its tokens.
#[component]
fn Asked(
    endpoint: Endpoint,
    /// The agent it belongs to, if the two differ.
    #[prop(optional)]
    of: &'static str,
) -> impl IntoView {
    let named = |name: &'static str| match of {
        "" => name.to_owned(),
        of => format!("{of} {}", name.to_lowercase()),
    };
    let prices = endpoint.prices;
    let prices = prices.map(|prices| fact(named("Prices"), labels::prices(prices)));
    (fact(named("Endpoint"), labels::endpoint(&endpoint)), prices)
}

#[component]
fn Elsewhere(from: ImportedFrom) -> impl IntoView {
    view! {
        <div><dt>"Imported from"</dt><dd>{format!("files in the {} layout", from.layout)}</dd></div>
        <div><dt>"Experiment"</dt><dd>{from.experiment}</dd></div>
        <div><dt>"Digest of the files"</dt><dd><code title=from.digest.clone()>{format::short(&from.digest)}</code></dd></div>
    }
}

/// The importer's remarks.
#[component]
fn Notes(notes: Vec<String>) -> impl IntoView {
    (!notes.is_empty()).then(|| {
        let items = notes.into_iter().map(|note| view! { <li>{note}</li> });
        view! {
            <div class="note">
                <p>"Remarks of the import:"</p>
                <ul>{items.collect_any()}</ul>
            </div>
        }
    })
}

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
                    <a href=format!("{api}?format=text")>"As text"</a>
                    " · "
                    <a href=api>"As JSON"</a>
                </p>
            </details>
        </section>
    }
}

/// How many differences are listed; the others are counted.
const LISTED: usize = 20;

/// Beside the run's name: its mark or, without one, that all repeated tests
/// came out as recorded.
#[component]
pub(super) fn Trust(detail: RunDetail) -> impl IntoView {
    let mark = detail.summary.mark;
    let checked = detail.verification.filter(Verification::holds);
    let checked = checked
        .filter(|_| mark != Some(Mark::Verified))
        .map(|found| view! { <Tag text=checked_part(&found) hint=hint(&found)/> });
    view! { <MarkTerm mark/>{checked} }
}

/// The administrator who marked it, and the basis.
#[component]
pub(super) fn MarkedBy(detail: RunDetail) -> impl IntoView {
    let found = detail.verification.filter(Verification::holds);
    detail.verified.zip(found).map(|(mark, found)| {
        let day = format::day(&mark.at);
        let says = format!(
            "Marked as verified by {} on {day}. {}.",
            mark.by,
            hint(&found)
        );
        view! { <p class="quiet">{says}</p> }
    })
}

/// The differences from the record, and findings that are not recorded.
#[component]
pub(super) fn Differences(verification: Option<Verification>, run_id: String) -> impl IntoView {
    verification.map(|found| {
        let note = |tone: &'static str, what: &str, all: Vec<(&GradedIteration, String)>| {
            let more = all.len().saturating_sub(LISTED);
            let more = (more > 0).then(|| view! { <li>{format!("and {more} more")}</li> });
            let item = |(at, says): &(&GradedIteration, String)| {
                view! { <li>{place_link(&run_id, at)}": "{visible(says).into_owned()}</li> }
            };
            let listed = all.iter().take(LISTED).map(item).collect_any();
            let says = format!(
                "The tests of {} were run again on {}; {what}:",
                format::count(found.checked, "iteration"),
                format::day(&found.at)
            );
            (!all.is_empty()).then(|| {
                view! { <div class="note" data-tone=tone><p>{says}</p><ul>{listed}{more}</ul></div> }
            })
        };
        let differences = found.differences.iter().map(|d| (&d.at, d.what.to_string()));
        let findings = found.findings.iter().map(|new| (&new.at, new.to_string()));
        view! {
            {note("bad", "not all outcomes match the record", differences.collect())}
            {note("warn", "these findings are not recorded", findings.collect())}
        }
    })
}

/// "checked" when all iterations were, else "checked: 4 of 47".
fn checked_part(found: &Verification) -> String {
    match (found.checked, found.iterations) {
        (checked, all) if checked >= all => "checked".to_owned(),
        (checked, all) => format!("checked: {checked} of {all}"),
    }
}

fn hint(found: &Verification) -> String {
    format!(
        "The tests of {} of {} iterations were run again on {}, and their outcomes match the record",
        found.checked,
        found.iterations,
        format::day(&found.at)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_not_the_whole() {
        let check = |checked, iterations, expect: &str| {
            let found = Verification {
                at: String::new(),
                by: "operator".into(),
                platform_version: String::new(),
                checked,
                iterations,
                differences: Vec::new(),
                findings: Vec::new(),
            };
            assert_eq!(checked_part(&found), expect);
        };
        check(4, 47, "checked: 4 of 47");
        check(47, 47, "checked");
    }
}
