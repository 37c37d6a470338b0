use leptos::prelude::*;
use swe_ci_views::leaderboard::{Column, Row};

use super::places::Next;
use crate::components::Score;
use crate::format;
use crate::pages::column_names;
use crate::pages::measured::Measured;

const TIED: &str = "Tied with the next row: the 95\u{a0}% interval of their difference spans 0, or it may be chance (p of 0.05 or more)";
const REAL: &str = "Ahead of the next row: their difference is unlikely to be chance (p below 0.05), so its 95\u{a0}% interval leaves 0 out";

/// A cell of an optional column.
#[component]
pub(super) fn Cell(column: Column, row: Row, next: Option<Next>, floor: f64) -> impl IntoView {
    if column == Column::EvoScore {
        let interval = row.intervals.map(|i| i.evoscore);
        let next = next.map(|next| view! { <Distance next/> });
        return view! {
            <td role="cell" class="col-score"><Score value=row.evoscore floor interval/>{next}</td>
        }
        .into_any();
    }
    let label = column_names::column(column);
    match Measured::of(column, &row) {
        Some(measured) => view! { <MeasuredCell measured label/> }.into_any(),
        None => {
            view! { <td role="cell" class="number" data-label=label>{plain(column, &row)}</td> }
                .into_any()
        }
    }
}

/// The text of a cell without an interval.
fn plain(column: Column, row: &Row) -> String {
    match column {
        Column::Tokens => format::or_dash(row.tokens().map(format::compact)),
        Column::Cost => format::or_dash(row.micro_usd.map(format::dollars)),
        Column::Findings => format::thousands(row.findings),
        Column::Tasks => tasks(row),
        Column::Released => format::or_dash(row.release_date.clone()),
        Column::Finished => format::or_dash(row.finished_at.as_deref().map(format::day)),
        _ => String::new(),
    }
}

/// Whether a row really stands above the next one.
#[component]
fn Distance(next: Next) -> impl IntoView {
    let (title, word) = match next.tied {
        true => (TIED, " tied"),
        false => (REAL, " real"),
    };
    view! {
        <small class="next" class:next-real=!next.tied title=title>
            <span class="visually-hidden">", to the next row "</span>
            {format::score(next.by)}
            {word}
        </small>
    }
}

/// The rank, and its 95 % interval; before them a link that opens the row, or closes
/// it.
#[component]
pub(super) fn RankCell(row: Row, open: bool, toggle: String) -> impl IntoView {
    let range = row.intervals.map(|intervals| {
        let several = intervals.rank.best != intervals.rank.worst;
        view! {
            <small class="rank-range" title="The rank in 95\u{a0}% of the resamples">
                <span class="visually-hidden">", in 95\u{a0}% of the resamples "</span>
                <span class:visually-hidden=!several>{format::ranks(intervals.rank)}</span>
            </small>
        }
    });
    view! {
        <td role="cell" class="col-rank">
            <a
                class="row-toggle"
                href=toggle
                rel="nofollow"
                aria-expanded=if open { "true" } else { "false" }
                aria-label=format!("More about {}", row.model)
            >
                {if open { "▾" } else { "▸" }}
            </a>
            <span class="rank-number" class:rank-first=row.rank == 1>{row.rank}</span>
            {range}
        </td>
    }
}

#[component]
fn MeasuredCell(measured: Measured, label: &'static str) -> impl IntoView {
    let words = measured.range_in_words();
    let hidden = words
        .clone()
        .map(|words| view! { <span class="visually-hidden">", "{words}</span> });
    view! {
        <td role="cell" class="number" data-label=label title=words>
            {format::or_dash(measured.words())}
            {hidden}
        </td>
    }
}

/// "4", or "3 / 4" while some are missing.
fn tasks(row: &Row) -> String {
    let [tasks, total] = [row.tasks, row.tasks_total].map(format::thousands);
    match row.tasks == row.tasks_total {
        true => tasks,
        false => format!("{tasks} / {total}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::leaderboard;
    use swe_ci_views::leaderboard::Columns;

    #[test]
    fn cells_of_what_is_not_known() {
        let mut row = leaderboard(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
        let check = |column, expect: &str| assert_eq!(plain(column, &row), expect);
        check(Column::Tokens, "–");
        check(Column::Cost, "–");
        check(Column::Released, "–");
        check(Column::Finished, "–");
        check(Column::Findings, "0");
        check(Column::Tasks, "1");
        let written = |c: &Column| {
            *c == Column::EvoScore
                || Measured::of(*c, &row).is_some()
                || !plain(*c, &row).is_empty()
        };
        assert!(Columns::ALL.shown().all(|column| written(&column)));
        let rate = |column| Measured::of(column, &row).unwrap().words();
        assert_eq!(
            (rate(Column::MiWins), rate(Column::PylintWins)),
            (None, None)
        );
        row.tasks_total = 4;
        assert_eq!(plain(Column::Tasks, &row), "1 / 4");
        row.micro_usd = Some(12_300_000);
        assert_eq!(plain(Column::Cost, &row), "$12.30");
    }
}
