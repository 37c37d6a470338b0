use std::collections::BTreeSet;

use leptos::prelude::*;
use swe_ci_views::leaderboard::MonthScore;

use super::names::Name;
use crate::components::CollectAny;
use crate::components::PlainTable;
use crate::format;

/// The scores of each run by the month of its tasks; nothing without dated tasks.
#[component]
pub(super) fn MonthsOfRuns(months: Vec<Vec<MonthScore>>, names: Vec<Name>) -> impl IntoView {
    let all: BTreeSet<String> = months.iter().flatten().map(|m| m.month.clone()).collect();
    if all.is_empty() {
        return None;
    }
    let heads = names.into_iter().map(|name| {
        view! { <th scope="col" class="number">{name.in_words()}</th> }
    });
    let heads = view! {
        <th scope="col">"Month"</th>
        {heads.collect_any()}
    };
    let row = |month: String| {
        let cells = months.iter().map(|run| {
            let score = run.iter().find(|score| score.month == month).map(cell);
            view! { <td class="number">{format::or_dash(score)}</td> }
        });
        let cells = cells.collect_any();
        view! { <tr><th scope="row">{month}</th>{cells}</tr> }
    };
    let rows = all.into_iter().map(row).collect_any();
    Some(view! {
        <details class="fold">
            <summary>"By the month of the task"</summary>
            <p class="quiet">
                "EvoScore over the shared tasks whose targets were committed in a month, with its interval and the number of tasks."
            </p>
            <PlainTable class="profile" caption="EvoScore by month" scrolls="EvoScore by month and run; scrolls sideways" heads=heads.into_any()>
                {rows}
            </PlainTable>
        </details>
    })
}

/// "0.42 [0.30, 0.51], 12 tasks".
fn cell(score: &MonthScore) -> String {
    let interval = score
        .interval
        .map(|i| format!(" {}", format::interval(i, 2)));
    format!(
        "{}{}, {}",
        format::share(score.evoscore),
        interval.unwrap_or_default(),
        format::count(score.tasks, "task")
    )
}
