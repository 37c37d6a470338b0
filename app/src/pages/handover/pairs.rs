//! The pairs of writer and continuer as lists: their differences and costs, and
//! their course.

use leptos::prelude::*;
use swe_ci_core::uncertainty::Comparison;
use swe_ci_views::handover::{HandoverCell, HandoverMatrix};
use swe_ci_views::leaderboard::probability;

use super::written_by;
use crate::components::CollectAny;
use crate::components::{ListTable, PlainTable};
use crate::format;
use crate::pages::routes::run_href;

/// Each pair against the same model on its own code, and on the human's.
#[component]
pub(super) fn PairTable(matrix: HandoverMatrix, at: u32) -> impl IntoView {
    let rows = matrix.cells.iter().filter_map(|cell| {
        let after = cell.at(at)?;
        let (written, continued) = names(&matrix, cell);
        let tokens = after.tokens.map(|n| format::compact(n.round() as u64));
        Some(view! {
            <tr role="row">
                <td role="cell" data-label="Continued by"><a href=run_href(&cell.run_id)>{continued}</a></td>
                <td role="cell" data-label="Written by">{written}</td>
                <td role="cell" data-label="To its own code">{difference(after.against_own)}</td>
                <td role="cell" data-label="To the human's">{difference(after.against_human)}</td>
                <td role="cell" class="number" data-label="Tokens">{format::or_dash(tokens)}</td>
                <td role="cell" class="number" data-label="Cost">{format::or_dash(after.usd.map(format::usd))}</td>
                <td role="cell" class="number" data-label="Tasks">{format::thousands(cell.tasks)}</td>
                <td role="cell" class="number" data-label="Left out">{format::thousands(cell.left_out)}</td>
            </tr>
        })
    });
    let rows = rows.collect_any();
    view! {
        <section aria-labelledby="pairs-title">
            <h2 id="pairs-title">"Against its own code, and the human’s"</h2>
            <p class="quiet">
                "The closed gap on this code minus that of the same model on code it wrote itself, and on the human baseline’s: the mean over the tasks both have, with its interval, and a permutation test by repository. Tokens and cost are those of an evolution from the handover to here."
            </p>
            <ListTable
                caption="Pairs of writer and continuer"
                columns=&["Continued by", "Written by", "To its own code", "To the human's", "Tokens", "Cost", "Tasks", "Left out"]
            >
                {rows}
            </ListTable>
        </section>
    }
}

/// The closed gap of each pair after each iteration.
#[component]
pub(super) fn ByIteration(matrix: HandoverMatrix) -> impl IntoView {
    let heads = (1..=matrix.iterations).map(|n| view! { <th scope="col" class="number">{n}</th> });
    let heads = view! {
        <th scope="col">"Iterations since"</th>
        {heads.collect_any()}
    };
    let rows = matrix.cells.iter().map(|cell| {
        let (written, continued) = names(&matrix, cell);
        let shares = cell.by_iteration.iter().map(|after| {
            view! { <td class="number">{format::share(after.closed_gap)}</td> }
        });
        view! {
            <tr>
                <th scope="row">{format!("{continued} on {written}")}</th>
                {shares.collect_any()}
            </tr>
        }
    });
    let rows = rows.collect_any();
    view! {
        <details class="handover-course">
            <summary>"Closed gap after each iteration"</summary>
            <PlainTable
                class="list"
                caption="Closed gap of each pair after each iteration"
                scrolls="Closed gap by iteration; scrolls sideways"
                heads=heads.into_any()
            >
                {rows}
            </PlainTable>
        </details>
    }
}

/// The writer of a cell's code, and the model that went on with it.
fn names(matrix: &HandoverMatrix, cell: &HandoverCell) -> (String, String) {
    let writer = &matrix.writers[cell.writer as usize];
    let continuer = &matrix.continuers[cell.continuer as usize];
    (written_by(writer), continuer.model.clone())
}

/// "+0.12 [0.03, 0.20], p = 0.03".
fn difference(comparison: Option<Comparison>) -> String {
    let in_words = comparison.map(|comparison| {
        let difference = format::signed(comparison.difference, 2);
        match comparison.interval {
            None => format!("{difference}, of a single repository"),
            Some(interval) => format!(
                "{difference} {}, {}",
                format::interval(interval, 2),
                probability(comparison.p_value)
            ),
        }
    });
    format::or_dash(in_words)
}
