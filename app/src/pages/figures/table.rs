use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::figures::{Cell, Table};

use crate::format;

/// Columns for programs; for people, the link of a row identifies its run.
const HIDDEN: [&str; 2] = ["run_id", "kind"];

/// The data of a figure, folded.
#[component]
pub(super) fn Numbers(table: Table, title: &'static str) -> impl IntoView {
    let shown =
        (0..table.columns.len()).filter(|at| !HIDDEN.contains(&table.columns[*at].name.as_str()));
    // Text columns are aligned left, wherever they are.
    let class = |at: usize| {
        let mut cells = table.rows.iter().map(|cells| &cells[at]);
        let is_words = cells.any(|cell| matches!(cell, Cell::Text(_)));
        if is_words { "" } else { "number" }
    };
    let shown: Vec<(usize, &'static str)> = shown.map(|at| (at, class(at))).collect();
    let head = |(at, class): &(usize, &'static str)| {
        view! { <th scope="col" class=*class>{table.columns[*at].title.clone()}</th> }
    };
    let head = shown.iter().map(head).collect_view();
    let row = |cells: &Vec<Cell>| {
        let cells = shown
            .iter()
            .map(|(at, class)| cell(*at, &cells[*at], class));
        view! { <tr>{cells.collect_view()}</tr> }
    };
    view! {
        <details class="fold figure-numbers">
            <summary>"The numbers"</summary>
            <div class="table-frame" tabindex="0" role="region" aria-label=format!("{title}, the numbers")>
                <table>
                    <caption class="visually-hidden">{title}</caption>
                    <thead><tr>{head}</tr></thead>
                    <tbody>{table.rows.iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </details>
    }
}

fn cell(at: usize, cell: &Cell, class: &'static str) -> impl IntoView + use<> {
    let text = words(cell);
    match at {
        0 => Either::Left(view! { <th scope="row">{text}</th> }),
        _ => Either::Right(view! { <td class=class>{text}</td> }),
    }
}

fn words(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        // Large whole numbers get thousands separators.
        Cell::Number { value, places: 0 } if *value >= 0.0 => {
            format::thousands(value.round() as u64)
        }
        Cell::Number { value, places } => format::decimals(*value, *places),
        Cell::Whole(value) => format::thousands(*value),
        Cell::Nothing => "–".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_for_people() {
        let check = |cell: Cell, expect: &str| assert_eq!(words(&cell), expect);
        check(Cell::Text("a".into()), "a");
        check(Cell::number(Some(-0.1234), 3), "\u{2212}0.123");
        check(
            Cell::number(Some(1_234_567.8), 0),
            "1\u{202f}234\u{202f}568",
        );
        check(Cell::number(None, 0), "–");
        check(Cell::whole(Some(7u32)), "7");
    }
}
