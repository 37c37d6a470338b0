use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::SAME;
use swe_ci_views::leaderboard::{SharedResult, SharedTask};

use super::names::{Letter, Name};
use super::on_task::on_task_href;
use super::query::CompareQuery;
use crate::components::CollectAny;
use crate::components::PlainTable;
use crate::format;
use crate::pages::routes::{COURSE, evolution_href, task_href};

/// Every shared task with the result of each run.
#[component]
pub(super) fn Tasks(
    tasks: Vec<SharedTask>,
    names: Vec<Name>,
    #[prop(into)] query: Signal<CompareQuery>,
) -> impl IntoView {
    let two = names.len() == 2;
    let order = if two {
        let (first, second) = (names[0].in_words(), names[1].in_words());
        format!("Where {first} is furthest ahead comes first, where {second} is, last.")
    } else {
        "Where the runs lie furthest apart comes first.".to_owned()
    };
    let head = |name: &Name| {
        view! {
            <th scope="col" class="number" title=name.model.clone()>
                <Letter letter=name.letter series=name.series/>
                <span class="task-model">{name.model.clone()}</span>
            </th>
        }
    };
    let heads = names.iter().map(head).collect_any();
    let widest = tasks.iter().map(|t| t.spread).fold(SAME, f64::max);
    let row = |task| view! { <TaskRow task names=names.clone() widest query/> };
    let rows = tasks.into_iter().map(row).collect_any();
    let last = if two { "Difference" } else { "Apart by" };
    let heads =
        view! { <th scope="col">"Task"</th>{heads}<th scope="col" class="number">{last}</th> };
    let heads = heads.into_any();
    view! {
        <section aria-labelledby="tasks-title">
            <h2 id="tasks-title">"Task by task"</h2>
            <p class="quiet">
                {order}
                " Beside a score: "
                <span class="turns">"iterations used"</span>
                ", ✓ solved, ▼ iterations that broke something. A score links to the run's evolution of the task."
            </p>
            <PlainTable class="versus-tasks" caption="Shared tasks" heads>{rows}</PlainTable>
        </section>
    }
}

#[component]
fn TaskRow(
    task: SharedTask,
    names: Vec<Name>,
    /// The largest spread of all tasks.
    widest: f64,
    query: Signal<CompareQuery>,
) -> impl IntoView {
    let id = task.task_id.to_string();
    let chosen_id = StoredValue::new(Some(id.clone()));
    let href = move || {
        let mut query = query.get();
        query.task = chosen_id.get_value();
        format!("{}#{COURSE}", query.href())
    };
    let is_chosen = move || query.with(|a| chosen_id.with_value(|id| a.task == *id));
    let chosen = move || is_chosen().then_some("true");
    let both = (names.len() == 2).then(|| {
        let (id, label) = (id.clone(), format!("side by side on {id}"));
        let href = move || query.with(|query| on_task_href(&id, query));
        view! { " · "<a href=href aria-label=label>"side by side"</a> }
    });
    let best = task.results.iter().map(|r| r.evoscore).fold(-1.0, f64::max);
    let cells = names.iter().zip(&task.results).map(|(name, result)| {
        let best = result.evoscore >= best - SAME && task.spread > SAME;
        let href = evolution_href(&name.run_id, &id, 1);
        view! { <ResultCell result=*result href best/> }
    });
    let cells = cells.collect_any();
    let apart = if names.len() == 2 {
        let difference = task.difference();
        let series = names[usize::from(difference < 0.0)].series;
        Either::Left(view! {
            <td class="number apart">{format::signed(difference, 3)}<Lean difference widest series/></td>
        })
    } else {
        Either::Right(view! { <td class="number apart">{format::score(task.spread)}</td> })
    };
    view! {
        <tr aria-current=chosen>
            <th scope="row" class="col-model">
                <a href=task_href(&id)>{id.clone()}</a>
                <small>{task.repo}" · "<a class="task-curves" href=href>"curves"</a>{both}</small>
            </th>
            {cells}
            {apart}
        </tr>
    }
}

#[component]
fn ResultCell(
    result: SharedResult,
    href: String,
    /// Whether no other run scores higher.
    best: bool,
) -> impl IntoView {
    let broke = (result.regressions > 0.0).then(|| {
        view! {
            <span class="bad">
                <span class="visually-hidden">"; iterations that broke something: "</span>
                <span aria-hidden="true">"▼"</span>
                {format::few(result.regressions)}
            </span>
        }
    });
    view! {
        <td class="number">
            <a href=href class:strong=best>{format::score(result.evoscore)}</a>
            <small>
                {format::few(result.turns)}
                <span class="visually-hidden">" iterations"</span>
                {solved(result.solved).map(|text| view! {
                    <span class="good">{text}<span class="visually-hidden">" solved"</span></span>
                })}
                {broke}
            </small>
        </td>
    }
}

/// "✓", or the share of samples if only some are solved.
fn solved(share: f64) -> Option<String> {
    match share {
        ..=0.0 => None,
        1.0.. => Some("✓".to_owned()),
        _ => Some(format!("✓{}", format::share(share))),
    }
}

/// A bar to the right where the first run leads, to the left where the second
/// does.
#[component]
fn Lean(
    difference: f64,
    widest: f64,
    /// The colour of the run that leads.
    series: Option<usize>,
) -> impl IntoView {
    let (x, width) = lean(difference, widest);
    view! {
        <svg class="lean" width="72" height="6" viewBox="0 0 72 6" aria-hidden="true" focusable="false">
            <rect class="balance-run" data-series=series x=x width=width height="6"/>
            <line x1="36" x2="36" y1="0" y2="6"/>
        </svg>
    }
}

fn lean(difference: f64, widest: f64) -> (String, String) {
    let length = difference.abs() / widest * 35.0;
    let start = 36.0 - if difference < 0.0 { length } else { 0.0 };
    (format!("{start:.1}"), format!("{length:.1}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_lean_to_whoever_is_ahead() {
        let check = |difference, text: &str, x: &str, width: &str| {
            assert_eq!(format::signed(difference, 3), text);
            assert_eq!(lean(difference, 0.5), (x.to_owned(), width.to_owned()));
        };
        check(0.5, "+0.500", "36.0", "35.0");
        check(-0.25, "\u{2212}0.250", "18.5", "17.5");
        check(0.0, "0.000", "36.0", "0.0");
        check(0.0001, "0.000", "36.0", "0.0");
    }

    #[test]
    fn means_over_samples() {
        let check = |value, expect: &str| assert_eq!(format::few(value), expect);
        check(3.0, "3");
        check(2.5, "2.5");
        check(20.0, "20");
        assert_eq!(solved(0.0), None);
        assert_eq!(solved(1.0).as_deref(), Some("✓"));
        assert_eq!(solved(0.5).as_deref(), Some("✓0.50"));
    }
}
