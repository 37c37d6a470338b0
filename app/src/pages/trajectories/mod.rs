//! How the agents of a run worked, alone or beside another run: everything that
//! is counted from the recordings, each number with the places behind it.

mod data;
mod places;
mod search;
mod sections;
mod tables;

use leptos::prelude::*;
use swe_ci_views::trajectories::{Place, Subject, Trajectories};

pub use self::search::TranscriptSearchPage;

use self::data::{Address, PageData, page_data};
use self::places::{PlaceTable, Places};
use self::search::SearchForm;
use self::tables::{Tables, letter};
use crate::components::CollectAny;
use crate::components::{InPlace, PageTop, Term, crumb, fetched, loaded};
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::{compare_with_href, judgements_href, run_href, trajectories_href};
use crate::query::of_address;

#[component]
pub fn TrajectoriesPage() -> impl IntoView {
    let address = of_address(Address::of);
    let resource = fetched(move || address.get(), page_data);
    loaded(
        resource,
        |data| view! { <InPlace/><TrajectoriesView data/> },
    )
}

#[component]
fn TrajectoriesView(data: PageData) -> impl IntoView {
    let PageData {
        address,
        runs,
        places,
        losses,
    } = data;
    let run = address.run.clone();
    let selection = address.selection.clone();
    let places = selection.zip(places).map(|(selection, places)| {
        let address = address.clone();
        view! { <Places address selection places/> }
    });
    let judgements = judgements_href(&run);
    let one = runs.len() == 1;
    let losses = (one && !losses.is_empty()).then(|| view! { <Losses run=run.clone() losses/> });
    view! {
        <Head runs=runs.clone()/>
        <SearchForm run q=String::new()/>
        <p class="quiet"><a href=judgements>"What models say of its iterations"</a>", by questions of a rubric."</p>
        <Reading runs=runs.clone()/>
        {places}
        {losses}
        <div class="trajectory-tables" class:single=one><Tables runs/></div>
    }
}

#[component]
fn Head(runs: Vec<Trajectories>) -> impl IntoView {
    let model = runs[0].model.clone();
    let (run, split) = (runs[0].run_id.clone(), runs[0].split.clone());
    let json = |run: &Trajectories| format!("/api/v1/runs/{}/trajectories", run.run_id);
    let legend = (runs.len() > 1).then(|| {
        let one = |(position, one): (usize, &Trajectories)| {
            let others = runs.iter().find(|other| other.run_id != one.run_id);
            let other = others.map(|other| other.run_id.as_str());
            let alone = trajectories_href(&one.run_id, None, None, 0);
            let swapped = trajectories_href(&one.run_id, other, None, 0);
            let first = match position {
                0 => "".into_any(),
                _ => view! { " · "<a href=swapped>"put first"</a> }.into_any(),
            };
            view! {
                <li>
                    {format!("{}: ", letter(position))}
                    <a href=run_href(&one.run_id)>{one.model.clone()}</a>
                    {format!(" on {}", one.split)}
                    " · "
                    <a href=alone>"alone"</a>
                    {first}
                    " · "
                    <a href=json(one)>"JSON"</a>
                </li>
            }
        };
        view! { <ul class="trajectory-runs">{runs.iter().enumerate().map(one).collect_any()}</ul> }
    });
    let alone = (runs.len() == 1).then(|| {
        view! {
            " · "
            <a href=json(&runs[0])>"JSON"</a>
            " · "
            <a href=compare_with_href(&run)>"Beside another run: compare first"</a>
        }
    });
    view! {
        <PageTop
            title=format!("Trajectories of {model} on {split}")
            description=format!("How the agents of {model} worked on {split}: effort, tools, commands, files, lost tests, and signs of trouble.")
            crumbs=vec![crumb("/runs", "Runs"), crumb(run_href(&run), &model)]
            heading="Trajectories"
        >
            <p class="lede">
                "How the agents worked, over all "
                <Term word=Word::Trajectory text="trajectories"/>
                " of the run. Everything is counted from what was recorded; no model judges, and nothing here is part of a score. Each number leads to its places"
                {alone}
                "."
            </p>
            {legend}
        </PageTop>
    }
}

/// How many recordings the numbers come from.
#[component]
fn Reading(runs: Vec<Trajectories>) -> impl IntoView {
    let one = |run: Trajectories| {
        let whose = run.model;
        let recorded = format::count(run.recorded, "recorded step");
        let unreadable = (run.unreadable > 0)
            .then(|| format!(" {} could not be read.", format::thousands(run.unreadable)));
        match (run.recorded, run.read) {
            (0, _) => view! {
                <p class="note">{format!("No conversation of {whose} is recorded: its results were imported, or its agents call no model. Tools, commands and signs of trouble are unknown.")}</p>
            }
            .into_any(),
            (recorded_steps, read) if read < recorded_steps => view! {
                <p class="note" role="status">
                    {format!("The server is reading the recordings of {whose}: {} of {recorded} so far. Reload the page for the rest.", format::thousands(read))}
                </p>
            }
            .into_any(),
            _ => view! { <p class="quiet">{format!("{whose}: {recorded}.")}{unreadable}</p> }
                .into_any(),
        }
    };
    runs.into_iter().map(one).collect_any()
}

/// The iterations that lost most tests, with what they were to do.
#[component]
fn Losses(run: String, losses: Vec<Place>) -> impl IntoView {
    view! {
        <section aria-labelledby="losses-title">
            <h2 id="losses-title">"Iterations that lost most tests"</h2>
            <p class="quiet">"With the requirements that the programmer worked on."</p>
            <PlaceTable run subject=Subject::Loss places=losses/>
        </section>
    }
}
