use leptos::prelude::*;
use swe_ci_core::metrics::METRIC_VERSION;
use swe_ci_core::run::Progress;
use swe_ci_plots::RunLook;
use swe_ci_views::leaderboard::{Columns, Row};

use super::cells::{Cell, RankCell};
use super::compare::COMPARE;
use super::places::Place;
use crate::components::CollectAny;
use crate::components::{Tag, Tone};
use crate::labels;
use crate::pages::routes::run_href;

#[component]
pub(super) fn RankedRow(
    place: Place,
    columns: Columns,
    /// How the run looks in the chart.
    look: Option<RunLook>,
    floor: f64,
    /// Words of tags that a sentence above says of all rows.
    said: Vec<String>,
    open: bool,
    /// The address of the page with this row open, or closed again.
    toggle: String,
) -> impl IntoView {
    let Place { row, next, .. } = place;
    let cells = columns
        .shown()
        .map(|column| view! { <Cell column row=row.clone() next floor/> });
    let cells = cells.collect_any();
    let mut tags = tags(&row, METRIC_VERSION);
    tags.retain(|(text, ..)| !said.contains(text));
    let tags = tags.into_iter().map(tag).collect_any();
    let tick = format!("Compare {}", row.model);
    let dot = look.filter(|look| look.coloured).map(|look| {
        let (path, is_filled) = look.path(5);
        view! { <svg class="run-dot" class:is-filled=is_filled viewBox="-8 -8 16 16" aria-hidden="true" focusable="false"><path d=path/></svg> }
    });
    view! {
        <tr
            role="row"
            id=format!("row-{}", row.run_id)
            data-run=row.run_id.clone()
            data-series=look.and_then(RunLook::colour)
            data-line=look.map(|look| look.number)
        >
            <RankCell row=row.clone() open toggle/>
            <th role="rowheader" scope="row" class="col-model">
                <input class="pick" type="checkbox" name="runs" value=row.run_id.clone() form=COMPARE aria-label=tick/>
                {dot}
                <a href=run_href(&row.run_id)>{row.model.clone()}</a>
                <span class="tags">{tags}</span>
                <small>{labels::origin(&row.harness, &row.provider)}</small>
            </th>
            {cells}
        </tr>
    }
}

/// Text, tone and explanation of a tag.
pub(super) type RowTag = (String, Tone, String);

pub(super) fn tag((text, tone, hint): RowTag) -> impl IntoView {
    view! { <Tag text tone hint/> }
}

/// The tags that all of these rows have; few rows each have their own.
pub(super) fn common_tags(places: &[Place]) -> Vec<RowTag> {
    const FEW: usize = 3;
    let mut rows = places.iter().map(|place| tags(&place.row, METRIC_VERSION));
    let mut common = rows.next().unwrap_or_default();
    for tags in rows {
        common.retain(|(text, ..)| tags.iter().any(|(other, ..)| other == text));
    }
    if places.len() < FEW {
        common.clear();
    }
    common
}

/// Caveats about a row, each with its explanation.
fn tags(row: &Row, now: u32) -> Vec<RowTag> {
    let mut tags = Vec::new();
    let mut add = |text: &str, tone, hint: &str| tags.push((text.into(), tone, hint.into()));
    if let Some((word, hint, tone)) = labels::kind(row.kind) {
        add(word, tone, hint);
    }
    if let Some(arm) = &row.arm {
        add(arm, Tone::Plain, labels::ARM);
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
            "Scored by version {} of the metric definitions, now {now}; “swe-ci rescore” updates it",
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
    use swe_ci_plots::fixture::leaderboard;
    use swe_ci_views::verification::Mark;

    #[test]
    fn what_must_be_known_of_a_row() {
        let row = leaderboard(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
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
    fn tags_of_all_rows_are_said_once() {
        let leaderboard = leaderboard(&[("a", &[0.5]), ("b", &[0.4]), ("c", &[0.3])]);
        let mut rows = leaderboard.rank(Gamma::ONE, Convention::Paper);
        for row in &mut rows {
            (row.kind, row.metric_version) = (Kind::Imported, METRIC_VERSION);
        }
        rows[1].tasks_blocked = 2;
        let common = |rows: &[Row]| -> Vec<String> {
            let places = super::super::places::places(rows, &Default::default());
            common_tags(&places)
                .into_iter()
                .map(|(text, ..)| text)
                .collect()
        };
        assert_eq!(common(&rows), ["imported"]);
        assert!(common(&rows[..2]).is_empty());
        rows[2].kind = Kind::Measured;
        assert!(common(&rows).is_empty());
    }
}
