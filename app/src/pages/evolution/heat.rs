//! The heat map: the outcome of every test on every version of the code.

use leptos::prelude::*;
use swe_ci_core::metrics::Verdict;

use super::symbols::row_html;
use super::tests::Tests;
use crate::components::{CollectAny, PassingBar};
use crate::pages::routes::{EvolutionAddress, EvolutionQuery};

/// A part of the selected tests, as a table that scrolls in its own frame.
#[component]
pub(super) fn HeatMap(
    tests: StoredValue<Tests>,
    /// The indices of the tests in this part.
    part: Vec<usize>,
    query: EvolutionQuery,
) -> impl IntoView {
    let row = |test: usize| {
        let cells = tests.with_value(|tests| row_html(tests, test));
        view! { <tr inner_html=cells></tr> }
    };
    let none = part.is_empty();
    let rows = part.into_iter().map(row).collect_any();
    view! {
        <div
            class="heat-frame"
            tabindex="0"
            role="region"
            aria-label="Tests by iteration; scrolls in both directions"
            hidden=none
        >
            <table class="heat">
                <Head tests query/>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

/// Every column heading links to its iteration.
#[component]
fn Head(tests: StoredValue<Tests>, query: EvolutionQuery) -> impl IntoView {
    let heads = tests.with_value(|tests| {
        let address = EvolutionAddress::of_detail(&tests.detail);
        let numbers = tests.detail.view.iterations.iter().map(|i| i.iteration);
        let head = |n: u32| {
            let href = address.at_iteration(&query, n);
            let chosen = (query.iteration == Some(n)).then_some("true");
            view! {
                <th scope="col">
                    <a href=href aria-label=format!("Iteration {n}") aria-current=chosen>{n}</a>
                </th>
            }
        };
        numbers.map(head).collect_any()
    });
    view! {
        <thead>
            <tr>
                <th scope="col" class="heat-test">"Test"</th>
                <th scope="col">"base"</th>
                {heads}
            </tr>
            <Passing tests/>
        </thead>
    }
}

/// A bar above each column: the chart of passing tests on the map's own axis.
#[component]
fn Passing(tests: StoredValue<Tests>) -> impl IntoView {
    let bars = tests.with_value(|tests| {
        let view = &tests.detail.view;
        let target = view.suite.target;
        let bar = |passing| view! { <td><PassingBar passing target/></td> };
        let base = bar(Some(view.suite.base_in_target));
        let later = view.iterations.iter().map(|i| match i.verdict {
            Verdict::Scored { in_target, .. } => bar(Some(in_target)),
            Verdict::Collapsed { .. } => bar(None),
        });
        std::iter::once(base).chain(later).collect_any()
    });
    view! {
        <tr class="heat-passing">
            <th scope="row" class="heat-test">"Passing"</th>
            {bars}
        </tr>
    }
}

/// The most cells on a page.
const MOST_CELLS: usize = 8_000;

/// The most rows on a page.
const MOST_ROWS: usize = 200;

/// The fewest, with however many columns.
const FEWEST_ROWS: usize = 10;

/// The number of rows on a page of a table with this many columns.
pub(super) fn rows_per_page(columns: usize) -> usize {
    (MOST_CELLS / columns.max(1)).clamp(FEWEST_ROWS, MOST_ROWS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_bounded() {
        assert_eq!(rows_per_page(4), 200);
        assert_eq!(rows_per_page(21), 200);
        assert_eq!(rows_per_page(101), 79);
        assert_eq!(rows_per_page(1_001), 10);
    }
}
