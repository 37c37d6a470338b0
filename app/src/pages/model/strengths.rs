//! Strengths and weaknesses: the model's tasks in groups.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::{Common, Extremes, FEW, Group, Strengths, TaskMean};

use crate::components::CollectAny;
use crate::components::{CardTable, Score, Tag, floor_of};
use crate::format;
use crate::pages::routes::task_href;

/// One table: its kind of groups, and which groups belong to it.
struct Grouping {
    id: &'static str,
    title: &'static str,
    hint: &'static str,
    has: fn(&Common) -> bool,
}

static GROUPINGS: [Grouping; 3] = [
    Grouping {
        id: "by-gap",
        title: "By gap",
        hint: "Thirds of the tasks, by how many target tests the base does not pass.",
        has: |common| matches!(common, Common::Gap { .. }),
    },
    Grouping {
        id: "by-suite",
        title: "By size of the suite",
        hint: "Thirds of the tasks, by how many tests the target passes.",
        has: |common| matches!(common, Common::Suite { .. }),
    },
    Grouping {
        id: "by-repository",
        title: "By repository",
        hint: "All tasks of a repository together.",
        has: |common| matches!(common, Common::Repository { .. }),
    },
];

#[component]
pub(super) fn StrengthsOfModel(
    strengths: Vec<Strengths>,
    convention: Signal<Convention>,
) -> impl IntoView {
    let tables = move || {
        let chosen = strengths.iter().find(|s| s.convention == convention.get());
        let Some(Strengths {
            groups, extremes, ..
        }) = chosen
        else {
            let none = "Nothing is scored in this convention yet.";
            return Either::Left(view! { <p class="quiet">{none}</p> });
        };
        let tables = GROUPINGS.iter().map(|grouping| table(grouping, groups));
        let extremes = extremes.as_ref().map(|Extremes { best, worst }| {
            view! { <p>{task("Best task:", best)}" · "{task("Worst:", worst)}</p> }
        });
        Either::Right(view! { {extremes}{tables.collect_any()} })
    };
    view! {
        <section class="strengths" aria-labelledby="strengths-title">
            <h2 id="strengths-title">"Strengths and weaknesses"</h2>
            <p class="quiet">
                {format!("Over all runs; each task counts once. Groups of fewer than {FEW} tasks are marked: they are too small to compare.")}
            </p>
            {tables}
        </section>
    }
}

fn task(label: &'static str, task: &TaskMean) -> impl IntoView + use<> {
    let href = task_href(task.task_id.as_str());
    let (id, score) = (task.task_id.to_string(), format::score(task.evoscore));
    view! { {label}" "<a href=href>{id}</a>{format!(" {score}")} }
}

fn table(grouping: &'static Grouping, groups: &[Group]) -> impl IntoView + use<> {
    let floor = floor_of(groups.iter().map(|group| group.evoscore));
    let mut groups: Vec<&Group> = groups
        .iter()
        .filter(|g| (grouping.has)(&g.common))
        .collect();
    // Repositories are sorted best first, sizes from small to large.
    if grouping.id == "by-repository" {
        groups.sort_by(|a, b| b.evoscore.total_cmp(&a.evoscore));
    }
    let (shown, folded) = folded(groups);
    let rows = |groups: Vec<&Group>| {
        let rows = groups.into_iter().map(|group| row(group, floor));
        rows.collect_any()
    };
    let folded = (!folded.is_empty()).then(|| {
        let id = "few-tasks";
        let words = format!("Show {} groups of fewer than {FEW} tasks", folded.len());
        let rows = rows(folded);
        view! {
            <details class="fold">
                <summary id=id>{words}</summary>
                <CardTable class="cards" titled=id heads=heads()>{rows}</CardTable>
            </details>
        }
    });
    let shown = (!shown.is_empty()).then(|| {
        let rows = rows(shown);
        view! { <CardTable class="cards" titled=grouping.id heads=heads()>{rows}</CardTable> }
    });
    view! {
        <div class="strengths-table">
            <h3 id=grouping.id>{grouping.title}</h3>
            <p class="quiet">{grouping.hint}</p>
            {shown}
            {folded}
        </div>
    }
}

fn heads() -> AnyView {
    view! {
        <th role="columnheader" scope="col">"Tasks"</th>
        <th role="columnheader" scope="col" class="number">"Number"</th>
        <th role="columnheader" scope="col">"EvoScore"</th>
        <th role="columnheader" scope="col" class="number">"Solved"</th>
        <th role="columnheader" scope="col" class="number">"Zero regression"</th>
        <th role="columnheader" scope="col" class="number">"ZRR"</th>
    }
    .into_any()
}

/// More small groups than this are folded.
const MOST_SMALL: usize = 6;

/// The groups that are shown at once, and those of few tasks where they are many.
fn folded(groups: Vec<&Group>) -> (Vec<&Group>, Vec<&Group>) {
    let small = groups.iter().filter(|group| group.is_small()).count();
    groups
        .into_iter()
        .partition(|group| small <= MOST_SMALL || !group.is_small())
}

fn row(group: &Group, floor: f64) -> impl IntoView + use<> {
    let few = group.is_small().then(|| {
        view! { <Tag text="few tasks".to_owned() hint="Too few to compare"/> }
    });
    view! {
        <tr role="row" data-few=group.is_small().then_some("")>
            <th role="rowheader" scope="row">{group.common.to_string()}" "{few}</th>
            <td role="cell" class="number" data-label="Number">{format::thousands(group.tasks)}</td>
            <td role="cell" class="col-score" data-label="EvoScore"><Score value=group.evoscore floor interval=Signal::stored(group.evoscore_interval)/></td>
            <td role="cell" class="number" data-label="Solved">{format::share(group.solved_rate)}</td>
            <td role="cell" class="number" data-label="Zero regression">{format::share(group.zero_regression_rate)}</td>
            <td role="cell" class="number" data-label="ZRR">{format::share(group.zrr)}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_groups_are_folded() {
        let group = |tasks| Group {
            common: Common::Repository { name: "r".into() },
            tasks,
            evoscore: 0.5,
            evoscore_interval: None,
            solved_rate: 0.5,
            zero_regression_rate: 0.5,
            zrr: 0.5,
        };
        let check = |sizes: &[u32], expect: (usize, usize)| {
            let groups: Vec<Group> = sizes.iter().copied().map(group).collect();
            let (shown, folded) = folded(groups.iter().collect());
            assert_eq!((shown.len(), folded.len()), expect);
        };
        check(&[3, 1, 2, 5], (4, 0));
        check(&[3, 1, 1, 1, 2, 2, 2, 2, 9], (2, 7));
        check(&[], (0, 0));
    }
}
