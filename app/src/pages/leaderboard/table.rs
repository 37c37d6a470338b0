use std::ops::Range;
use std::sync::Arc;

use leptos::html::Tbody;
use leptos::prelude::*;
use swe_ci_plots::Curves;
use swe_ci_views::leaderboard::{Column, Columns, Published, Row};
use swe_ci_views::view::SplitSummary;

use super::board_state::BoardState;
use super::column_names;
use super::published::PublishedRows;
use super::row::RankedRow;
use super::tie_mark::Places;
use crate::components::{Explained, Key, floor_of};
use crate::glossary::Word;
use crate::labels::{aria_sort, marks};
use crate::pages::result_table::MarkKey;

/// With more columns, the table scrolls inside its frame.
const FITTING: usize = 6;

/// The rows, best first, and the published ones below. On narrow screens the
/// style sheet makes each a card; ARIA roles keep it a table for screen
/// readers.
#[component]
pub fn Ranking(
    /// All rows of the ranking.
    rows: Memo<Vec<Arc<Row>>>,
    /// Those that are shown.
    places: Memo<Places>,
    curves: Memo<Curves>,
    published: Published,
    /// Whether any run could have a row.
    any_runs: bool,
    split: Option<SplitSummary>,
    state: BoardState,
) -> impl IntoView {
    let columns = Memo::new(move |_| state.get().view.columns);
    let body = NodeRef::new();
    let visible = visible_rows(body, state);
    let floor = floor(rows, curves, &published);
    let any_published = !published.rows.is_empty();
    let shown = Memo::new(move |_| any_published && state.get().published);
    let published = StoredValue::new(published);
    let second = move || {
        shown.get().then(|| {
            let (published, split) = (published.get_value(), split.clone());
            view! { <PublishedRows published split columns floor/> }
        })
    };
    let wide = move || columns.get().shown().count() > FITTING;
    let words = Signal::derive(move || {
        let heads = [Column::Rank].into_iter().chain(columns.get().shown());
        let words = heads.filter_map(|column| Word::headed(column_names::column(column)));
        words.collect()
    });
    let marked = Memo::new(move |_| rows.with(|rows| marks(rows.iter().map(|row| row.mark))));
    view! {
        <div hidden=move || !any_runs && !shown.get()>
            <Key words/>
            <MarkKey words=marked/>
        </div>
        <div class="table-frame ranking-frame" class:scrolls=wide hidden=move || !any_runs && !shown.get()>
            <table class="ranking" role="table">
                <caption class="visually-hidden">"Runs ranked by EvoScore"</caption>
                <Head columns state/>
                <tbody role="rowgroup" class="ranked" node_ref=body>
                    <For each=move || places.with(|places| places.list.clone()) key=|place| place.row.run_id.clone() let(place)>
                        <RankedRow place places visible columns curves floor/>
                    </For>
                    {move || (any_runs && places.with(|places| places.list.is_empty())).then(|| view! { <Nothing rows columns state/> })}
                </tbody>
                {second}
            </table>
        </div>
    }
}

/// Where the bars of all rows start. It considers scores at every γ, so that
/// the scale mostly stays while γ moves.
fn floor(rows: Memo<Vec<Arc<Row>>>, curves: Memo<Curves>, published: &Published) -> Signal<f64> {
    let published = floor_of(published.rows.iter().map(|row| row.evoscore));
    let lowest = Memo::new(move |_| curves.with(Curves::lowest));
    let floor = Memo::new(move |_| {
        let intervals = rows.with(|rows| {
            let intervals = rows.iter().filter_map(|row| row.intervals);
            floor_of(intervals.map(|intervals| intervals.evoscore.low))
        });
        floor_of(lowest.get().into_iter().chain([intervals, published]))
    });
    floor.into()
}

/// A placeholder for rows, which says why there are none.
#[component]
fn Nothing(rows: Memo<Vec<Arc<Row>>>, columns: Memo<Columns>, state: BoardState) -> impl IntoView {
    let why = move || {
        let view = state.get().view;
        if !rows.with(Vec::is_empty) {
            let all = state.href(|reading| reading.view = reading.view.of_all());
            let text = view! {
                "No run matches. "
                <a href=all data-noscroll="">"Show all rows"</a>
            };
            text.into_any()
        } else if view.unseen {
            "No run has a task that is newer than its model.".into_any()
        } else {
            "No run has a score in this convention.".into_any()
        }
    };
    view! {
        <tr role="row" class="nothing">
            <td role="cell" colspan=move || columns.get().shown().count() + 2>{why}</td>
        </tr>
    }
}

/// Column headings, as links that sort.
#[component]
fn Head(columns: Memo<Columns>, state: BoardState) -> impl IntoView {
    let heads = move || {
        let always = [Column::Rank, Column::Model].into_iter();
        let head = |column| view! { <HeadCell column state/> };
        always.chain(columns.get().shown()).map(head).collect_view()
    };
    view! {
        <thead role="rowgroup">
            <tr role="row">{heads}</tr>
        </thead>
    }
}

#[component]
fn HeadCell(column: Column, state: BoardState) -> impl IntoView {
    let sort = Memo::new(move |_| state.get().view.sort);
    let order = move || {
        let sort = sort.get();
        (sort.column == column).then(|| aria_sort(sort.descending))
    };
    let href = move || state.href(|r| r.view.sort = r.view.sort.toggled(column));
    let class = match column {
        Column::Rank => "col-rank",
        Column::Model | Column::EvoScore => "",
        _ => "number",
    };
    let interval = (column == Column::EvoScore).then_some(", 95 % interval");
    let word = Word::headed(column_names::column(column));
    let hint = word.is_none().then(|| column_names::hint(column));
    view! {
        <th role="columnheader" scope="col" class=class aria-sort=order>
            <Explained word>
                <a class="head" href=href title=hint aria-describedby=word.map(Word::tip) data-noscroll="">
                    {column_names::column(column)}
                    {interval}
                    <span class="head-mark" aria-hidden="true"></span>
                </a>
            </Explained>
        </th>
    }
}

/// Rows beyond either edge of the screen that follow too: a new order can move
/// them in, and cards differ in height.
const MARGIN: usize = 8;

/// All rows.
const EVERY: Range<usize> = 0..usize::MAX;

/// The positions in the table that follow the slider. Updating a hundred rows
/// takes longer than a frame; a screen shows twenty. The others wait until the
/// slider rests.
fn visible_rows(rows: NodeRef<Tbody>, state: BoardState) -> Memo<Range<usize>> {
    let moves = Memo::new(move |_| state.gamma.get() != state.rested.get());
    // Computed once per movement: nobody scrolls while dragging the slider, and
    // measuring in between would force the browser to lay out the page twice.
    Memo::new(move |_| {
        if !moves.get() {
            return EVERY;
        }
        rows.get_untracked().map_or(EVERY, |rows| {
            let area = rows.get_bounding_client_rect();
            let screen = window().inner_height().ok().and_then(|h| h.as_f64());
            let count = rows.child_element_count() as usize;
            screen.map_or(EVERY, |screen| {
                on_screen(area.top(), area.height(), screen, count)
            })
        })
    })
}

/// The visible rows of a table whose top is `top` below the upper edge of the
/// screen, as if all rows were equally high.
fn on_screen(top: f64, height: f64, screen: f64, rows: usize) -> Range<usize> {
    if height <= 0.0 || rows == 0 {
        return EVERY;
    }
    let row = height / rows as f64;
    // A negative position is above the first row; `as` turns it into 0.
    let first = (-top / row).floor() as usize;
    let beyond = ((screen - top) / row).ceil() as usize;
    first.saturating_sub(MARGIN)..beyond.saturating_add(MARGIN)
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn rows_on_the_screen_and_a_few_around() {
        let check = |top, expect: Range<usize>| {
            assert_eq!(on_screen(top, 6_000.0, 1_000.0, 100), expect, "{top}");
        };
        // Sixty pixels a row.
        check(400.0, 0..18);
        check(0.0, 0..25);
        check(-600.0, 2..35);
        check(-5_400.0, 82..115);
        // Entirely below the screen, and entirely above.
        check(2_000.0, 0..8);
        check(-9_000.0, 142..175);
        assert_eq!(on_screen(0.0, 0.0, 1_000.0, 3), EVERY);
        assert_eq!(on_screen(0.0, 10.0, 1_000.0, 0), EVERY);
    }
}
