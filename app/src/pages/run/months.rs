//! The scores of a run by the month of its tasks.

use leptos::prelude::*;
use swe_ci_plots::{Size, Theme, months};
use swe_ci_views::leaderboard::{Freshness, ScoreChange};

use crate::components::CollectAny;
use crate::components::{Picture, PlainTable};
use crate::format;

/// Nothing without a dated task.
#[component]
pub(super) fn Months(freshness: Freshness, run_id: String) -> impl IntoView {
    if freshness.months.is_empty() {
        return None;
    }
    let figure = months(&freshness, Size::SMALL, Theme::Page);
    let rows = freshness.months.iter().map(|month| {
        let interval = month.interval.map(|interval| format::interval(interval, 2));
        view! {
            <tr>
                <th scope="row">{month.month.clone()}</th>
                <td class="number">{format::thousands(month.tasks)}</td>
                <td class="number">{format::or_dash(month.unseen.map(format::thousands))}</td>
                <td class="number">{format::share(month.evoscore)}</td>
                <td class="number">{format::or_dash(interval)}</td>
            </tr>
        }
    });
    let rows = rows.collect_any();
    let heads = view! {
        <th scope="col">"Month"</th>
        <th scope="col" class="number">"Tasks"</th>
        <th scope="col" class="number">"Unseen"</th>
        <th scope="col" class="number">"EvoScore"</th>
        <th scope="col" class="number">"95 % interval"</th>
    };
    let path = format!("/api/v1/runs/{run_id}/freshness");
    let words = in_words(&freshness);
    Some(view! {
        <details class="fold">
            <summary>"By the month of the task"</summary>
            <p class="quiet">
                "The months in which the targets were committed, at γ = 1. Hollow marks have tasks that the model may know. "
                {words}
            </p>
            <div class="months"><Picture figure/></div>
            <PlainTable class="profile" caption="EvoScore by month" scrolls="EvoScore by month; scrolls sideways" heads=heads.into_any()>
                {rows}
            </PlainTable>
            <p class="links"><a href=path.clone()>"JSON"</a><a href=format!("{path}.csv") download="">"CSV"</a></p>
        </details>
    })
}

/// The model's dates, and the change of its score to unseen tasks.
fn in_words(freshness: &Freshness) -> String {
    let learnt = match &freshness.learnt_until {
        Some(day) => format!("The model may know code up to {day}."),
        None => "Neither a training cutoff nor a release date of the model is known.".to_owned(),
    };
    let change = freshness.unseen.map(|change| {
        let ScoreChange {
            from_tasks,
            to_tasks,
            ..
        } = change;
        let interval = change
            .interval
            .map(|i| format!(" {}", format::interval(i, 2)));
        format!(
            " From {} that it may know to {} its EvoScore changes by {}{}.",
            format::count(from_tasks, "task"),
            format::count(to_tasks, "unseen one"),
            format::signed(change.change, 2),
            interval.unwrap_or_default()
        )
    });
    learnt + &change.unwrap_or_default()
}
