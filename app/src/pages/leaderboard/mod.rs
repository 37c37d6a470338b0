//! The leaderboard: one split, ranked for one γ and convention. The answer first,
//! a line of settings, the rows, and the chart below or beside them. `LiveGamma`
//! lets them follow γ.

mod cells;
mod chart;
mod compare;
mod controls;
mod data;
mod export;
mod filters;
mod frontier;
mod notes;
mod opened;
mod places;
mod published;
mod row;
mod snapshot;
mod table;

use std::collections::HashMap;

use leptos::prelude::*;
use swe_ci_islands::LiveGamma;
use swe_ci_plots::RunLook;
use swe_ci_views::leaderboard::{Row, verdict};

use self::chart::{ChartSwitch, GammaChart};
use self::compare::CompareBar;
use self::controls::{GammaControl, RankingMenu};
use self::data::{Leaderboard, leaderboard};
use self::export::{CiteView, Shown};
use self::filters::{Filters, providers};
use self::frontier::Frontier;
use self::notes::{Certainty, CountsOnly, OnlyUnseen, Reader};
use self::row::common_tags;
use self::snapshot::{Banner, Since};
use self::table::{ROWS, Ranking};
use crate::components::{InPlace, NoRuns, NoTasks, PageTop, PartLinks, fetched, loaded};
use crate::pages::routes::run_href;
use crate::query::{Reading, named, of_address, reading_of};

#[component]
pub fn LeaderboardPage() -> impl IntoView {
    let reading = of_address(|path, query| Reading {
        snapshot: named(path, "day").or_else(|| named(query, "snapshot")),
        ..reading_of(query)
    });
    let data = fetched(move || reading.get(), leaderboard);
    loaded(data, |data| view! { <LeaderboardView data/> })
}

#[component]
fn LeaderboardView(data: Leaderboard) -> impl IntoView {
    let answer = verdict(&data.rows, data.repositories);
    let answer =
        (!answer.is_empty()).then(|| view! { <p class="verdict" role="status">{answer}</p> });
    let iterations = data.most_iterations;
    let day = data.reading.snapshot.as_ref();
    let title = day.map_or("Leaderboard".to_owned(), |day| {
        format!("Leaderboard of {day}")
    });
    view! {
        <PageTop
            title
            description="How well LLM coding agents maintain code: EvoScore, regressions and solved tasks over many iterations on real repositories."
            heading="Which model keeps a codebase healthy?"
        >
            <p class="lede">
                "Agents evolve real repositories in up to "{iterations}" iterations; their tests run after each. 1 = target reached, 0 = no progress, below 0 = broke more than it fixed. "
                <a href="/about">"How to read this"</a>
            </p>
            {answer}
        </PageTop>
        <Board data/>
    }
}

#[component]
fn Board(data: Leaderboard) -> impl IntoView {
    let Leaderboard {
        splits,
        split,
        reading,
        rows,
        places,
        part,
        snapshot,
        ..
    } = data;
    let (snapshot, changes) = snapshot.unzip();
    let frozen = snapshot.is_some();
    let summary = splits.iter().find(|s| s.name == split).cloned();
    let tasks = summary.as_ref().map_or(0, |split| split.tasks);
    let any_published = !data.published.rows.is_empty();
    let published = Some(data.published).filter(|_| any_published && reading.published);
    let any_runs = data.runs > 0;
    let any_unranked = !data.unranked.is_empty();
    let baseline = data.baseline.map(|(run, words)| {
        view! {
            <p class="note" role="status">
                <a href=run_href(&run)>{words}</a>
                ". Runs take a rank here once nearly all of their tasks are scored."
            </p>
        }
    });
    let none = match (any_runs, splits.is_empty()) {
        (true, _) => None,
        (false, false) if any_unranked || baseline.is_some() => None,
        (false, _) if frozen => {
            Some(view! { <p class="note">"The snapshot has no run of this mode."</p> }.into_any())
        }
        (false, true) => {
            let will = "This page will rank runs by how well their agents maintain code.";
            Some(view! { <NoTasks will/> }.into_any())
        }
        (false, false) => {
            let will = "Runs appear here as soon as their first task is scored.";
            Some(view! { <NoRuns split=split.clone() will/> }.into_any())
        }
    };
    let common = common_tags(&places);
    let said: Vec<String> = common.iter().map(|(text, ..)| text.clone()).collect();
    let of_rows = any_runs.then(|| {
        let providers = providers(&rows, reading.view.provider.as_ref());
        let (all, split) = (rows.len(), split.clone());
        view! {
            <GammaControl reading=reading.clone() iterations=data.most_iterations/>
            <Filters providers reading=reading.clone()/>
            <ChartSwitch/>
            <Shown part all common reading=reading.clone() split/>
        }
    });
    let words = rows.first().cloned().map(|first| {
        view! { <Reader first/><Certainty repositories=data.repositories/> }
    });
    let below = any_runs.then(|| {
        view! {
            <CompareBar reading=reading.clone()/>
            {words}
            <CiteView
                runs=rows.len()
                reading=reading.clone()
                split=split.clone()
                tasks
                today=data.today
                snapshot=snapshot.clone()
            />
        }
    });
    let chart = any_runs.then(|| {
        let rows = drawn(&rows, &data.looks);
        let unranked = data.unranked.len();
        let planes = [data.lines[0].1, data.lines[1].1];
        view! {
            <GammaChart
                lines=data.lines
                rows
                looks=data.looks.clone()
                reading=reading.clone()
                split=split.clone()
                unranked
                leader=data.leader.clone()
            />
            <LiveGamma
                runs=data.moving
                planes
                iterations=data.most_iterations
                leader=data.leader.map(|leader| leader.run_id)
            />
        }
    });
    let table = (any_runs || any_unranked || published.is_some()).then(|| {
        view! {
            <Ranking
                rows=rows.clone()
                places
                said
                looks=data.looks
                lowest=data.lowest
                opened=data.opened
                unranked=data.unranked
                published
                split=summary
                reading=reading.clone()
            />
        }
    });
    let address = reading.href_open(reading.open.as_deref());
    let tied = data.tied.map(|tied| view! { <p class="quiet">{tied}</p> });
    let (series, figures) = (data.series, data.frontier);
    let frontier = view! { <Frontier figures series reading=reading.clone()/> };
    let parts = {
        let reading = reading.clone();
        view! { <p class="parts"><PartLinks part items="rows" href=move |from| reading.href_from(from)/></p> }
    };
    let skip = any_runs.then(|| {
        view! { <a class="skip" href=format!("#{ROWS}")>"Skip to the rows"</a> }
    });
    let settings = (!splits.is_empty()).then(|| {
        let reading = reading.clone();
        view! {
            <section class="settings" aria-label="How to rank">
                <RankingMenu splits split any_published reading/>
                {of_rows}
            </section>
        }
    });
    let instead = data.no_paper_scores.then(|| {
        view! {
            <p class="note">
                "No run has a score in the paper's convention: the results say how many tests passed, but not which. The table counts as the reference does."
            </p>
        }
    });
    let banner = snapshot.map(|snapshot| {
        let reading = reading.clone();
        view! { <Banner snapshot reading/> }
    });
    let since = changes.flatten().map(|changes| view! { <Since changes/> });
    view! {
        <InPlace/>
        {skip}
        {banner}
        {settings}
        {instead}
        {baseline}
        {none}
        <div class="board-and-chart" data-address=address data-lines="">
            <div class="board">
                {tied}
                {table}
                {parts}
                {since}
                {below}
                <CountsOnly models=data.counts_only reading/>
                <OnlyUnseen left_out=data.left_out/>
            </div>
            {chart}
        </div>
        {frontier}
    }
}

/// The rows of the chart, best first.
fn drawn(rows: &[Row], looks: &HashMap<String, RunLook>) -> Vec<Row> {
    let drawn = rows.iter().filter(|row| looks.contains_key(&row.run_id));
    drawn.cloned().collect()
}
