//! The runs of a model over time, and the points at which its scores change.

use std::collections::HashMap;

use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::{HistoryChange, ModelRun, PastRun, RunHistory, probability};

use crate::components::CollectAny;
use crate::components::{PlainTable, ScoreBar, floor_of};
use crate::format;
use crate::pages::routes::{compare_against_href, run_href};

/// Nothing for a model without three runs of one kind.
#[component]
pub(super) fn HistoriesOfModel(
    histories: Vec<RunHistory>,
    runs: StoredValue<Vec<ModelRun>>,
    convention: Convention,
) -> impl IntoView {
    let days = runs.with_value(|runs| {
        let day = |run: &ModelRun| {
            let summary = &run.summary;
            (summary.run_id.clone(), format::day(&summary.created_at))
        };
        runs.iter().map(day).collect::<HashMap<_, _>>()
    });
    let counted = |history: &RunHistory| history.convention == convention;
    let histories: Vec<RunHistory> = histories.into_iter().filter(counted).collect();
    let tables = histories.iter().map(|history| table(history, &days));
    let tables = tables.collect_any();
    (!histories.is_empty()).then(|| view! {
        <section aria-labelledby="history-title">
            <h2 id="history-title">"Over time"</h2>
            <p class="quiet">
                "Finished runs in the order of submission, each on the tasks that all of them share. A change stands where the scores before and after it differ by more than chance, at 5 %; the interval resamples repositories. "
                <a href="/about#term-evoscore">"EvoScore"</a>
                " is at γ = 1."
            </p>
            {tables}
        </section>
    })
}

fn table(history: &RunHistory, days: &HashMap<String, String>) -> impl IntoView + use<> {
    let floor = floor_of(history.runs.iter().map(|run| run.evoscore));
    let before = history.runs.first().map(|run| run.run_id.clone());
    let rows = history.runs.iter().scan(before, |before, run| {
        let change = history.changes.iter().find(|it| it.run_id == run.run_id);
        let last = before.replace(run.run_id.clone()).unwrap_or_default();
        let day = days.get(&run.run_id).cloned().unwrap_or_default();
        Some(view! {
            {change.map(change_row)}
            {run_row(run, &last, day, floor)}
        })
    });
    let rows = rows.collect_any();
    let heads = view! {
        <th scope="col">"Submitted"</th>
        <th scope="col">"Version"</th>
        <th scope="col" colspan="2">"EvoScore"</th>
        <th scope="col"><span class="visually-hidden">"Comparison"</span></th>
    };
    view! {
        <h3>{title(history)}</h3>
        <p>{in_words(history)}</p>
        <PlainTable class="profile past-runs" caption="EvoScore by run" scrolls="EvoScore by run; scrolls sideways" heads=heads.into_any()>
            {rows}
        </PlainTable>
    }
}

/// "field with opencode · 40 tasks of 20 repositories".
fn title(history: &RunHistory) -> String {
    format!(
        "{} with {} · {} of {}",
        history.split,
        history.harness,
        format::count(history.tasks, "task"),
        format::repositories(history.repositories as usize)
    )
}

/// "4 runs, and no change beyond chance."
fn in_words(history: &RunHistory) -> String {
    let runs = format::count(history.runs.len(), "run");
    match history.changes.len() {
        0 => format!("{runs}, and no change beyond chance."),
        changes => format!(
            "{runs}, and {} beyond chance.",
            format::count(changes, "change")
        ),
    }
}

fn run_row(run: &PastRun, before: &str, day: String, floor: f64) -> impl IntoView + use<> {
    let compare = (before != run.run_id).then(|| {
        let href = compare_against_href(&run.run_id, before);
        view! { <a href=href>"Compare with the run before"</a> }
    });
    view! {
        <tr>
            <th scope="row"><a href=run_href(&run.run_id)>{day}</a></th>
            <td>{run.harness_version.clone()}</td>
            <td>{format::score(run.evoscore)}</td>
            <td><ScoreBar value=run.evoscore floor/></td>
            <td>{compare}</td>
        </tr>
    }
}

fn change_row(change: &HistoryChange) -> impl IntoView + use<> {
    view! { <tr class="past-change"><td colspan="5">{change_in_words(change)}</td></tr> }
}

/// "Down by 0.40 [0.45, 0.35], from 0.500 to 0.100, p = 0.008".
fn change_in_words(change: &HistoryChange) -> String {
    let HistoryChange {
        change, p_value, ..
    } = change;
    let way = if change.change < 0.0 {
        "▼ Down"
    } else {
        "▲ Up"
    };
    let interval = change
        .interval
        .map(|i| format!(" {}", format::interval(i, 2)));
    format!(
        "{way}, from {} to {}: {}{}, {}",
        format::score(change.from),
        format::score(change.to),
        format::signed(change.change, 2),
        interval.unwrap_or_default(),
        probability(*p_value)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::uncertainty::Interval;
    use swe_ci_views::leaderboard::ScoreChange;

    #[test]
    fn a_change_in_words() {
        let mut change = HistoryChange {
            run_id: "r".into(),
            p_value: 0.0085,
            change: ScoreChange {
                from_tasks: 8,
                to_tasks: 8,
                from: 0.5,
                to: 0.1,
                change: -0.4,
                interval: Some(Interval {
                    low: -0.45,
                    high: -0.35,
                }),
            },
        };
        assert_eq!(
            change_in_words(&change),
            "▼ Down, from 0.500 to 0.100: −0.40 [−0.45, −0.35], p = 0.009"
        );
        change.change.interval = None;
        change.change.change = 0.4;
        (change.change.from, change.change.to) = (0.1, 0.5);
        assert_eq!(
            change_in_words(&change),
            "▲ Up, from 0.100 to 0.500: +0.40, p = 0.009"
        );
    }
}
