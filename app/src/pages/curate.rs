//! Planning a new split, curated from git histories.

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};
use swe_ci_views::curation::{CurationSummary, Stage};

use crate::components::{ListTable, PageTop, Time, loaded};
use crate::error::AppError;
use crate::fetched::fetched;
use crate::form_answer::{Form, FormAnswer};
use crate::format;
use crate::pages::routes::curation_href;

/// The defaults of a plan, and earlier plans.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Planning {
    pub example: String,
    pub curations: Vec<CurationSummary>,
}

#[server(prefix = "/api/pages", endpoint = "plans", input = GetUrl)]
pub async fn plans() -> Result<Planning, AppError> {
    Ok(Planning {
        curations: crate::error::engine()?.curations().await?,
        example: swe_ci_engine::EXAMPLE_PLAN.to_owned(),
    })
}

#[component]
pub fn CuratePage() -> impl IntoView {
    let form = Form::new("curate", FormAnswer::of_page());
    let resource = fetched(|| (), |()| plans());
    view! {
        <nav class="crumbs" aria-label="Where this is"><a href="/datasets">"Datasets"</a></nav>
        <PageTop
            title="New dataset"
            description="Make a split from git histories."
            lede="A curation collects repositories, finds stretches of their history with unchanged dependencies, builds an image for each in which its tests run, and turns the best into tasks."
            missing=true
        />
        {loaded(resource, move |planning| view! { <PlanForm planning form/> })}
    }
}

#[component]
fn PlanForm(planning: Planning, form: Form) -> impl IntoView {
    let Planning { example, curations } = planning;
    let problem = form.problem("plan");
    let wrong = problem.is_some();
    let text = form.kept("plan").unwrap_or(example);
    let described = match wrong {
        true => "field-plan-problem field-plan-hint",
        false => "field-plan-hint",
    };
    view! {
        <form class="form plan" method="post" action="/datasets/new" enctype="multipart/form-data">
            <div class="form-row">
                <label for="field-plan">"Plan"</label>
                <textarea
                    id="field-plan"
                    name="plan"
                    rows="24"
                    spellcheck="false"
                    autocapitalize="none"
                    autofocus=wrong
                    aria-invalid=wrong.then_some("true")
                    aria-describedby=described
                >
                    {text}
                </textarea>
                {problem.map(|why| view! { <p class="form-problem" id="field-plan-problem">{why}</p> })}
                <p class="quiet" id="field-plan-hint">
                    "TOML. Image builds have network access and run the set-up code of the named repositories: name only those you trust."
                </p>
            </div>
            <div class="form-row">
                <label for="field-plan-file">"Or a file"</label>
                <input id="field-plan-file" type="file" name="plan-file" accept=".toml,application/toml,text/plain"/>
            </div>
            <button class="button" type="submit">"Begin"</button>
        </form>
        <Before curations/>
    }
}

#[component]
fn Before(curations: Vec<CurationSummary>) -> impl IntoView {
    let row = |curation: CurationSummary| {
        let mut stages = curation.funnel.iter();
        let tasks = stages.find(|count| count.stage == Stage::Filter);
        let tasks = tasks.map_or(0, |count| count.survived);
        view! {
            <tr role="row">
                <th role="rowheader" scope="row">
                    <a href=curation_href(&curation.curation_id)>{curation.split}</a>
                </th>
                <td role="cell" data-label="State">{curation.state.name()}</td>
                <td role="cell" data-label="Tasks">{format::thousands(tasks)}</td>
                <td role="cell" data-label="Started"><Time at=Some(curation.created_at)/></td>
            </tr>
        }
    };
    (!curations.is_empty()).then(|| {
        view! {
            <section aria-labelledby="before-title">
                <h2 id="before-title">"Before"</h2>
                <ListTable caption="Curations" columns=&["Split", "State", "Tasks", "Started"]>
                    {curations.into_iter().map(row).collect_view()}
                </ListTable>
            </section>
        }
    })
}
