//! One evolution: its course, and the outcome of every test in every iteration.

mod data;
mod filter;
mod heat;
mod panel;
mod scores;
mod symbols;
mod tests;

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use swe_ci_core::run::Kind;
use swe_ci_core::step::Ending;
use swe_ci_core::test_history::choose;
use swe_ci_plots::{Size, Theme, passing};
use swe_ci_views::view::{EvolutionDetail, EvolutionView, Spent};
use wasm_bindgen::JsCast;

pub(super) use self::data::evolution;
use self::data::{Chosen, Effort, Shown, chosen_of, evolution_at};
use self::filter::Filter;
use self::heat::{HeatMap, first_rows};
use self::panel::Panel;
use self::scores::ScoresOfEvolution;
use self::symbols::Legend;
use self::tests::Tests;
use crate::components::{
    Choice, Choices, Fetched, Iterations, PageTop, Picture, Tag, Term, Time, crumb, fact, fetched,
    loaded,
};
use crate::glossary::Word;
use crate::pages::iteration::{Logs, Steps};
use crate::pages::result_table::KindTag;
use crate::pages::routes::{
    EvolutionAddress, EvolutionQuery, ITERATION, TESTS, evolution_href, run_href, style_href,
    task_href,
};
use crate::query::{of_address, of_query};
use crate::{format, labels};

#[component]
pub fn EvolutionPage() -> impl IntoView {
    let address = of_address(EvolutionAddress::of);
    let reading = of_query(EvolutionQuery::of);
    let resource = fetched(move || address.get(), evolution_at);
    let iteration = Memo::new(move |_| reading.with(|r| r.iteration));
    let chosen = fetched(move || (address.get(), iteration.get()), chosen_of);
    let navigate = use_navigate();
    // The filter changes the address without adding to the history.
    let go = Callback::new(move |reading: EvolutionQuery| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..NavigateOptions::default()
        };
        let address = address.get_untracked();
        navigate(&address.href(&reading), options);
    });
    loaded(
        resource,
        move |shown| view! { <EvolutionPageView shown chosen reading go/> },
    )
}

#[component]
fn EvolutionPageView(
    shown: Shown,
    chosen: Fetched<Option<Chosen>>,
    #[prop(into)] reading: Signal<EvolutionQuery>,
    /// Writes a query into the address.
    go: Callback<EvolutionQuery>,
) -> impl IntoView {
    let Shown { detail, effort } = shown;
    let model = detail.model.clone();
    let evolution = detail.view.clone();
    let shown = StoredValue::new(detail.clone());
    let panel = move |chosen: Option<Chosen>| {
        chosen.map(|chosen| view! { <Panel chosen detail=shown reading/> })
    };
    let head = (detail.run_id.clone(), detail.kind, detail.samples);
    let scored = evolution.ending.is_some_and(Ending::is_scored);
    let style = scored.then(|| {
        let href = style_href(&EvolutionAddress::of_detail(&detail), false);
        view! { <p class="taken"><a href=href>"Code style beside the oracle's"</a></p> }
    });
    view! {
        <Hero evolution=evolution.clone() model head/>
        <Facts evolution=evolution.clone() kind=detail.kind spent=effort.spent/>
        <Untested run_id=detail.run_id.clone() evolution=evolution.clone() effort imported=detail.kind == Kind::Imported/>
        <ScoresOfEvolution evolution/>
        {style}
        <Course evolution=detail.view.clone() address=EvolutionAddress::of_detail(&detail) reading/>
        // Always present, as the target of links.
        <div id=ITERATION class="inspect-place">{loaded(chosen, panel)}</div>
        <TestByTest detail reading go/>
    }
}

/// The passing tests, as a chart and a table with links to the iterations.
#[component]
fn Course(
    evolution: EvolutionView,
    address: EvolutionAddress,
    reading: Signal<EvolutionQuery>,
) -> impl IntoView {
    let figure = passing(&evolution, Size::SMALL, Theme::Page);
    let target = evolution.suite.target;
    let numbers: Vec<u32> = evolution.iterations.iter().map(|i| i.iteration).collect();
    let href =
        Callback::new(move |n: u32| reading.with(|reading| address.at_iteration(reading, n)));
    let chosen = Signal::derive(move || reading.with(|r| r.iteration));
    let fixed = Memo::new(move |_| evolution.clone());
    view! {
        <section aria-labelledby="iterations-title">
            <h2 id="iterations-title">"Iterations"</h2>
            <p class="quiet evolution-words">
                "Target tests that pass after each; the dashed line is the goal, hollow marks are "<Term word=Word::Regression text="regressions"/>", crosses code that no longer runs. A point or a number links to the details of its iteration."
            </p>
            <div class="evolution-body evolution-page-body">
                <Points numbers href><Picture figure=Signal::stored(figure)/></Points>
                <div><Iterations evolution=fixed target href chosen/></div>
            </div>
        </section>
    }
}

/// A chart whose points link to these iterations, after a first one, the base.
#[component]
fn Points(numbers: Vec<u32>, href: Callback<u32, String>, children: Children) -> impl IntoView {
    let navigate = use_navigate();
    let follow = StoredValue::new(move |target: Option<web_sys::EventTarget>| {
        let mark = target.and_then(|target| mark_at(&target));
        let number = mark.and_then(|mark| numbers.get(mark.checked_sub(1)?).copied());
        if let Some(number) = number {
            navigate(&href.run(number), NavigateOptions::default());
        }
    });
    let follow = move |target| follow.with_value(|follow| follow(target));
    view! {
        <div
            class="evolution-chart points"
            on:click=move |event| follow(event.target())
            on:keydown=move |event| {
                if event.key() == "Enter" {
                    follow(event.target());
                }
            }
        >
            {children()}
        </div>
    }
}

/// The index of the mark that the pointer or focus is on.
fn mark_at(target: &web_sys::EventTarget) -> Option<usize> {
    let element = target.dyn_ref::<web_sys::Element>()?;
    let mark = element.closest("[data-mark]").ok().flatten()?;
    mark.get_attribute("data-mark")?.parse().ok()
}

#[component]
fn Hero(
    evolution: EvolutionView,
    model: String,
    /// The run, its kind, and its number of samples of the task.
    head: (String, Kind, u32),
) -> impl IntoView {
    let (run_id, kind, samples) = head;
    let task = evolution.task_id.to_string();
    let (word, tone) = labels::standing(&evolution);
    let run = run_href(&run_id);
    let iterations = format::count(evolution.iterations.len(), "iteration");
    let live = (!evolution.progress.is_over()).then(|| {
        view! {
            <p class="note">
                "It is still running: this page shows its state at loading. "
                <a href=run.clone()>"Follow it live on the page of its run"</a>
            </p>
        }
    });
    let several = (samples > 1).then(|| {
        let choices = sample_choices(&run_id, &task, evolution.sample, samples);
        view! { <div class="controls controls-plain"><Choices label="Sample" choices/></div> }
    });
    view! {
        <PageTop
            title=format!("{task} · {model}")
            description=format!("How {model} evolved {task}: passing tests after each iteration, regressions, and the history of every test.")
            crumbs=vec![crumb("/runs", "Runs"), crumb(&run, &model)]
            heading=&task
            class="evolution-title"
        >
            <p class="tags"><Tag text=word tone/><KindTag kind/></p>
            <p class="lede">
                "How "
                <a href=run>{model}</a>
                " took "
                <a href=task_href(&task)>"this task"</a>
                {format!(" towards its target, in {iterations}.")}
            </p>
        </PageTop>
        {evolution.reason.clone().map(|reason| view! { <p class="note">"Why it ended: "{reason}</p> })}
        {live}
        {several}
    }
}

fn sample_choices(run: &str, task: &str, chosen: u32, samples: u32) -> Vec<Choice> {
    let choice = |sample: u32| Choice {
        label: sample.to_string(),
        hint: format!("Sample {sample} of this task"),
        href: Signal::stored(evolution_href(run, task, sample)),
        chosen: Signal::stored(sample == chosen),
    };
    (1..=samples).map(choice).collect()
}

#[component]
fn Facts(evolution: EvolutionView, kind: Kind, spent: Option<Spent>) -> impl IntoView {
    let suite = evolution.suite;
    let passing = evolution.passing();
    // Imported results have no finishing time: the import wrote these rows.
    let at = evolution.finished_at.clone();
    let finished = (kind != Kind::Imported).then(|| fact("Finished", view! { <Time at/> }));
    view! {
        <dl class="facts">
            <div><dt><Term word=Word::Ending text="Ending"/></dt><dd>{labels::standing(&evolution).0}</dd></div>
            <div><dt>"Passing at the end"</dt><dd>{format!("{} of {}", format::thousands(passing), format::thousands(suite.target))}</dd></div>
            <div><dt>"Passing on the "<Term word=Word::Base/></dt><dd>{format::thousands(suite.base_in_target)}</dd></div>
            <div><dt><Term word=Word::Iteration text="Iterations"/></dt><dd>{format!("{} of {}", evolution.iterations.len(), evolution.max_iterations)}</dd></div>
            {finished}
            {spent.map(|spent| view! { <Took spent/> })}
        </dl>
    }
}

/// The total over all steps.
#[component]
fn Took(spent: Spent) -> impl IntoView {
    let Spent { usage, traffic } = spent;
    let requests = traffic.map(|traffic| fact("Requests", format::thousands(traffic.requests)));
    let cost = traffic.and_then(|traffic| traffic.micro_usd);
    let cost = cost.map(|cost| {
        fact(
            view! { <Term word=Word::Cost text="Cost"/> },
            format::dollars(cost),
        )
    });
    view! {
        <div><dt><Term word=Word::Tokens text="Tokens"/></dt><dd>{labels::tokens(usage)}</dd></div>
        {requests}
        {cost}
    }
}

/// The iteration it did not get to test: where it ended, or what runs now.
#[component]
fn Untested(
    run_id: String,
    evolution: EvolutionView,
    effort: Effort,
    imported: bool,
) -> impl IntoView {
    let Effort { untested, logs, .. } = effort;
    let iteration = untested.last().map(|step| step.iteration);
    let heading = iteration.and_then(|n| Some((n, labels::untested(evolution.ending, n)?)));
    let evolution_id = evolution.evolution_id;
    heading.map(|(iteration, (title, says))| {
        view! {
            <section class="untested" aria-labelledby="untested-title">
                <h2 id="untested-title">{title}</h2>
                <p class="quiet evolution-words">{says}</p>
                <Steps steps=untested run_id evolution_id=evolution_id.clone() imported/>
                <Logs logs evolution_id iteration imported/>
            </section>
        }
    })
}

#[component]
fn TestByTest(
    detail: EvolutionDetail,
    reading: Signal<EvolutionQuery>,
    go: Callback<EvolutionQuery>,
) -> impl IntoView {
    let body = if detail.view.suite.counts_only {
        Either::Left(view! {
            <p class="quiet">"Only how many tests passed was reported, not which: there is nothing to show test by test."</p>
        })
    } else {
        Either::Right(view! { <Map detail reading go/> })
    };
    view! {
        <section id=TESTS class="heat-section" aria-labelledby="tests-title">
            <h2 id="tests-title">"Test by test"</h2>
            {body}
        </section>
    }
}

#[component]
fn Map(
    detail: EvolutionDetail,
    reading: Signal<EvolutionQuery>,
    go: Callback<EvolutionQuery>,
) -> impl IntoView {
    let api = EvolutionAddress::of_detail(&detail).api();
    let first = first_rows(detail.outcomes.len() + 1);
    let all = detail.node_ids.len();
    let tests = StoredValue::new(Tests::of(detail));
    let text = RwSignal::new(reading.with_untracked(|r| r.text.clone()));
    let wanted = Memo::new(move |_| reading.with(|r| r.wanted));
    let shown = Memo::new(move |_| {
        tests.with_value(|t| {
            text.with(|text| choose(&t.detail.node_ids, &t.test_histories, wanted.get(), text))
        })
    });
    let number = |n: usize| format::thousands(n as u64);
    let status = move || match shown.with(Vec::len) {
        0 => "No test matches.".to_owned(),
        n if n == all => format!("All {} tests.", number(all)),
        n => format!("{} of {} tests.", number(n), number(all)),
    };
    let cut = move || {
        (shown.with(Vec::len) > first).then(|| {
            let text = format!(" The first {first} are listed here; the JSON has all.");
            view! { <span class="no-js">{text}</span> }
        })
    };
    view! {
        <p class="quiet evolution-words">
            "A row for each test the target passes, a column for the base and for each iteration. The number above a column links to the details of its iteration."
        </p>
        <Filter tests reading text go/>
        <Legend/>
        <HeatMap tests shown reading/>
        <p class="quiet heat-status">
            <span role="status">{status}</span>
            {cut}
            " "
            <a href=api rel="external">"All of it as JSON"</a>
        </p>
    }
}
