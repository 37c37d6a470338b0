//! The page of an iteration.

use leptos::prelude::*;
use swe_ci_core::run::Kind;
use swe_ci_views::inspection::Inspection;

use super::code::{ChangedCode, Layout};
use super::data::PageData;
use super::files::{Downloads, Logs};
use super::parts::{Facts, Requirements};
use super::steps::Steps;
use super::tests::ChangedTests;
use crate::components::{PageHead, Tag};
use crate::pages::routes::{
    DIFF, SPLIT, evolution_href, iteration_href, run_href, task_href, test_href,
};
use crate::words;

#[component]
pub fn IterationView(
    whole: PageData,
    /// Whether changes are shown side by side.
    #[prop(into)]
    split: Signal<bool>,
) -> impl IntoView {
    let PageData {
        run_id,
        model,
        kind,
        evolution,
        inspection,
    } = whole;
    let Inspection {
        evolution_id,
        iteration,
        code,
        changed,
        files,
        logs,
    } = inspection;
    let imported = kind == Kind::Imported;
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
    let json = format!("/api/v1/evolutions/{evolution_id}/iterations/{number}");
    let of = task.clone();
    let test = Callback::new(move |node_id: String| test_href(&run, &of, sample, &node_id));
    let (sign, word, tone) = words::verdict(&iteration.view, evolution.suite.target);
    view! {
        <PageHead
            title=format!("Iteration {number} of {task} · {model}")
            description=format!("The requirements and changes of {model} in iteration {number} of {task}, and the tests it gained and lost.")
        />
        <nav class="crumbs" aria-label="Where this is">
            <a href="/runs">"Runs"</a>
            <a href=run_href(&run_id)>{model.clone()}</a>
            <a href=task_href(&task)>{task.clone()}</a>
        </nav>
        <div class="hero">
            <h1>{format!("Iteration {number}")}</h1>
            <p class="tags"><Tag text=format!("{sign} {word}") tone/></p>
        </div>
        <Facts iteration=iteration.view suite=evolution.suite imported/>
        <section aria-labelledby="requirements-title">
            <h2 id="requirements-title">"Requirements"</h2>
            <Requirements
                requirements=iteration.requirements
                gained=iteration.gained_tests.clone()
                lost=iteration.lost_tests.clone()
                href=test
                imported
            />
        </section>
        <section aria-labelledby="code-title">
            <h2 id="code-title">"Code"</h2>
            <ChangedCode code evolution_id=evolution_id.clone() iteration=number layout/>
        </section>
        <section aria-labelledby="tests-title">
            <h2 id="tests-title">"Tests"</h2>
            <ChangedTests
                gained=iteration.gained_tests
                lost=iteration.lost_tests
                changed
                counts_only=evolution.suite.counts_only
                href=test
            />
            <p class="quiet">
                <a href=whole_evolution>"All tests over all iterations"</a>
                " · "
                <a href=json rel="external">"This iteration as JSON"</a>
            </p>
            <Downloads files evolution_id=evolution_id.clone() iteration=number/>
        </section>
        <section aria-labelledby="steps-title">
            <h2 id="steps-title">"Steps"</h2>
            <Steps steps=iteration.steps run_id=run_id.clone() evolution_id=evolution_id.clone() imported/>
            <Logs logs evolution_id iteration=number imported/>
        </section>
        <nav class="paging" aria-label="Iterations">
            {neighbour(number.saturating_sub(1), "Previous iteration", "prev")}
            {neighbour(number + 1, "Next iteration", "next")}
        </nav>
    }
}
