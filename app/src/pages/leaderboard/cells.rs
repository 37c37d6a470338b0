//! The cells of a ranked row.

use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_core::uncertainty::Interval;
use swe_ci_views::leaderboard::{Column, Intervals, Row};
use swe_ci_views::style::StyleMetric;

use super::tie::Tie;
use super::words as names;
use crate::components::ScoreBar;
use crate::format;

/// Tooltip of a row that is tied with the one above.
const TIED: &str = "Tied with the row above: the 95 % interval of their difference spans 0, or their shared tasks are of one repository";

type Value = fn(&Row) -> Option<f64>;
type Ends = fn(&Intervals) -> Option<Interval>;

/// A rate: its figure, its interval, and how to format both.
#[derive(Clone, Copy)]
struct Rate {
    label: &'static str,
    value: Value,
    interval: Ends,
    places: usize,
}

impl Rate {
    fn of(column: Column) -> Option<Self> {
        let (value, interval, places): (Value, Ends, usize) = match column {
            Column::ZeroRegression => (
                |row| Some(row.zero_regression_rate),
                |intervals| Some(intervals.zero_regression_rate),
                2,
            ),
            Column::NetZeroRegression => (|row| Some(row.net_zero_regression_rate), |_| None, 2),
            Column::Solved => (
                |row| Some(row.solved_rate),
                |intervals| Some(intervals.solved_rate),
                2,
            ),
            Column::Turns => (
                |row| Some(row.average_turns),
                |intervals| Some(intervals.average_turns),
                1,
            ),
            Column::MiWins => (
                |row| row.wins(StyleMetric::Mi).map(|rates| rates.win),
                |intervals| intervals.wins(StyleMetric::Mi).map(|i| i.win),
                2,
            ),
            Column::PylintWins => (
                |row| row.wins(StyleMetric::Pylint).map(|rates| rates.win),
                |intervals| intervals.wins(StyleMetric::Pylint).map(|i| i.win),
                2,
            ),
            _ => return None,
        };
        let label = names::column(column);
        Some(Self {
            label,
            value,
            interval,
            places,
        })
    }

    /// "0.50"; a dash where it is unknown.
    fn words(self, row: &Row) -> String {
        let value = (self.value)(row);
        value.map_or_else(|| "–".to_owned(), |v| format::decimals(v, self.places))
    }
}

/// A cell of an optional column.
#[component]
pub(super) fn Cell(
    column: Column,
    current: Memo<Arc<Row>>,
    still: Memo<Arc<Row>>,
    floor: Signal<f64>,
) -> impl IntoView {
    if column == Column::EvoScore {
        return view! { <ScoreCell current floor/> }.into_any();
    }
    if let Some(rate) = Rate::of(column) {
        return view! { <RateCell still rate/> }.into_any();
    }
    let text = move || still.with(|row| plain(column, row));
    view! { <td role="cell" class="number" data-label=names::column(column)>{text}</td> }.into_any()
}

/// The text of a cell without an interval.
fn plain(column: Column, row: &Row) -> String {
    let unknown = || "–".to_owned();
    match column {
        Column::Tokens => row.tokens().map_or_else(unknown, names::tokens),
        Column::Cost => row.micro_usd.map_or_else(unknown, format::dollars),
        Column::Findings => format::thousands(row.findings),
        Column::Tasks => tasks(row),
        Column::Released => row.release_date.clone().unwrap_or_else(unknown),
        Column::Finished => row.finished_at.as_deref().map_or_else(unknown, format::day),
        _ => String::new(),
    }
}

/// The rank, its 95 % interval, and whether it is tied.
#[component]
pub(super) fn RankCell(current: Memo<Arc<Row>>, tie: Memo<Tie>) -> impl IntoView {
    let ranks = Memo::new(move |_| current.with(|row| row.intervals.map(|i| i.rank)));
    let range = move || {
        let ranks = ranks.get()?;
        let several = ranks.best != ranks.worst;
        Some(view! {
            <small class="rank-range" title="The rank in 95 % of the resamples">
                <span class="visually-hidden">", in 95 % of the resamples "</span>
                <span class:visually-hidden=!several>{format::ranks(ranks)}</span>
            </small>
        })
    };
    let tied = move || {
        tie.get().with_above().then(|| {
            view! {
                <small class="rank-tied" title=TIED>
                    <span class="visually-hidden">", "</span>
                    "tied"
                    <span class="visually-hidden">": tied with the row above"</span>
                </small>
            }
        })
    };
    view! {
        <td role="cell" class="col-rank">
            <span class="rank-number" class:rank-first=move || current.with(|row| row.rank == 1)>{move || current.with(|row| row.rank)}</span>
            {tied}
            {range}
        </td>
    }
}

#[component]
fn ScoreCell(current: Memo<Arc<Row>>, floor: Signal<f64>) -> impl IntoView {
    let score = Signal::derive(move || current.with(|row| row.evoscore));
    let interval = Signal::derive(move || current.with(|row| row.intervals.map(|i| i.evoscore)));
    let text = move || {
        interval.get().map(|interval| {
            view! {
                <span class="score-interval">
                    <span class="visually-hidden">", 95 % interval "</span>
                    {format::interval(interval, 2)}
                </span>
            }
        })
    };
    view! {
        <td role="cell" class="col-score">
            <span class="score">
                <span class="score-figures">
                    <span class="score-number">{move || format::score(score.get())}</span>
                    {text}
                </span>
                <ScoreBar value=score floor interval/>
            </span>
        </td>
    }
}

#[component]
fn RateCell(still: Memo<Arc<Row>>, rate: Rate) -> impl IntoView {
    let value = move || still.with(|row| rate.words(row));
    let words = Memo::new(move |_| {
        let interval = still.with(|row| row.intervals.as_ref().and_then(rate.interval));
        interval.map(|interval| format::interval_in_words(interval, rate.places))
    });
    let hidden = move || {
        let words = words.get()?;
        Some(view! { <span class="visually-hidden">", "{words}</span> })
    };
    view! {
        <td role="cell" class="number" data-label=rate.label title=move || words.get()>
            {value}
            {hidden}
        </td>
    }
}

/// "4", or "3 / 4" while some are missing.
fn tasks(row: &Row) -> String {
    if row.tasks == row.tasks_total {
        format::thousands(row.tasks)
    } else {
        format!(
            "{} / {}",
            format::thousands(row.tasks),
            format::thousands(row.tasks_total)
        )
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::sheet;
    use swe_ci_views::leaderboard::Columns;

    #[test]
    fn cells_of_what_is_not_known() {
        let mut row = sheet(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
        let check = |column, expect: &str| assert_eq!(plain(column, &row), expect);
        check(Column::Tokens, "–");
        check(Column::Cost, "–");
        check(Column::Released, "–");
        check(Column::Finished, "–");
        check(Column::Findings, "0");
        check(Column::Tasks, "1");
        let written = |c: &Column| {
            *c == Column::EvoScore || Rate::of(*c).is_some() || !plain(*c, &row).is_empty()
        };
        assert!(Columns::ALL.shown().all(|column| written(&column)));
        let rate = |column| Rate::of(column).unwrap().words(&row);
        assert_eq!(
            (rate(Column::MiWins), rate(Column::PylintWins)),
            ("–".into(), "–".into())
        );
        row.tasks_total = 4;
        assert_eq!(plain(Column::Tasks, &row), "1 / 4");
        row.micro_usd = Some(12_300_000);
        assert_eq!(plain(Column::Cost, &row), "$12.30");
    }
}
