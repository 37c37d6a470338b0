//! Submitting a run: a form with the settings of a configuration.

mod desk;
mod estimate;
mod settings;

use leptos::prelude::*;
use swe_ci_views::run_list::ListedRun;
use swe_ci_views::submission::{PRESETS, Section};

use crate::components::CheckedForm;
use crate::components::CollectAny;
use crate::components::{
    Form, FormAnswer, InPlace, LongText, OneOf, PageTop, Popup, TomlFile, fetched, loaded,
};
use crate::format;
use crate::query::{encode, named, of_query};

pub use estimate::estimate_in_html;

use desk::{Desk, new_run, visibilities};
use estimate::{Planned, estimated_or_not};
use settings::{Advanced, Continued, Summary, VISIBILITY, fields};

#[component]
pub fn SubmitPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let start = of_query(|query| (named(query, "from"), named(query, "preset")));
    let resource = fetched(move || start.get(), new_run);
    view! {
        <PageTop
            title="New run"
            description="Submit a run: a model, a harness, and the tasks they work on."
            lede="Choose a provider and a model; everything else has a default."
            missing=true
        />
        <InPlace/>
        {loaded(resource, move |desk| view! { <RunForm desk answer/> })}
    }
}

#[component]
fn RunForm(desk: Desk, answer: StoredValue<FormAnswer>) -> impl IntoView {
    let sent = Form::new("run", answer);
    let form = sent.checked(desk.form);
    let (answered, models) =
        answer.with_value(|answer| (answer.estimate.clone(), answer.models.clone()));
    let mut choices = desk.choices;
    choices.models.clone_from(&models);
    let choices = StoredValue::new(choices);
    let models = models
        .into_iter()
        .map(|model| view! { <option value=model></option> });
    let is_answer = answered.is_some().then_some("");
    let estimate = answered.or(desk.estimate);
    view! {
        <Presets url=form.kept("endpoint.url").unwrap_or_default() earlier=desk.earlier/>
        <CheckedForm>
        <form class="run-form" method="post" action="/runs/new" autocomplete="off" data-in-place="">
            // The first button is the one that Enter presses.
            <button hidden=true type="submit" name="deed" value="submit"></button>
            <Summary form/>
            <datalist id="models">{models.collect_any()}</datalist>
            <div class="run-form-fields">
                <div class="run-form-start">
                    {fields(form, Section::Start, choices)}
                    <OneOf form name=VISIBILITY label="Who sees it" options=visibilities()/>
                </div>
                <Advanced form choices/>
                <Continued form choices/>
            </div>
            <section class="note run-form-estimate" id="preview" aria-labelledby="preview-title" tabindex="-1" data-result=is_answer>
                <h2 id="preview-title">"Estimate"</h2>
                <div data-estimate="" aria-live="polite">
                    {estimated_or_not(estimate)}
                </div>
            </section>
            <p class="run-form-buttons">
                <button class="button button-main" type="submit" name="deed" value="submit">"Check and start"</button>
                <button class="button" type="submit" name="deed" value="preview" formaction="/runs/new#preview">"Preview"</button>
                <span class="quiet">"Some minutes of checks come first: key, model, tools, one quick task."</span>
            </p>
        </form>
        </CheckedForm>
        <FromText sent/>
    }
}

/// Ways to begin: with a provider, or like an earlier run.
#[component]
fn Presets(url: String, earlier: Vec<ListedRun>) -> impl IntoView {
    let link = |href: String, title: &'static str, is_chosen: bool| {
        let current = is_chosen.then_some("true");
        view! { <a class="button" href=href aria-current=current>{title}</a> }
    };
    let is_other = PRESETS.iter().all(|preset| preset.url != url);
    let links = PRESETS.iter().map(|preset| {
        let href = format!("/runs/new?preset={}", preset.name);
        link(href, preset.title, preset.url == url)
    });
    let like = earlier.into_iter().map(|run| {
        let href = format!("/runs/new?from={}", encode(&run.summary.run_id));
        let config = run.summary.config;
        let words = format!(
            "{} · {} · {} · {}",
            config.model,
            config.harness.name(),
            config.split,
            format::day(&run.summary.created_at)
        );
        view! { <li><a href=href><bdi>{words}</bdi></a></li> }
    });
    let like = like.collect_any();
    let menu = (!like.is_empty()).then(|| {
        view! {
            <Popup class="menu" summary="Like an earlier run">
                <ul class="menu-panel">{like}</ul>
            </Popup>
        }
    });
    view! {
        <nav class="presets" aria-label="Begin with">
            {links.collect_any()}
            {link("/runs/new".to_owned(), "Other", is_other)}
            {menu}
        </nav>
    }
}

/// Fills the form from a configuration in TOML.
#[component]
fn FromText(sent: Form) -> impl IntoView {
    let planned = sent.read(|answer| answer.planned.clone());
    let open = sent.problem("toml").is_some() || planned.is_some();
    view! {
        <details class="from-text" open=open>
            <summary>"From a configuration in TOML, or a whole experiment"</summary>
            {planned.map(|planned| view! { <Planned planned/> })}
            <form class="form" method="post" action="/runs/new" enctype="multipart/form-data">
                <TomlFile name="toml-file" label="A file"/>
                <LongText form=sent name="toml" label="Or its text" rows=10/>
                <button class="button" type="submit" name="deed" value="read">"Fill the form"</button>
                <button class="button" type="submit" name="deed" value="estimate-all">"Estimate the experiment"</button>
                <button class="button" type="submit" name="deed" value="submit-all">"Start all its runs"</button>
                <p class="quiet">"A table vary makes an experiment, with a run for each combination: vary.mode = [\"tdd\", \"impossible\"]."</p>
            </form>
        </details>
    }
}
