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
use swe_ci_core::run::Kind;
use swe_ci_core::step::Ending;
use swe_ci_core::test_history::choose;
use swe_ci_plots::{Size, Theme, passing};
use swe_ci_views::view::{EvolutionDetail, EvolutionView, HandedOver, Spent};

use self::data::{Effort, Shown, evolution_at};
pub(super) use self::data::{evolution, inspect};
use self::filter::Filter;
use self::heat::{HeatMap, rows_per_page};
use self::panel::Panel;
use self::scores::{ScoresOfEvolution, score_in_words};
use self::symbols::Legend;
use self::tests::Tests;
use crate::components::{
    Choice, Choices, InPlace, Iterations, PageTop, Part, PartLinks, Picture, Tag, Term, Time,
    crumb, fact, fetched, loaded,
};
use crate::glossary::Word;
use crate::pages::iteration::{Logs, Steps};
use crate::pages::result_table::{KindTag, NotAuditedTag};
use crate::pages::routes::{
    EvolutionAddress, EvolutionQuery, ITERATION, TESTS, evolution_href, iteration_href, run_href,
    style_href, task_href,
};
use crate::query::{of_address, of_query};
use crate::{format, labels};

#[component]
pub fn EvolutionPage() -> impl IntoView {
    let address = of_address(EvolutionAddress::of);
    let reading = of_query(EvolutionQuery::of);
    let asked = move || (address.get(), reading.with(|query| query.iteration));
    let shown = fetched(asked, |(address, iteration)| {
        evolution_at(address, iteration)
    });
    loaded(shown, move |shown| {
        view! { <EvolutionPageView shown query=reading.get_untracked()/> }
    })
}

#[component]
fn EvolutionPageView(shown: Shown, query: EvolutionQuery) -> impl IntoView {
    let Shown {
        detail,
        effort,
        audit,
        chosen,
    } = shown;
    let model = detail.model.clone();
    let evolution = detail.view.clone();
    let stored = StoredValue::new(detail.clone());
    let reading = query.clone();
    let panel = chosen
        .map(|chosen| view! { <Panel chosen detail=stored reading=Signal::stored(reading)/> });
    let head = (detail.run_id.clone(), detail.kind, detail.samples);
    let scored = evolution.ending.is_some_and(Ending::is_scored);
    let style = scored.then(|| {
        let href = style_href(&EvolutionAddress::of_detail(&detail), false);
        view! { <p class="taken"><a href=href>"Code style against the reference solution"</a></p> }
    });
    view! {
        <InPlace/>
        <Hero evolution=evolution.clone() model head/>
        <Facts evolution=evolution.clone() kind=detail.kind spent=effort.spent/>
        <Untested run_id=detail.run_id.clone() evolution=evolution.clone() effort imported=detail.kind == Kind::Imported/>
        <Course evolution=detail.view.clone() address=EvolutionAddress::of_detail(&detail) query=query.clone()/>
        // Always present, as the target of links.
        <div id=ITERATION class="inspect-place">{panel}</div>
        <TestByTest detail query/>
        <ScoresOfEvolution evolution audit/>
        {style}
    }
}

/// The passing tests, as a chart and a table with links to the iterations.
#[component]
fn Course(
    evolution: EvolutionView,
    address: EvolutionAddress,
    query: EvolutionQuery,
) -> impl IntoView {
    let figure = passing(&evolution, Size::SMALL, Theme::Page);
    let target = evolution.suite.target;
    let numbers: Vec<u32> = evolution.iterations.iter().map(|i| i.iteration).collect();
    let chosen = Signal::stored(query.iteration);
    let at = Callback::new(move |n: u32| address.at_iteration(&query, n));
    // After a first mark, the base.
    let href = Callback::new(move |mark: usize| {
        let number = numbers.get(mark.checked_sub(1)?)?;
        Some(at.run(*number))
    });
    let fixed = Memo::new(move |_| evolution.clone());
    view! {
        <section aria-labelledby="iterations-title">
            <h2 id="iterations-title">"Iterations"</h2>
            <p class="quiet evolution-words">
                "Target tests that pass after each; the dashed line is the goal, hollow marks are "<Term word=Word::Regression text="regressions"/>", crosses code that no longer runs. A point or a number links to the details of its iteration."
            </p>
            <div class="evolution-body evolution-page-body">
                <div class="evolution-chart points"><Picture figure href/></div>
                <div><Iterations evolution=fixed target href=at chosen/></div>
            </div>
        </section>
    }
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
            <p class="tags"><Tag text=word tone/><KindTag kind/><NotAuditedTag why=evolution.not_audited.clone()/></p>
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
    let score = score_in_words(&evolution);
    // The table of scores explains the word.
    let score = score.map(|score| fact("EvoScore", score));
    view! {
        <dl class="facts">
            <div><dt><Term word=Word::Ending text="Ending"/></dt><dd>{labels::standing(&evolution).0}</dd></div>
            <div><dt>"Passing at the end"</dt><dd>{format!("{} of {}", format::thousands(passing), format::thousands(suite.target))}</dd></div>
            {match evolution.start {
                None => Either::Left(view! {
                    <div><dt>"Passing on the "<Term word=Word::Base/></dt><dd>{format::thousands(suite.base_in_target)}</dd></div>
                }),
                Some(start) => Either::Right(view! { <Started start passing=suite.base_in_target/> }),
            }}
            <div><dt><Term word=Word::Iteration text="Iterations"/></dt><dd>{format!("{} of {}", evolution.iterations.len(), evolution.max_iterations)}</dd></div>
            {score}
            {finished}
            {spent.map(|spent| view! { <Took spent/> })}
        </dl>
    }
}

/// The code of another run that it started from.
#[component]
fn Started(start: HandedOver, passing: u32) -> impl IntoView {
    let href = iteration_href(&start.run_id, &start.evolution_id, start.iteration);
    view! {
        <div><dt>"Passing on the code handed over"</dt><dd>{format::thousands(passing)}</dd></div>
        <div>
            <dt><Term word=Word::Handover text="Goes on with"/></dt>
            <dd>
                <a href=href>{format!("iteration {} of another run", start.iteration)}</a>
                " "
                <code title=start.code.clone()>{format::short(&start.code)}</code>
            </dd>
        </div>
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
fn TestByTest(detail: EvolutionDetail, query: EvolutionQuery) -> impl IntoView {
    let body = if detail.view.suite.counts_only {
        Either::Left(view! {
            <p class="quiet">"Only how many tests passed was reported, not which: there is nothing to show test by test."</p>
        })
    } else {
        Either::Right(view! { <Map detail query/> })
    };
    view! {
        <section id=TESTS class="heat-section" aria-labelledby="tests-title">
            <h2 id="tests-title">"Test by test"</h2>
            {body}
        </section>
    }
}

#[component]
fn Map(detail: EvolutionDetail, query: EvolutionQuery) -> impl IntoView {
    let address = EvolutionAddress::of_detail(&detail);
    let page = rows_per_page(detail.outcomes.len() + 1);
    let all = detail.node_ids.len();
    let tests = StoredValue::new(Tests::of(detail));
    let chosen = tests.with_value(|t| {
        choose(
            &t.detail.node_ids,
            &t.test_histories,
            query.wanted,
            &query.text,
        )
    });
    let part = Part::new(query.from, page, chosen.len());
    let shown = chosen[part.range()].to_vec();
    let number = |n: usize| format::thousands(n as u64);
    let status = match chosen.len() {
        0 => "No test matches.".to_owned(),
        n if n == all => format!("All {} tests.", number(all)),
        n => format!("{} of {} tests.", number(n), number(all)),
    };
    let here = {
        let (address, query) = (address.clone(), query.clone());
        move |from| {
            let query = EvolutionQuery {
                from,
                ..query.clone()
            };
            format!("{}#{TESTS}", address.href(&query))
        }
    };
    let api = address.api();
    view! {
        <p class="quiet evolution-words">
            "A row for each test the target passes, a column for the base and for each iteration. The number above a column links to the details of its iteration."
        </p>
        <Filter tests query=query.clone()/>
        <Legend/>
        <HeatMap tests part=shown query/>
        <p class="quiet heat-status">
            <span role="status">{status}{part.here()}</span>
            " "
            <PartLinks part items="tests" href=here/>
            " "
            <a href=api>"All of it as JSON"</a>
        </p>
    }
}
