use leptos::prelude::*;
use swe_ci_core::leaderboard::Row;
use swe_ci_core::run::Progress;

use crate::components::{ScoreBar, Tag, Tone};
use crate::format;
use crate::pages::words;
use crate::plots::Curves;

/// The rows, best first. On narrow screens the style sheet makes each a card;
/// the roles keep it a table for screen readers even then.
#[component]
pub fn Ranking(rows: Memo<Vec<Row>>, curves: Memo<Curves>) -> impl IntoView {
    let signed = Memo::new(move |_| curves.with(Curves::any_negative));
    view! {
        <div class="table-frame">
            <table class="ranking" role="table">
                <caption class="visually-hidden">"Runs ranked by EvoScore"</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col" class="col-rank">"Rank"</th>
                        <th role="columnheader" scope="col">"Model"</th>
                        <th role="columnheader" scope="col">"Harness"</th>
                        <th role="columnheader" scope="col" title="γ-weighted mean of the normalized change after each iteration, −1 to 1">"EvoScore"</th>
                        <th role="columnheader" scope="col" class="number" title="Share of tasks in which no passing test was ever broken">"Zero regression"</th>
                        <th role="columnheader" scope="col" class="number" title="Share of tasks that ended with every target test passing">"Solved"</th>
                        <th role="columnheader" scope="col" class="number" title="Iterations used, on average">"Turns"</th>
                        <th role="columnheader" scope="col" class="number" title="Tasks scored">"Tasks"</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">
                    <For each=move || rows.get() key=|row| row.run_id.clone() let(row)>
                        <RankedRow row rows curves signed/>
                    </For>
                </tbody>
            </table>
        </div>
    }
}

#[component]
fn RankedRow(
    /// The row when it appeared; its figures are looked up as they change.
    row: Row,
    rows: Memo<Vec<Row>>,
    curves: Memo<Curves>,
    signed: Memo<bool>,
) -> impl IntoView {
    let current = Memo::new({
        let first = row.clone();
        move |_| {
            let found = |rows: &Vec<Row>| rows.iter().find(|r| r.run_id == first.run_id).cloned();
            rows.with(found).unwrap_or_else(|| first.clone())
        }
    });
    let figure = move |read: fn(&Row) -> String| move || current.with(read);
    let score = Signal::derive(move || current.with(|r| r.evoscore));
    let series = curves.with_untracked(|c| {
        c.iter()
            .find(|c| c.run_id == row.run_id)
            .map_or(0, |c| c.series % crate::plots::SERIES_COLOURS)
    });
    view! {
        <tr role="row" data-series=series + 1>
            <td role="cell" class="col-rank">{figure(|r| r.rank.to_string())}</td>
            <th role="rowheader" scope="row" class="col-model">
                <a href=format!("/runs/{}", row.run_id)>{row.model.clone()}</a>
                <RowTags row=row.clone()/>
            </th>
            <td role="cell" class="col-harness">
                {row.harness.clone()}
                {(!row.provider.is_empty()).then(|| view! { " " <small>{row.provider.clone()}</small> })}
            </td>
            <td role="cell" class="col-score">
                <span class="score">
                    <span class="score-number">{figure(|r| format::score(r.evoscore))}</span>
                    <ScoreBar value=score signed/>
                </span>
            </td>
            <td role="cell" class="number" data-label="Zero regression">
                {figure(|r| format::share(r.zero_regression_rate))}
            </td>
            <td role="cell" class="number" data-label="Solved">{figure(|r| format::share(r.solved_rate))}</td>
            <td role="cell" class="number" data-label="Turns">
                {figure(|r| format::decimals(r.average_turns, 1))}
            </td>
            <td role="cell" class="number" data-label="Tasks">{tasks(&row)}</td>
        </tr>
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

#[component]
fn RowTags(row: Row) -> impl IntoView {
    let human = words::kind(row.kind).map(|(word, hint)| {
        view! { <Tag text=word.to_owned() tone=Tone::Accent hint/> }
    });
    let unfinished = match row.progress {
        Progress::Queued | Progress::Running => {
            let text = format!("running · {} of {} tasks", row.tasks, row.tasks_total);
            Some((text, Tone::Live, "The figures will change"))
        }
        Progress::Cancelled => Some((
            "cancelled".to_owned(),
            Tone::Plain,
            "Scored on the tasks that were over by then",
        )),
        Progress::Finished => None,
    };
    let unfinished = unfinished.map(|(text, tone, hint)| view! { <Tag text tone hint/> });
    let blocked = (row.tasks_blocked > 0).then(|| {
        let text = format!("{} blocked", row.tasks_blocked);
        view! { <Tag text tone=Tone::Warn hint="Could not be run for reasons outside the agent; not scored"/> }
    });
    view! { <span class="tags">{human}{unfinished}{blocked}</span> }
}
