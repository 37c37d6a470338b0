//! Many evolutions as one dense table, worst first.

use std::cmp::Reverse;
use std::fmt::Write as _;

use leptos::prelude::*;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_views::view::EvolutionView;

use super::evolution::closed;
use crate::components::CollectAny;
use crate::components::{Choice, Choices, ListTable, Tag};
use crate::pages::routes::{evolution_href, run_href};
use crate::query::Query;
use crate::{format, labels};

const COLUMNS: [&str; 7] = [
    "Task",
    "Passing",
    "Gap closed",
    "Regressions",
    "Collapses",
    "Iterations",
    "Ending",
];

/// The size of a sparkline, in pixels.
const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 20.0;

#[component]
pub(super) fn EvolutionTable(
    evolutions: Vec<EvolutionView>,
    run_id: String,
    /// The name of the only ending that is shown, or state of evolutions that go
    /// on.
    only: Option<String>,
) -> impl IntoView {
    let choices = choices(&evolutions, &run_id, only.as_deref());
    let mut shown = evolutions;
    shown.retain(|evolution| only.as_ref().is_none_or(|only| only == standing(evolution)));
    shown.sort_by_cached_key(badness);
    let rows = shown
        .into_iter()
        .map(|evolution| view! { <Row evolution run_id=run_id.clone()/> });
    let rows = rows.collect_any();
    view! {
        <div class="controls controls-plain"><Choices label="Ending" choices/></div>
        <ListTable caption="Evolutions, worst first" columns=&COLUMNS class="evolution-table">{rows}</ListTable>
    }
}

/// The name of its ending, or of its state while it goes on.
fn standing(evolution: &EvolutionView) -> &'static str {
    evolution
        .ending
        .map_or(evolution.progress.name(), Ending::name)
}

/// A link for each ending there is, with its number.
fn choices(evolutions: &[EvolutionView], run_id: &str, only: Option<&str>) -> Vec<Choice> {
    let mut endings: Vec<(&'static str, &'static str, usize)> = Vec::new();
    for evolution in evolutions {
        let (name, words) = (standing(evolution), labels::standing(evolution).0);
        match endings.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., count)) => *count += 1,
            None => endings.push((name, words, 1)),
        }
    }
    endings.sort_by_key(|(.., count)| Reverse(*count));
    let path = run_href(run_id);
    let choice = |name: Option<&str>, words: &str, count: usize| {
        let href = Query::default().with("show", name).at(&path) + "#evolutions-title";
        let chosen = only == name;
        Choice::new(
            format!("{words} · {count}"),
            "",
            move || href.clone(),
            move || chosen,
        )
    };
    let all = choice(None, "all", evolutions.len());
    let each = endings
        .iter()
        .map(|(name, words, count)| choice(Some(name), words, *count));
    std::iter::once(all).chain(each).collect()
}

/// Orders evolutions: what is at work, then what was not scored, then the smallest
/// part of the gap that is closed, then the most regressions, at last what waits.
fn badness(evolution: &EvolutionView) -> (u8, u32, Reverse<usize>) {
    let group = match evolution.ending {
        None if evolution.progress == Progress::Running => 0,
        Some(ending) if !ending.is_scored() => 1,
        Some(_) => 2,
        None => 3,
    };
    let gap = evolution.suite.gap().max(1);
    let share = f64::from(closed(evolution)) / f64::from(gap);
    (group, (share * 1e6) as u32, Reverse(regressions(evolution)))
}

fn regressions(evolution: &EvolutionView) -> usize {
    let lost = |verdict: Verdict| matches!(verdict, Verdict::Scored { lost, .. } if lost > 0);
    evolution
        .iterations
        .iter()
        .filter(|i| lost(i.verdict))
        .count()
}

fn collapses(evolution: &EvolutionView) -> usize {
    let collapsed = |verdict: Verdict| matches!(verdict, Verdict::Collapsed { .. });
    evolution
        .iterations
        .iter()
        .filter(|i| collapsed(i.verdict))
        .count()
}

#[component]
fn Row(evolution: EvolutionView, run_id: String) -> impl IntoView {
    let (word, tone) = labels::standing(&evolution);
    let step = labels::current_step(&evolution);
    let href = evolution_href(&run_id, evolution.task_id.as_str(), evolution.sample);
    let sample = (evolution.sample > 1).then(|| format!(" · sample {}", evolution.sample));
    let gap = format!("{} / {}", closed(&evolution), evolution.suite.gap());
    let count = |n: usize| {
        if n == 0 {
            "–".to_owned()
        } else {
            format::thousands(n as u64)
        }
    };
    let words = format!(
        "{} of {}",
        format::thousands(evolution.passing()),
        format::thousands(evolution.suite.target)
    );
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><a href=href>{evolution.task_id.to_string()}</a>{sample}</th>
            <td role="cell" data-label=COLUMNS[1] title=words>
                <svg class="sparkline" viewBox=format!("0 0 {WIDTH} {HEIGHT}") width=WIDTH height=HEIGHT aria-hidden="true" focusable="false">
                    <path d=sparkline(&evolution)/>
                </svg>
            </td>
            <td role="cell" class="number" data-label=COLUMNS[2]>{gap}</td>
            <td role="cell" class="number" data-label=COLUMNS[3]>{count(regressions(&evolution))}</td>
            <td role="cell" class="number" data-label=COLUMNS[4]>{count(collapses(&evolution))}</td>
            <td role="cell" class="number" data-label=COLUMNS[5]>{evolution.iterations.len()}</td>
            <td role="cell" data-label=COLUMNS[6]><Tag text=word tone/>{step.map(|step| view! { " "<small>{step}</small> })}</td>
        </tr>
    }
}

/// Target tests that pass, from the base on, as a line from none to all.
fn sparkline(evolution: &EvolutionView) -> String {
    let base = evolution.suite.base_in_target;
    let later = evolution.iterations.iter().map(|i| i.verdict.in_target());
    let most = f64::from(evolution.suite.target.max(1));
    let step = WIDTH / f64::from(evolution.max_iterations.max(1));
    let mut path = String::new();
    for (number, passing) in std::iter::once(base).chain(later).enumerate() {
        let command = if number == 0 { 'M' } else { 'L' };
        let y = 1.0 + (HEIGHT - 2.0) * (1.0 - f64::from(passing) / most);
        // Writing to a string cannot fail.
        let _ = write!(path, "{command}{:.1} {y:.1}", number as f64 * step);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::{evolution, scored};

    #[test]
    fn the_worst_comes_first() {
        let ended = |ending, passes| {
            let mut seen = evolution(&[scored(passes, 0)]);
            seen.ending = ending;
            badness(&seen)
        };
        let at = |progress| {
            let mut seen = evolution(&[scored(12, 0)]);
            (seen.ending, seen.progress) = (None, progress);
            badness(&seen)
        };
        let order = [
            at(Progress::Running),
            ended(Some(Ending::Blocked), 12),
            ended(Some(Ending::IterationsSpent), 10),
            ended(Some(Ending::Solved), 12),
            at(Progress::Queued),
        ];
        assert!(order.is_sorted(), "{order:?}");
        let mut lossy = evolution(&[scored(10, 2)]);
        lossy.ending = Some(Ending::IterationsSpent);
        assert!(badness(&lossy) < order[2]);
    }

    #[test]
    fn a_line_starts_on_the_base() {
        let seen = evolution(&[scored(12, 0)]);
        let line = sparkline(&seen);
        assert!(
            line.starts_with('M') && line.matches('L').count() == 1,
            "{line}"
        );
    }
}
