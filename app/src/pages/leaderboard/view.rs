use leptos::either::Either;
use leptos::prelude::*;

use super::chart::GammaChart;
use super::controls::{Controls, weight_words};
use super::data::Board;
use super::filters::Filters;
use super::looking::{Looking, Step};
use super::notes::{Announcer, Certainty, OnlyUnseen, Reader, Unranked};
use super::ranks::Ranks;
use super::table::Ranking;
use super::take::{Cite, Shown};
use super::tie::Places;
use crate::components::{NoRuns, NoTasks, Problem};
use crate::query::Reading;

/// The board of one split; what is derived from its rows is derived here,
/// once, and shared by table and chart.
#[component]
pub fn BoardView(
    board: Board,
    /// What the address says.
    #[prop(into)]
    reading: Signal<Reading>,
    /// Writes a reading into the address.
    go: Callback<(Reading, Step)>,
) -> impl IntoView {
    let looking = Looking::new(reading, go);
    let Ranks {
        rows,
        scene,
        failed,
    } = Ranks::new(&board, looking);
    let Board {
        splits,
        split,
        published,
        runs,
        most_iterations,
        today,
        ..
    } = board;
    let (any_runs, any_published) = (runs > 0, !published.rows.is_empty());
    let summary = splits.iter().find(|s| s.name == split).cloned();
    let tasks = summary.as_ref().map_or(0, |s| s.tasks);
    let places = Memo::new(move |_| {
        let view = looking.get().view;
        rows.with(|rows| Places::of(rows, &view))
    });
    let curves = Memo::new(move |_| scene.with(|scene| scene.curves.clone()));
    let weights = Signal::derive(move || weight_words(looking.gamma.get(), most_iterations));
    let name = StoredValue::new(split);
    let head = if splits.is_empty() {
        Either::Left(
            view! { <NoTasks will="Here runs will be ranked by how well their agents maintain code."/> },
        )
    } else {
        let below = if any_runs {
            Either::Left(view! {
                {view! { <Filters rows looking/> }.into_any()}
                <Shown rows places looking split=name.get_value()/>
            })
        } else {
            Either::Right(
                view! { <NoRuns split=name.get_value() will="Runs appear here as soon as their first task is scored."/> },
            )
        };
        Either::Right(view! {
            {view! { <Controls splits split=name.get_value() any_published looking weights/> }.into_any()}
            {below.into_any()}
        })
    };
    let below = any_runs.then(|| {
        view! {
            <Reader rows/>
            <Certainty scene rows/>
            <Announcer rows gamma=looking.gamma/>
            <Cite rows looking split=name.get_value() tasks today/>
            <GammaChart curves looking split=name.get_value()/>
        }
        .into_any()
    });
    let table = view! { <Ranking rows places curves published any_runs split=summary looking/> };
    // What is held by its type alone is moved about on the stack at every
    // level of the page, and a server's threads have little of it.
    view! {
        {head.into_any()}
        {move || failed.get().map(|error| view! { <Problem error/> })}
        <Unranked scene looking/>
        <OnlyUnseen scene/>
        {table.into_any()}
        {below}
    }
}
