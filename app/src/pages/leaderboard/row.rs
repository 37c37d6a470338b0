use std::ops::Range;
use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_core::metrics::METRIC_VERSION;
use swe_ci_core::run::Progress;
use swe_ci_plots::{Curves, SERIES_COLOURS};
use swe_ci_views::leaderboard::{Columns, Intervals, Row};

use super::cells::{Cell, RankCell};
use super::tie_mark::{Place, Places};
use crate::components::{Tag, Tone};
use crate::labels;
use crate::pages::routes::run_href;

#[component]
pub(super) fn RankedRow(
    /// The row when it appeared; its figures are looked up as they change.
    place: Place,
    places: Memo<Places>,
    /// The positions that are kept up to date.
    visible: Memo<Range<usize>>,
    columns: Memo<Columns>,
    curves: Memo<Curves>,
    floor: Signal<f64>,
) -> impl IntoView {
    let row = place.row.clone();
    let place = Memo::new(move |last: Option<&Place>| {
        let now =
            visible.with(|visible| places.with(|p| p.find(&place.row.run_id, visible).cloned()));
        now.unwrap_or_else(|| last.unwrap_or(&place).clone())
    });
    let current = Memo::new(move |_| place.with(|p| p.row.clone()));
    let tie = Memo::new(move |_| place.with(|p| p.tie));
    let still = still(current);
    let series = curves.with_untracked(|curves| {
        let curve = curves.iter().find(|c| c.run_id == row.run_id);
        curve.map_or(0, |c| c.series % SERIES_COLOURS)
    });
    let cells = move || {
        let cell = |column| view! { <Cell column current still floor/> };
        columns.get().shown().map(cell).collect_view()
    };
    view! {
        <tr role="row" data-series=series + 1 data-tie=move || tie.get().name()>
            <RankCell current tie/>
            <th role="rowheader" scope="row" class="col-model">
                <a href=run_href(&row.run_id)>{row.model.clone()}</a>
                <RowTags still/>
                <small>{origin(&row)}</small>
            </th>
            {cells}
        </tr>
    }
}

/// The parts of the row that do not depend on γ, so that most cells rest while
/// the slider moves. It keeps the previous intervals: while they are not
/// recomputed, those that do not depend on γ still hold.
fn still(current: Memo<Arc<Row>>) -> Memo<Arc<Row>> {
    Memo::new_with_compare(
        move |_| current.get(),
        |before, now| match (before, now) {
            (Some(before), Some(now)) => !moved_by_gamma_alone(before, now),
            (before, now) => before.is_some() != now.is_some(),
        },
    )
}

fn moved_by_gamma_alone(before: &Row, now: &Row) -> bool {
    let intervals = match (now.intervals, before.intervals) {
        (Some(now), Some(before)) => Some(Intervals {
            evoscore: before.evoscore,
            rank: before.rank,
            ..now
        }),
        // None while they are not recomputed.
        (None, before) => before,
        (now, None) => now,
    };
    let as_before = Row {
        rank: before.rank,
        tie_group: before.tie_group,
        evoscore: before.evoscore,
        intervals,
        ..now.clone()
    };
    as_before == *before
}

/// "replay · acme · released 2026-01-31".
fn origin(row: &Row) -> String {
    let origin = labels::origin(&row.harness, &row.provider);
    match &row.release_date {
        Some(day) => format!("{origin} · released {day}"),
        None => origin,
    }
}

#[component]
fn RowTags(still: Memo<Arc<Row>>) -> impl IntoView {
    let tags = move || {
        let tags = still.with(|row| tags(row, METRIC_VERSION));
        let tag = |(text, tone, hint)| view! { <Tag text tone hint/> };
        tags.into_iter().map(tag).collect_view()
    };
    view! { <span class="tags">{tags}</span> }
}

/// Caveats about a row, each with its explanation.
fn tags(row: &Row, now: u32) -> Vec<(String, Tone, String)> {
    let mut tags = Vec::new();
    let mut add = |text: &str, tone, hint: &str| tags.push((text.into(), tone, hint.into()));
    if let Some((word, hint, tone)) = labels::kind(row.kind) {
        add(word, tone, hint);
    }
    if let Some(mark) = row.mark {
        let (word, tone) = labels::mark(mark);
        add(word.name(), tone, word.definition());
    }
    if row.counts_only {
        add(
            "counts only",
            Tone::Plain,
            "The results say how many tests passed, but not which: there is no score in the paper's convention",
        );
    }
    if row.metric_version < now {
        let hint = format!(
            "Scored by version {} of the metric definitions, now {now}; `swe-ci rescore` updates it",
            row.metric_version
        );
        add("older metric", Tone::Warn, &hint);
    }
    match row.progress {
        Progress::Queued | Progress::Running => add(
            &format!("running · {} of {} tasks", row.tasks, row.tasks_total),
            Tone::Live,
            "The figures will change",
        ),
        Progress::Cancelled => add(
            "cancelled",
            Tone::Plain,
            "Scored on the tasks that had ended by then",
        ),
        Progress::Finished => {}
    }
    if row.tasks_blocked > 0 {
        add(
            &format!("{} blocked", row.tasks_blocked),
            Tone::Warn,
            "Not scored: platform or provider failed, or the run's budget was spent",
        );
    }
    tags
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_core::run::Kind;
    use swe_ci_plots::fixture::sheet;
    use swe_ci_views::verification::Mark;

    #[test]
    fn what_must_be_known_of_a_row() {
        let row = sheet(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
        let check = |change: fn(&mut Row), expect: &[&str]| {
            let mut row = row.clone();
            change(&mut row);
            let seen = tags(&row, 2);
            let words: Vec<&str> = seen.iter().map(|(word, ..)| word.as_str()).collect();
            assert_eq!(words, expect);
        };
        check(|r| r.metric_version = 2, &[]);
        check(|_| (), &["older metric"]);
        check(
            |r| (r.kind, r.counts_only) = (Kind::Imported, true),
            &["imported", "counts only", "older metric"],
        );
        check(
            |r| (r.mark, r.metric_version) = (Some(Mark::SelfReported), 2),
            &["self-reported"],
        );
        check(
            |r| (r.progress, r.tasks_blocked, r.metric_version) = (Progress::Running, 3, 2),
            &["running · 1 of 1 tasks", "3 blocked"],
        );
        assert!(tags(&row, 2)[0].2.contains("swe-ci rescore"));
    }

    #[test]
    fn what_gamma_moves() {
        let sheet = swe_ci_plots::fixture::sheet_of(&[("m", vec![&[0.5, 1.0], &[0.0, 0.5]])]);
        let judge = swe_ci_views::leaderboard::UncertaintyModel::new(&sheet);
        let at = |gamma| {
            let gamma = Gamma::new(gamma).unwrap();
            judge.rank(&sheet, gamma, Convention::Paper)[0].clone()
        };
        let (before, moved) = (at(1.0), at(2.0));
        assert_ne!(before, moved);
        assert!(before.intervals.is_some());
        assert!(moved_by_gamma_alone(&before, &moved));
        let check = |change: fn(&mut Row), expect: bool| {
            let mut now = moved.clone();
            change(&mut now);
            assert_eq!(moved_by_gamma_alone(&before, &now), expect);
        };
        check(|r| r.intervals = None, true);
        check(|r| r.rank += 1, true);
        check(|r| r.solved_rate += 0.5, false);
        check(|r| r.tasks += 1, false);
        check(|r| r.progress = Progress::Cancelled, false);
        check(
            |r| r.intervals.as_mut().unwrap().solved_rate.low = -1.0,
            false,
        );
        // New intervals appear.
        let mut bare = before.clone();
        bare.intervals = None;
        assert!(!moved_by_gamma_alone(&bare, &moved));
    }

    #[test]
    fn where_a_row_comes_from() {
        let mut row = sheet(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
        assert_eq!(origin(&row), "replay");
        row.provider = "acme".into();
        row.release_date = Some("2026-01-31".into());
        assert_eq!(origin(&row), "replay · acme · released 2026-01-31");
    }
}
