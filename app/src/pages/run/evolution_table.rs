//! Many evolutions as one dense table, worst first.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use leptos::prelude::*;
use swe_ci_core::run::Progress;
use swe_ci_core::step::Ending;
use swe_ci_core::text::visible;
use swe_ci_views::view::EvolutionView;

use super::evolution::{closed, score, standing};
use crate::components::CollectAny;
use crate::components::{Choice, Choices, ListTable};
use crate::pages::routes::{evolution_href, run_href};
use crate::query::Query;
use crate::{format, labels};

/// Only runs with prices have the last one.
static COLUMNS: [&str; 8] = [
    "Task",
    "EvoScore",
    "Passing",
    "Gap closed",
    "Lost, ever",
    "Iterations",
    "Ended because",
    "Cost",
];

/// The most characters of a reason.
const LONGEST_REASON: usize = 120;

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
    /// Millionths of a US dollar by evolution, where they are known.
    costs: HashMap<String, u64>,
) -> impl IntoView {
    let choices = choices(&evolutions, &run_id, only.as_deref());
    let mut shown = evolutions;
    shown.retain(|evolution| {
        only.as_ref()
            .is_none_or(|only| only == standing_name(evolution))
    });
    shown.sort_by_cached_key(badness);
    let columns = &COLUMNS[..COLUMNS.len() - usize::from(costs.is_empty())];
    let row = |evolution: EvolutionView| {
        let cost = costs.get(&evolution.evolution_id);
        let cost = (!costs.is_empty()).then(|| format::or_dash(cost.copied().map(format::dollars)));
        view! { <Row evolution run_id=run_id.clone() cost/> }
    };
    let rows = shown.into_iter().map(row).collect_any();
    view! {
        <div class="controls controls-plain"><Choices label="Ending" choices/></div>
        <p class="quiet">"A ring on a line marks an iteration that lost tests."</p>
        <ListTable caption="Evolutions, worst first" columns class="evolution-table">{rows}</ListTable>
    }
}

/// The name of its ending, or of its state while it goes on.
fn standing_name(evolution: &EvolutionView) -> &'static str {
    evolution
        .ending
        .map_or(evolution.progress.name(), Ending::name)
}

/// A link for each ending there is, with its number.
fn choices(evolutions: &[EvolutionView], run_id: &str, only: Option<&str>) -> Vec<Choice> {
    let mut endings: Vec<(&'static str, &'static str, usize)> = Vec::new();
    for evolution in evolutions {
        let (name, words) = (standing_name(evolution), labels::standing(evolution).0);
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

/// Orders evolutions: what is at work, then what was not scored, then the lowest
/// score, then the most losses, at last what waits.
fn badness(evolution: &EvolutionView) -> (u8, i32, Reverse<u32>) {
    let group = match evolution.ending {
        None if evolution.progress == Progress::Running => 0,
        Some(ending) if !ending.is_scored() => 1,
        Some(_) => 2,
        None => 3,
    };
    let score = score(evolution).map_or(0, |score| (score * 1e6) as i32);
    (group, score, Reverse(lost(evolution)))
}

/// Losses of all iterations: a test that is lost again counts again.
fn lost(evolution: &EvolutionView) -> u32 {
    evolution.iterations.iter().map(|i| i.verdict.lost()).sum()
}

/// Why it did not end solved, as far as that is recorded.
fn because(evolution: &EvolutionView) -> Option<String> {
    if evolution
        .ending
        .is_none_or(|ending| ending == Ending::Solved)
    {
        return None;
    }
    // It ended otherwise if it went on after a collapse.
    let collapse = || {
        let last = evolution.iterations.last()?;
        let why = last.collapse.as_ref()?;
        Some(format!("collapsed in iteration {}: {why}", last.iteration))
    };
    let text = evolution.reason.clone().or_else(collapse)?;
    let first = text.lines().next().unwrap_or_default();
    Some(format::clip(&visible(first), LONGEST_REASON))
}

#[component]
fn Row(
    evolution: EvolutionView,
    run_id: String,
    /// Absent without a column for it.
    cost: Option<String>,
) -> impl IntoView {
    let because = labels::current_step(&evolution).or_else(|| because(&evolution));
    let href = evolution_href(&run_id, evolution.task_id.as_str(), evolution.sample);
    let sample = (evolution.sample > 1).then(|| format!(" · sample {}", evolution.sample));
    let scored = match (score(&evolution), evolution.ending) {
        (Some(score), _) => format::score(score),
        (None, Some(ending)) if !ending.is_scored() => "not scored".to_owned(),
        (None, _) => "–".to_owned(),
    };
    let gap = match evolution.suite.target {
        0 => "–".to_owned(),
        _ => format!("{} / {}", closed(&evolution), evolution.suite.gap()),
    };
    let losses: Vec<String> = evolution
        .iterations
        .iter()
        .filter(|i| i.verdict.lost() > 0)
        .map(|i| format!("; lost {} in iteration {}", i.verdict.lost(), i.iteration))
        .collect();
    let words = format!(
        "{} of {}{}",
        format::thousands(evolution.passing()),
        format::thousands(evolution.suite.target),
        losses.concat()
    );
    let points = sparkline(&evolution);
    let ring =
        |p: &Point| view! { <circle cx=format!("{:.1}", p.x) cy=format!("{:.1}", p.y) r="2.5"/> };
    let rings = points.iter().filter(|p| p.lost).map(ring).collect_any();
    let cost = cost.map(|cost| {
        view! { <td role="cell" class="number" data-label=COLUMNS[7]>{cost}</td> }
    });
    view! {
        <tr role="row">
            <th role="rowheader" scope="row"><a href=href>{evolution.task_id.to_string()}</a>{sample}</th>
            <td role="cell" class="number" data-label=COLUMNS[1]>{scored}</td>
            <td role="cell" data-label=COLUMNS[2] title=words>
                <svg class="sparkline" viewBox=format!("0 0 {WIDTH} {HEIGHT}") width=WIDTH height=HEIGHT aria-hidden="true" focusable="false">
                    <path d=path(&points)/>
                    {rings}
                </svg>
            </td>
            <td role="cell" class="number" data-label=COLUMNS[3]>{gap}</td>
            <td role="cell" class="number" data-label=COLUMNS[4]>{format::thousands(lost(&evolution))}</td>
            <td role="cell" class="number" data-label=COLUMNS[5]>{evolution.iterations.len()}</td>
            <td role="cell" class="because" data-label=COLUMNS[6]>{standing(&evolution)}{because.map(|why| view! { " "<small>{why}</small> })}</td>
            {cost}
        </tr>
    }
}

struct Point {
    x: f64,
    y: f64,
    /// Tests that passed before do not here.
    lost: bool,
}

/// Target tests that pass, from the base on, between none and all.
fn sparkline(evolution: &EvolutionView) -> Vec<Point> {
    let later = evolution.iterations.iter().map(|i| i.verdict);
    let later = later.map(|verdict| (verdict.in_target(), verdict.lost() > 0));
    let most = f64::from(evolution.suite.target.max(1));
    let step = WIDTH / f64::from(evolution.max_iterations.max(1));
    let all = std::iter::once((evolution.suite.base_in_target, false)).chain(later);
    let point = |(number, (passing, lost))| Point {
        x: f64::from(number) * step,
        y: 1.0 + (HEIGHT - 2.0) * (1.0 - f64::from(passing) / most),
        lost,
    };
    (0u32..).zip(all).map(point).collect()
}

fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (number, Point { x, y, .. }) in points.iter().enumerate() {
        let command = if number == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{command}{x:.1} {y:.1}");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::Verdict;
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
    fn a_line_starts_on_the_base_and_marks_losses() {
        let points = sparkline(&evolution(&[scored(12, 0), scored(11, 1)]));
        let line = path(&points);
        assert!(
            line.starts_with('M') && line.matches('L').count() == 2,
            "{line}"
        );
        let lost: Vec<bool> = points.iter().map(|point| point.lost).collect();
        assert_eq!(lost, [false, false, true]);
    }

    #[test]
    fn why_it_ended() {
        let mut seen = evolution(&[Verdict::Collapsed { lost: 12 }, scored(10, 0)]);
        seen.iterations[0].collapse = Some("SyntaxError in api.py\nline 88".into());
        let check = |seen: &EvolutionView, expect: Option<&str>| {
            assert_eq!(because(seen).as_deref(), expect);
        };
        check(&seen, None);
        seen.ending = Some(Ending::Solved);
        check(&seen, None);
        seen.ending = Some(Ending::IterationsSpent);
        check(&seen, None);
        let recovered = seen.iterations.pop();
        let collapse = Some("collapsed in iteration 1: SyntaxError in api.py");
        check(&seen, collapse);
        seen.iterations.extend(recovered);
        seen.reason = Some("exit code 3".into());
        check(&seen, Some("exit code 3"));
        assert_eq!(lost(&seen), 12);
    }
}
