use std::collections::HashMap;

use leptos::prelude::*;
use swe_ci_plots::RunLook;
use swe_ci_views::leaderboard::{Column, Columns, Published, Row, Sort, UnrankedRun};
use swe_ci_views::view::SplitSummary;

use super::notes::Unranked;
use super::opened::{OpenRow, Opened};
use super::places::Place;
use super::published::PublishedRows;
use super::row::RankedRow;
use crate::components::CollectAny;
use crate::components::{Explained, Key, MarkKey, floor_of};
use crate::glossary::Word;
use crate::labels::{aria_sort, marks};
use crate::pages::column_names;
use crate::query::Reading;

/// With more columns, the table scrolls inside its frame.
const FITTING: usize = 6;

/// Where a link past the settings leads.
pub(super) const ROWS: &str = "rows";

/// The rows, best first; below them the runs without a rank, and the published
/// results. On narrow screens the style sheet makes each row a card; ARIA roles keep
/// it a table for screen readers.
#[component]
pub(super) fn Ranking(
    /// All rows of the ranking.
    rows: Vec<Row>,
    /// Those that are shown.
    places: Vec<Place>,
    /// Words of tags that a line above says of all rows.
    said: Vec<String>,
    /// How each run looks, by its id.
    looks: HashMap<String, RunLook>,
    /// The lowest score at any γ of the chart.
    lowest: Option<f64>,
    /// The row that is open.
    opened: Option<Opened>,
    /// Runs with scores and without a rank.
    unranked: Vec<(UnrankedRun, Option<f64>)>,
    /// Results of publications, unless they are hidden.
    published: Option<Published>,
    split: Option<SplitSummary>,
    reading: Reading,
) -> impl IntoView {
    let columns = reading.view.columns;
    let floor = floor(&rows, lowest, published.as_ref());
    let heads = [Column::Rank].into_iter().chain(columns.shown());
    let words = heads.filter_map(|column| Word::headed(column_names::column(column)));
    let words: Vec<Word> = words.collect();
    let marked = marks(rows.iter().map(|row| row.mark));
    let any = !rows.is_empty();
    let apart = !unranked.is_empty();
    let nothing = (places.is_empty() && (any || apart || published.is_none()))
        .then(|| view! { <Nothing any apart reading=reading.clone()/> });
    // While γ moves, rows move only in the order of their scores.
    let order = reading.view.is_ranking().then_some("score");
    let width = columns.shown().count() + 2;
    let convention = reading.convention;
    let row = |place: Place| {
        let run = place.row.run_id.clone();
        let look = looks.get(&run).copied();
        let opened = opened.clone().filter(|opened| opened.run_id == run);
        let open = opened.is_some();
        let toggle = reading.href_open((!open).then_some(run.as_str()));
        let row = place.row.clone();
        let below = opened.map(|opened| view! { <OpenRow opened row columns=width convention/> });
        view! {
            <RankedRow place columns look floor said=said.clone() open toggle/>
            {below}
        }
    };
    let rows = places.into_iter().map(row).collect_any();
    let unranked = apart.then(|| view! { <Unranked runs=unranked columns=width/> });
    let published = published
        .map(|published| view! { <PublishedRows published split columns floor alone=!any/> });
    let wide = columns.shown().count() > FITTING;
    view! {
        <div class="table-frame ranking-frame" class:scrolls=wide>
            <table class="ranking" role="table" data-order=order data-floor=floor>
                <caption class="visually-hidden">"Runs ranked by EvoScore"</caption>
                <Head columns reading/>
                <tbody role="rowgroup" class="ranked" id=ROWS>{rows}{nothing}</tbody>
                {unranked}
                {published}
            </table>
        </div>
        <div class="ranking-key">
            <Key words/>
            <MarkKey words=marked/>
        </div>
    }
}

/// Where the bars of all rows start. It considers scores at every γ, so that
/// the scale stays while γ moves.
fn floor(rows: &[Row], lowest: Option<f64>, published: Option<&Published>) -> f64 {
    let published = published.into_iter().flat_map(|published| &published.rows);
    let intervals = rows.iter().filter_map(|row| row.intervals);
    let scores = lowest
        .into_iter()
        .chain(published.map(|row| row.evoscore))
        .chain(intervals.map(|intervals| intervals.evoscore.low));
    floor_of(scores)
}

/// A placeholder for rows, which says why there are none.
#[component]
fn Nothing(
    /// Whether the ranking has rows that the view does not show.
    any: bool,
    /// Whether runs stand apart without a rank.
    apart: bool,
    reading: Reading,
) -> impl IntoView {
    let columns = reading.view.columns.shown().count() + 2;
    let why = if any {
        let all = Reading {
            view: reading.view.of_all(),
            ..reading
        };
        let text = view! {
            "No ranked run matches these filters. "
            <a href=all.href()>"Show all rows"</a>
        };
        text.into_any()
    } else if reading.view.unseen {
        "No run has a task that is newer than its model.".into_any()
    } else if apart {
        "No run is ranked yet.".into_any()
    } else {
        "No run has a score in this convention.".into_any()
    };
    view! {
        <tr role="row" class="nothing">
            <td role="cell" colspan=columns>{why}</td>
        </tr>
    }
}

/// Column headings, as links that sort.
#[component]
fn Head(columns: Columns, reading: Reading) -> impl IntoView {
    let heads = [Column::Rank, Column::Model]
        .into_iter()
        .chain(columns.shown());
    let heads = heads.map(|column| view! { <HeadCell column reading=reading.clone()/> });
    view! {
        <thead role="rowgroup">
            <tr role="row">{heads.collect_any()}</tr>
        </thead>
    }
}

#[component]
fn HeadCell(column: Column, mut reading: Reading) -> impl IntoView {
    let sort = reading.view.sort;
    let order = (sort.column == column).then(|| aria_sort(sort.descending));
    reading.view.sort = sort.toggled(column);
    let class = match column {
        Column::Rank => "col-rank",
        Column::Model => "",
        Column::EvoScore => "col-score",
        _ => "number",
    };
    let interval = (column == Column::EvoScore).then_some(", 95\u{a0}% interval");
    let next = (column == Column::EvoScore && sort == Sort::default())
        .then(|| view! { <span class="head-next">"to the next"</span> });
    let word = Word::headed(column_names::column(column));
    let hint = word.is_none().then(|| column_names::hint(column));
    view! {
        <th role="columnheader" scope="col" class=class aria-sort=order>
            <Explained word>
                <a class="head" href=reading.href() title=hint aria-describedby=word.map(Word::tip)>
                    {column_names::column(column)}
                    {interval}
                    <span class="head-mark" aria-hidden="true"></span>
                </a>
            </Explained>
            {next}
        </th>
    }
}
