use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_plots::Curves;
use swe_ci_views::leaderboard::{Column, Columns, Published, Row};
use swe_ci_views::view::SplitSummary;

use super::board_state::BoardState;
use super::published::PublishedRows;
use super::row::RankedRow;
use super::tie::Places;
use super::visible_rows::visible_rows;
use super::words;
use crate::components::{Explained, Key, floor_of};
use crate::glossary::Word;
use crate::pages::mark::MarkKey;
use crate::words::{aria_sort, marks};

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
        let words = heads.filter_map(|column| Word::headed(words::column(column)));
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
    let word = Word::headed(words::column(column));
    let hint = word.is_none().then(|| words::hint(column));
    view! {
        <th role="columnheader" scope="col" class=class aria-sort=order>
            <Explained word>
                <a class="head" href=href title=hint aria-describedby=word.map(Word::tip) data-noscroll="">
                    {words::column(column)}
                    {interval}
                    <span class="head-mark" aria-hidden="true"></span>
                </a>
            </Explained>
        </th>
    }
}
