//! The form that selects runs; works without a script.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::{Alike, Row, Same, alike};

use super::data::Comparable;
use super::query::CompareQuery;
use crate::components::CollectAny;
use crate::components::split_choices;
use crate::components::{Choices, Empty, GammaField, HiddenFields, PageTop, SnapshotNote, Tag};
use crate::error::AppError;
use crate::pages::result_table::{ArmTag, KindTag, ModeTag, UnrankedTag};
use crate::pages::routes::compare_href;
use crate::query::Query;
use crate::{format, labels};

#[component]
pub(super) fn Choose(
    choice: Comparable,
    ticked: Vec<String>,
    refused: Option<AppError>,
    #[prop(into)] query: Signal<CompareQuery>,
) -> impl IntoView {
    let Comparable {
        rows,
        split,
        splits,
        snapshot,
    } = choice;
    let several = splits.len() > 1;
    let day = snapshot.as_ref().map(|of| of.day.clone());
    let (at, kept) = (day.clone(), day.clone());
    let choices = split_choices(&splits, &split, move |split| {
        compare_href(split, at.as_deref())
    });
    let now = compare_href(&split, None);
    let counts_only = rows.iter().filter(|row| row.counts_only);
    let counts_only: Vec<String> = counts_only.map(|row| row.run_id.clone()).collect();
    let by_counts = counts_only.iter().any(|id| ticked.contains(id));
    let groups = alike(&rows);
    let body = match rows.len() {
        n @ 0..2 => Either::Left(view! { <TooFew rows=n split/> }),
        _ => Either::Right(
            view! { <Form rows ticked query day=kept/><ReadyMade groups counts_only day/> },
        ),
    };
    view! {
        <PageTop
            title="Compare runs"
            description="Two to six runs of one split side by side, task by task, with how sure one can be of their differences."
            lede="Two to six runs of one split side by side: which is ahead, on which tasks, and how likely that is chance."
        />
        <SnapshotNote snapshot now/>
        {refused.map(|error| view! { <Refused error by_counts query/> })}
        {several.then(|| view! { <div class="controls controls-plain"><Choices label="Split" choices/></div> })}
        {body}
    }
}

/// Why there is no comparison, above the form to correct the selection.
#[component]
fn Refused(
    error: AppError,
    /// Whether a requested run has no score in the paper's convention.
    by_counts: bool,
    query: Signal<CompareQuery>,
) -> impl IntoView {
    let reference = move || {
        let query = query.get();
        (by_counts && query.convention == Convention::Paper).then(|| {
            let href = query.counted(Convention::Reference).href();
            view! { " "<a href=href>"Compare these in the reference convention"</a> }
        })
    };
    view! {
        <div class="note" data-tone="warn" role="alert">
            <h2>"These runs are not compared"</h2>
            <p>{error.message}</p>
            <p>"Choose others below."{reference}</p>
        </div>
    }
}

#[component]
fn TooFew(rows: usize, split: String) -> impl IntoView {
    let title = match (split.is_empty(), rows) {
        (true, _) => "No tasks yet".to_owned(),
        (false, 0) => format!("No results on {split} yet"),
        (false, _) => format!("Only one run has a score on {split}"),
    };
    view! {
        <Empty title>
            <p>
                "A comparison takes two runs of one split with at least one scored task each. "
                <a href="/runs">"See what is running"</a>
            </p>
        </Empty>
    }
}

#[component]
fn Form(
    rows: Vec<Row>,
    ticked: Vec<String>,
    query: Signal<CompareQuery>,
    /// Of the chosen snapshot.
    day: Option<String>,
) -> impl IntoView {
    let (gamma, convention) = query.with_untracked(|a| (a.gamma, a.convention));
    let kept = day.map(|day| ("snapshot", day)).into_iter().collect();
    // Runs with counts only have no score in the paper's convention.
    let counts_only = rows.iter().any(|row| row.counts_only);
    let reference = convention == Convention::Reference || rows.iter().all(|r| r.counts_only);
    let option = |value: Convention, chosen: bool| {
        view! { <option value=value.name() selected=chosen>{value.name()}</option> }
    };
    let item = |row: Row| {
        let checked = ticked.contains(&row.run_id);
        view! { <RunItem row checked/> }
    };
    let items = rows.into_iter().map(item).collect_any();
    view! {
        <form class="choose" method="get" action="/compare">
            <HiddenFields fields=kept/>
            <fieldset>
                <legend>"Tick 2 to 6 runs"</legend>
                <ul class="choose-runs">{items}</ul>
            </fieldset>
            <div class="choose-how">
                <label>
                    "Counting "
                    <select name="convention">
                        {option(Convention::Paper, !reference)}
                        {option(Convention::Reference, reference)}
                    </select>
                </label>
                <GammaField gamma/>
                <button class="button button-main">"Compare"</button>
            </div>
            {counts_only.then(|| view! {
                <p class="footnote">
                    "For runs marked counts only, nobody knows which tests passed: they are compared in the reference convention only."
                </p>
            })}
        </form>
    }
}

/// Links to comparisons of runs that differ in one thing.
#[component]
fn ReadyMade(
    groups: Vec<Alike>,
    /// The runs without a score in the paper's convention.
    counts_only: Vec<String>,
    /// Of the chosen snapshot.
    day: Option<String>,
) -> impl IntoView {
    let snapshot = Query::default()
        .with("snapshot", day)
        .0
        .replacen('?', "&", 1);
    let item = |Alike { same, run_ids }: Alike| {
        let convention = match run_ids.iter().any(|id| counts_only.contains(id)) {
            true => "&convention=reference",
            false => "",
        };
        let href = format!("/compare?runs={}{convention}{snapshot}", run_ids.join(","));
        let (name, across) = match same {
            Same::Model(model) => (model, format!("in {} harnesses", run_ids.len())),
            Same::Harness(harness) => (harness, format!("with {} models", run_ids.len())),
        };
        view! { <li><a href=href>{name}</a>" "{across}</li> }
    };
    (!groups.is_empty()).then(|| view! {
        <section aria-labelledby="alike-title">
            <h2 id="alike-title">"Runs that differ in one thing"</h2>
            <p class="quiet">"One model across harnesses, or one harness across models: the best run of each, at most six."</p>
            <ul>{groups.into_iter().map(item).collect_any()}</ul>
        </section>
    })
}

#[component]
fn RunItem(row: Row, checked: bool) -> impl IntoView {
    let counts_only = row.counts_only;
    let counts_only = counts_only.then(|| view! { <Tag text="counts only".to_owned()/> });
    view! {
        <li>
            <label>
                <input type="checkbox" name="runs" value=row.run_id checked=checked/>
                <span class="choose-name">
                    <strong>{row.model.clone()}</strong>
                    <span class="tags"><KindTag kind=row.kind/><ModeTag mode=row.mode/><ArmTag arm=row.arm/>{counts_only}<UnrankedTag unranked=row.unranked/></span>
                    <small>
                        {labels::origin(&row.harness, &row.provider)}
                        {format!(" · {} scored", format::count(row.tasks, "task"))}
                    </small>
                </span>
            </label>
        </li>
    }
}
