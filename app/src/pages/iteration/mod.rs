//! One iteration: why tests were lost first, then all that led to it.

mod code;
mod hunks;
mod parts;
mod reason;
mod steps;
mod tests;

use leptos::prelude::*;
use leptos_router::params::ParamsMap;
use swe_ci_core::run::Kind;
use swe_ci_views::inspection::Inspection;
use swe_ci_views::view::{EvolutionView, IterationView as Tested};

pub(super) use self::code::{ChangedCode, ChangedFiles, Layout, summary};
pub(super) use self::parts::{Contradictions, Downloads, Facts, Logs, Requirements, collapse_log};
pub(super) use self::reason::Strip;
use self::reason::{Reason, cause_path};
pub(super) use self::steps::Steps;
use self::steps::{in_short, transcript};
pub(super) use self::tests::ChangedTests;
use crate::components::{InPlace, PageTop, Tag, crumb, fetched, loaded};
use crate::error::AppError;
use crate::pages::routes::{DIFF, SPLIT, evolution_href, iteration_href, run_href, test_href};
use crate::query::{of_address, of_query};
use crate::{format, labels};

#[component]
pub fn IterationPage() -> impl IntoView {
    let address = of_address(|params, _| Address::of(params));
    let split = of_query(|query| query.get_str(DIFF) == Some(SPLIT));
    let resource = fetched(move || address.get(), whole_iteration);
    loaded(
        resource,
        move |whole| view! { <InPlace/><IterationView whole split/> },
    )
}

pub async fn iteration(evolution: String, iteration: u32) -> Result<Inspection, AppError> {
    Ok(crate::error::engine()?
        .inspect_iteration(&evolution, iteration)
        .await?)
}

/// The iteration in the address.
#[derive(Debug, Clone, PartialEq)]
pub struct Address {
    run: String,
    evolution: String,
    /// None when it is not a number.
    iteration: Option<u32>,
}

impl Address {
    pub(super) fn of(params: &ParamsMap) -> Self {
        Self {
            run: params.get("id").unwrap_or_default(),
            evolution: params.get("evolution").unwrap_or_default(),
            iteration: params.get_str("iteration").and_then(|n| n.parse().ok()),
        }
    }
}

/// An iteration with its run and evolution.
#[derive(Debug, Clone)]
pub struct PageData {
    pub run_id: String,
    pub model: String,
    pub kind: Kind,
    pub evolution: EvolutionView,
    pub inspection: Inspection,
}

pub(super) async fn whole_iteration(address: Address) -> Result<PageData, AppError> {
    let missing = || AppError::not_found("There is no such iteration in this run.");
    let number = address.iteration.ok_or_else(missing)?;
    let run = crate::error::engine()?.run(&address.run).await?;
    let mut evolutions = run.evolution_list.into_iter();
    let evolution = evolutions
        .find(|e| e.evolution_id == address.evolution)
        .ok_or_else(missing)?;
    let inspection = iteration(address.evolution, number).await?;
    Ok(PageData {
        run_id: run.summary.run_id,
        model: run.summary.config.model,
        kind: run.summary.config.kind,
        evolution,
        inspection,
    })
}

#[component]
fn IterationView(
    whole: PageData,
    /// Whether changes are shown side by side.
    #[prop(into)]
    split: Signal<bool>,
) -> impl IntoView {
    let (run_id, model, evolution) = (whole.run_id, whole.model, whole.evolution);
    let imported = whole.kind == Kind::Imported;
    let inspection = whole.inspection;
    let failures = inspection.failures();
    let cause = inspection.cause(&failures);
    let (evolution_id, iteration) = (inspection.evolution_id, inspection.iteration);
    let number = iteration.view.iteration;
    let task = evolution.task_id.to_string();
    let last = evolution.iterations.last().map_or(number, |i| i.iteration);
    let (run, id) = (run_id.clone(), evolution.evolution_id.clone());
    let at = Callback::new(move |(n, split): (u32, bool)| {
        let query = split.then(|| format!("?{DIFF}={SPLIT}"));
        iteration_href(&run, &id, n) + &query.unwrap_or_default()
    });
    let layout = Layout {
        split,
        href: Callback::new(move |split| at.run((number, split))),
    };
    let neighbour = move |n: u32, text: &'static str, rel: &'static str| {
        let href = move || at.run((n, split.get()));
        (1..=last)
            .contains(&n)
            .then(|| view! { <a class="button" href=href rel=rel>{text}</a> })
    };
    let (run, sample) = (run_id.clone(), evolution.sample);
    let whole_evolution = evolution_href(&run, &task, sample);
    let heading = heading(&iteration.view, evolution.suite.counts_only);
    let log = collapse_log(&iteration.view, &inspection.logs);
    let reason = view! { <Reason failures=failures.clone() view=iteration.view.clone() cause=cause_path(cause, &inspection.code)/> };
    let link = Callback::new(move |n| at.run((n, split.get())));
    let steps = in_short(&iteration.steps);
    let transcript = transcript(&iteration.steps, &run_id, &evolution_id);
    let json = format!("/api/v1/evolutions/{evolution_id}/iterations/{number}");
    let of = task.clone();
    let test = Callback::new(move |node_id: String| test_href(&run, &of, sample, &node_id));
    let (sign, word, tone) = labels::verdict(&iteration.view, evolution.suite.target);
    view! {
        <PageTop
            title=format!("Iteration {number} of {task} · {model}")
            description=format!("The requirements and changes of {model} in iteration {number} of {task}, and the tests it gained and lost.")
            crumbs=vec![crumb("/runs", "Runs"), crumb(run_href(&run_id), &model), crumb(&whole_evolution, &task)]
            heading
        >
            <p class="tags"><Tag text=format!("{sign} {word}") tone/></p>
            {reason}
        </PageTop>
        <Strip number iterations=evolution.iterations suite=evolution.suite href=link/>
        <Facts iteration=iteration.view suite=evolution.suite imported/>
        {log}
        <Contradictions accusations=inspection.accusations/>
        <nav class="paging" aria-label="Iterations">
            {neighbour(number.saturating_sub(1), "Previous iteration", "prev")}
            {neighbour(number + 1, "Next iteration", "next")}
            {transcript}
        </nav>
        <div class="cause">
        <section aria-labelledby="code-title">
            <h2 id="code-title">"Code"</h2>
            <ChangedCode code=inspection.code cause evolution_id=evolution_id.clone() iteration=number layout/>
        </section>
        <section aria-labelledby="tests-title">
            <h2 id="tests-title">"Tests"</h2>
            <ChangedTests
                gained=iteration.gained_tests.clone()
                lost=failures
                changed=inspection.changed
                counts_only=evolution.suite.counts_only
                href=test
            />
            <p class="quiet">
                <a href=whole_evolution>"All tests over all iterations"</a>
                " · "
                <a href=json>"This iteration as JSON"</a>
            </p>
            <Downloads files=inspection.files evolution_id=evolution_id.clone() iteration=number/>
        </section>
        </div>
        <section aria-labelledby="requirements-title">
            <h2 id="requirements-title">"Requirements"</h2>
            <Requirements
                requirements=iteration.requirements
                gained=iteration.gained_tests
                lost=iteration.lost_tests
                href=test
                imported
            />
        </section>
        <section aria-labelledby="steps-title">
            <h2 id="steps-title">"Steps"</h2>
            <details class="fold">
                <summary>{steps}</summary>
                <Steps steps=iteration.steps run_id=run_id.clone() evolution_id=evolution_id.clone() imported/>
                <Logs logs=inspection.logs evolution_id iteration=number imported/>
            </details>
        </section>
    }
}

/// "Iteration 7 lost 47 tests and gained 3".
fn heading(iteration: &Tested, counts_only: bool) -> String {
    let (number, lost) = (iteration.iteration, iteration.verdict.lost());
    let tests = |n: u32| format::count(n, "test");
    let what = match (lost, iteration.gained) {
        _ if iteration.collapse.is_some() => " collapsed".to_owned(),
        _ if counts_only => String::new(),
        (0, 0) => " changed the result of no test".to_owned(),
        (0, gained) => format!(" gained {}", tests(gained)),
        (lost, 0) => format!(" lost {}", tests(lost)),
        (lost, gained) => format!(" lost {} and gained {gained}", tests(lost)),
    };
    format!("Iteration {number}{what}")
}

#[cfg(test)]
mod tests_of_words {
    use super::*;
    use swe_ci_plots::fixture;

    #[test]
    fn a_heading_tells_the_result() {
        let check = |lost, gained, counts_only, expect: &str| {
            let mut iteration = fixture::iteration(7, fixture::scored(10, lost));
            iteration.gained = gained;
            assert_eq!(heading(&iteration, counts_only), expect);
        };
        check(47, 3, false, "Iteration 7 lost 47 tests and gained 3");
        check(1, 0, false, "Iteration 7 lost 1 test");
        check(0, 2, false, "Iteration 7 gained 2 tests");
        check(0, 0, false, "Iteration 7 changed the result of no test");
        check(0, 0, true, "Iteration 7");
    }
}
