//! The table of a run's iterations.

use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, IterationProfile};
use swe_ci_views::leaderboard::Scores;

use crate::components::CollectAny;
use crate::components::Term;
use crate::format;
use crate::glossary::Word;
use crate::query::Query;

/// The run's behaviour from iteration to iteration; folded, because it is long.
#[component]
pub(super) fn ProfileTable(scores: RwSignal<Vec<Scores>>, run_id: String) -> impl IntoView {
    let conventions = Memo::new(move |_| {
        let conventions = |scores: &Vec<Scores>| scores.iter().map(|s| s.convention).collect();
        scores.with(conventions)
    });
    let links = move || {
        let link = |s: &Scores| {
            let text = format!("JSON, {}", s.convention.name());
            view! { <a href=json_href(&run_id, s)>{text}</a> }
        };
        scores.with(|scores| scores.iter().map(link).collect_any())
    };
    let rows = move || {
        let lines = scores.with(|scores| lines(scores));
        lines.into_iter().map(row).collect_any()
    };
    view! {
        <details class="fold">
            <summary>"Iteration by iteration"</summary>
            <p class="quiet">
                "Active: tasks that reached this iteration. "
                <Term word=Word::Rate text="Rate"/>
                ": share of these that break something here. "
                <Term word=Word::Magnitude text="Magnitude"/>
                ": share of the passing tests that is lost where something breaks. Best: mean of the best "
                <Term word=Word::Change/>
                " so far, over all tasks."
            </p>
            <div class="table-frame" tabindex="0" role="region" aria-label="Iteration by iteration">
                <table class="profile">
                    <caption class="visually-hidden">"Iteration by iteration"</caption>
                    <ProfileHead conventions/>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        </details>
        <p class="links">{links}</p>
    }
}

#[component]
fn ProfileHead(conventions: Memo<Vec<Convention>>) -> impl IntoView {
    let group = |convention: Convention| {
        view! { <th scope="colgroup" colspan="3" class="group">{convention.name()}</th> }
    };
    let groups = move || conventions.get().into_iter().map(group).collect_any();
    let columns = |_| {
        view! {
            <th scope="col" class="number">"Rate"</th>
            <th scope="col" class="number">"Magnitude"</th>
            <th scope="col" class="number">"Best"</th>
        }
    };
    let names = move || conventions.get().into_iter().map(columns).collect_any();
    view! {
        <thead>
            <tr>
                <th scope="col" rowspan="2" class="number">"Iteration"</th>
                <th scope="col" rowspan="2" class="number">"Active"</th>
                {groups}
            </tr>
            <tr>{names}</tr>
        </thead>
    }
}

/// An iteration in every convention.
fn row(line: Vec<IterationProfile>) -> impl IntoView {
    let first = line.first().map(|i| (i.iteration, i.active));
    let (iteration, active) = first.unwrap_or_default();
    let share = |value: Option<f64>| format::or_dash(value.map(format::share));
    let cells = line.into_iter().map(|i| {
        view! {
            <td class="number">{share(i.regression_rate)}</td>
            <td class="number">{share(i.regression_magnitude)}</td>
            <td class="number">{format::share(i.best_change)}</td>
        }
    });
    view! {
        <tr>
            <th scope="row" class="number">{iteration}</th>
            <td class="number">{format::thousands(active)}</td>
            {cells.collect_any()}
        </tr>
    }
}

/// The iterations that any task reached; after them nothing changes.
fn lines(scores: &[Scores]) -> Vec<Vec<IterationProfile>> {
    let most = scores.iter().map(|s| s.profile.iterations.len()).max();
    (0..most.unwrap_or(0))
        .map(|at| {
            let each = scores.iter().filter_map(|s| s.profile.iterations.get(at));
            each.copied().collect::<Vec<_>>()
        })
        .take_while(|line| line.iter().any(|i| i.active > 0))
        .collect()
}

fn json_href(run_id: &str, scores: &Scores) -> String {
    Query::default()
        .with("gamma", Some(format::gamma(scores.gamma)))
        .with("convention", Some(scores.convention.name()))
        .at(&format!("/api/v1/runs/{run_id}/scores"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::Gamma;
    use swe_ci_plots::fixture::leaderboard_of;

    #[test]
    fn only_iterations_that_happened_are_listed() {
        let mut leaderboard = leaderboard_of(&[("m", vec![&[0.5], &[0.5, 1.0]])]);
        leaderboard.entries[0].max_iterations = 20;
        let both = Convention::ALL.map(|c| leaderboard.entries[0].scores(Gamma::ONE, c));
        let seen: Vec<(u32, u32, usize)> = lines(&both)
            .iter()
            .map(|line| (line[0].iteration, line[0].active, line.len()))
            .collect();
        assert_eq!(seen, [(1, 2, 2), (2, 1, 2)]);
        assert!(lines(&[]).is_empty());
        assert_eq!(
            json_href("r", &both[1]),
            "/api/v1/runs/r/scores?gamma=1.00&convention=reference"
        );
    }
}
