//! The selected iteration: its requirements, its changes, the tests it gained
//! and lost, the resources and output of its steps.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::run::Kind;
use swe_ci_views::inspection::Inspection;
use swe_ci_views::view::EvolutionDetail;

use super::data::Chosen;
use crate::components::Tag;
use crate::pages::iteration::{
    ChangedCode, ChangedTests, Downloads, Facts, Layout, Logs, Requirements, Steps, collapse_log,
};
use crate::pages::routes::{EvolutionAddress, EvolutionQuery, iteration_href};
use crate::{format, labels};

#[component]
pub(super) fn Panel(
    chosen: Chosen,
    detail: StoredValue<EvolutionDetail>,
    reading: Signal<EvolutionQuery>,
) -> impl IntoView {
    let number = chosen.iteration;
    let body = match chosen.inspection {
        Some(inspection) => Either::Left(view! { <Inspected inspection detail reading/> }),
        None => Either::Right(view! { <p class="note">{missing(detail)}</p> }),
    };
    view! {
        <section class="inspect" aria-labelledby="inspect-title">
            <div class="inspect-head">
                <h2 id="inspect-title">{format!("Iteration {number}")}</h2>
                <Steering number detail reading/>
            </div>
            {body}
        </section>
    }
}

/// "There is no such iteration: it has had 3 so far."
fn missing(detail: StoredValue<EvolutionDetail>) -> String {
    detail.with_value(|detail| {
        let so_far = match detail.view.progress.is_over() {
            true => "",
            false => " so far",
        };
        let had = match detail.view.iterations.len() {
            0 => "none".to_owned(),
            n => format::count(n, "iteration"),
        };
        format!("There is no such iteration: this evolution has had {had}{so_far}.")
    })
}

/// Links to the neighbours and the iteration's own page, and one that closes it.
#[component]
fn Steering(
    number: u32,
    detail: StoredValue<EvolutionDetail>,
    reading: Signal<EvolutionQuery>,
) -> impl IntoView {
    let address = detail.with_value(EvolutionAddress::of_detail);
    let there = detail.with_value(|d| d.view.iterations.iter().map(|i| i.iteration).collect());
    let there: Vec<u32> = there;
    let to = |n: u32, text: &'static str, rel: &'static str| {
        let address = address.clone();
        let href = move || reading.with(|reading| address.at_iteration(reading, n));
        there
            .contains(&n)
            .then(|| view! { <a class="button" href=href rel=rel>{text}</a> })
    };
    let (previous, next) = (
        to(number.saturating_sub(1), "Previous", "prev"),
        to(number.saturating_add(1), "Next", "next"),
    );
    let own = there.contains(&number).then(|| {
        let href = detail.with_value(|d| iteration_href(&d.run_id, &d.view.evolution_id, number));
        view! { <a href=href>"On a page of its own"</a> }
    });
    let close = move || {
        let reading = EvolutionQuery {
            iteration: None,
            ..reading.get()
        };
        address.href(&reading)
    };
    view! {
        <nav class="inspect-steering" aria-label="Iterations">
            {previous}
            {next}
            {own}
            <a href=close>"Close"</a>
        </nav>
    }
}

#[component]
fn Inspected(
    inspection: Inspection,
    detail: StoredValue<EvolutionDetail>,
    reading: Signal<EvolutionQuery>,
) -> impl IntoView {
    let run_id = detail.with_value(|d| d.run_id.clone());
    let (suite, imported, address) = detail.with_value(|d| {
        let imported = d.kind == Kind::Imported;
        (d.view.suite, imported, EvolutionAddress::of_detail(d))
    });
    let failures = inspection.failures();
    let cause = inspection.cause(&failures);
    let (evolution_id, iteration) = (inspection.evolution_id, inspection.iteration);
    let number = iteration.view.iteration;
    let (sign, word, tone) = labels::verdict(&iteration.view, suite.target);
    let log = collapse_log(&iteration.view, &inspection.logs);
    let there = address.clone();
    let layout = Layout {
        split: Signal::derive(move || reading.with(|r| r.split)),
        href: Callback::new(move |split| {
            let reading = EvolutionQuery {
                split,
                ..reading.get()
            };
            there.at_iteration(&reading, number)
        }),
    };
    let test = Callback::new(move |node_id: String| {
        reading.with_untracked(|reading| address.test(reading, &node_id))
    });
    view! {
        <p class="tags"><Tag text=format!("{sign} {word}") tone/></p>
        <Facts iteration=iteration.view suite imported/>
        {log}
        <h3>"Results"</h3>
        <ChangedTests
            gained=iteration.gained_tests.clone()
            lost=failures
            changed=inspection.changed
            counts_only=suite.counts_only
            href=test
        />
        <Downloads files=inspection.files evolution_id=evolution_id.clone() iteration=number/>
        <h3>"Changes"</h3>
        <ChangedCode code=inspection.code cause evolution_id=evolution_id.clone() iteration=number layout/>
        <h3>"Requirements"</h3>
        <Requirements
            requirements=iteration.requirements
            gained=iteration.gained_tests
            lost=iteration.lost_tests
            href=test
            imported
        />
        <h3>"Usage"</h3>
        <Steps steps=iteration.steps run_id evolution_id=evolution_id.clone() imported/>
        <Logs logs=inspection.logs evolution_id iteration=number imported/>
    }
}
