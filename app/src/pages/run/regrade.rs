//! A run graded again: its links in both directions, and the verdicts that moved.

use leptos::prelude::*;
use swe_ci_views::regrade::{Moved, Regrade};
use swe_ci_views::verification::{Changed, GradedIteration};
use swe_ci_views::view::{Cleared, RunDetail};

use crate::components::CollectAny;
use crate::components::{ItemTable, Term};
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::{iteration_href, run_href};

/// Beside the run's name: where its code comes from, and who graded it again.
#[component]
pub(super) fn Derived(detail: RunDetail) -> impl IntoView {
    let link = |id: &String| view! { <a href=run_href(id)><code>{id.clone()}</code></a> };
    let from = detail.summary.regraded_from.as_ref().map(|original| {
        view! {
            <p class="note">
                <Term word=Word::Regraded text="Graded again"/>
                ": the code comes from run "
                {link(original)}
                ". No agent worked here; tokens, money and agent time are on that run's page."
            </p>
        }
    });
    let again = &detail.regraded_as;
    let links = again.iter().enumerate().map(|(position, id)| {
        let comma = (position > 0).then_some(", ");
        view! { {comma}{link(id)} }
    });
    let again = (!again.is_empty()).then(|| {
        view! { <p class="note">"Its code was graded again: "{links.collect_any()}"."</p> }
    });
    let cleared = detail.summary.cleared.map(|Cleared { evolutions, at }| {
        let says = format!(
            "{} run again on {}, after their agents had given up.",
            format::count(evolutions, "evolution"),
            format::day(&at)
        );
        view! { <p class="note" data-tone="warn">{says}</p> }
    });
    view! { {from}{again}{cleared} }
}

/// The verdicts that moved against the original.
#[component]
pub(super) fn MovedVerdicts(run_id: String, regrade: Regrade) -> impl IntoView {
    let Regrade {
        compared,
        not_graded,
        left_out,
        moved,
        ..
    } = regrade;
    let csv = format!("/api/v1/runs/{run_id}/moved.csv");
    let json = format!("/api/v1/runs/{run_id}/moved");
    let count = format::count(moved.len(), "verdict");
    let summary = format!("{count} of {} moved.", format::count(compared, "iteration"));
    let not_graded = (not_graded > 0).then(|| {
        format!(
            " {} are not graded: the run is not over, or an earlier iteration passes every test.",
            format::count(not_graded, "iteration")
        )
    });
    let left_out = (left_out > 0).then(|| {
        format!(
            " {} of the original without a score are left out.",
            format::count(left_out, "evolution")
        )
    });
    let row = move |moved: Moved| {
        let sample = (moved.at.sample > 1).then(|| format!(" · sample {}", moved.at.sample));
        let why: Vec<&str> = moved.why.iter().map(|why| why.words()).collect();
        let collapse = moved
            .now
            .collapse
            .clone()
            .map(|why| view! { <br/><small>{why}</small> });
        view! {
            <tr role="row">
                <th role="rowheader" scope="row">{place_link(&run_id, &moved.at)}{sample}</th>
                <td role="cell" data-label=COLUMNS[1]>{moved.before.to_string()}</td>
                <td role="cell" data-label=COLUMNS[2]>{moved.now.to_string()}{collapse}</td>
                <td role="cell" data-label=COLUMNS[3]><Tests moved=moved.clone()/></td>
                <td role="cell" data-label=COLUMNS[4]>{why.join("; ")}</td>
            </tr>
        }
    };
    view! {
        <section class="moved" aria-labelledby="moved-title">
            <h2 id="moved-title">"Verdicts that moved"</h2>
            <p class="quiet">
                {summary}{not_graded}{left_out}" "
                <a href=csv>"CSV"</a>" · "<a href=json>"JSON"</a>
            </p>
            <ItemTable
                caption="Verdicts that moved"
                columns=&COLUMNS
                items=moved
                row
                none="Every verdict stands."
            />
        </section>
    }
}

/// "acme__lib-1, iteration 3", with its link.
pub(super) fn place_link(run_id: &str, at: &GradedIteration) -> impl IntoView + use<> {
    let href = iteration_href(run_id, &at.evolution_id, at.iteration);
    let place = format!("{}, iteration {}", at.task_id, at.iteration);
    view! { <a href=href>{place}</a> }
}

const COLUMNS: [&str; 5] = ["Iteration", "Before", "Now", "Tests", "Why"];

/// The tests of a moved verdict, folded.
#[component]
fn Tests(moved: Moved) -> impl IntoView {
    let all = moved.tests.len() + moved.more as usize;
    let more = (moved.more > 0).then(|| view! { <li>{format!("and {} more", moved.more)}</li> });
    let item = |test: Changed| {
        view! { <li><code>{test.node_id}</code>{format!(": {}, now {}", test.recorded, test.found)}</li> }
    };
    let items = moved.tests.into_iter().map(item).collect_any();
    (all > 0).then(|| {
        view! {
            <details>
                <summary>{format::count(all, "test")}</summary>
                <ul>{items}{more}</ul>
            </details>
        }
    })
}
