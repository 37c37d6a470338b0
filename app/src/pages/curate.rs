//! Planning a new split, curated from git histories.

use leptos::prelude::*;
use swe_ci_engine::{CurationPlan, CurationSource, repository_name};
use swe_ci_views::curation::{CurationSummary, Stage};

use crate::components::CollectAny;
use crate::components::{
    Field, Form, FormAnswer, ListTable, LongText, PageTop, Time, TomlFile, crumb, fetched, loaded,
};
use crate::error::AppError;
use crate::format;
use crate::pages::routes::curation_href;
use crate::query::{named, of_query};

/// The plan to begin with, and earlier curations.
#[derive(Debug, Clone)]
struct Planning {
    plan: String,
    curations: Vec<CurationSummary>,
}

/// `from` is the id of a curation whose plan fills the form, `first_look` the address
/// of a repository to try.
async fn plans((from, first_look): (Option<String>, Option<String>)) -> Result<Planning, AppError> {
    let engine = crate::error::engine()?;
    let plan = match (from, first_look) {
        (Some(id), _) => engine.curation(&id).await?.plan,
        (None, Some(address)) => {
            let split = format!("try-{}", repository_name(&address));
            let source = CurationSource {
                git: Some(address),
                ..CurationSource::default()
            };
            let plan = CurationPlan::first_look(&split, source);
            plan.to_toml().map_err(swe_ci_engine::Error::from)?
        }
        (None, None) => swe_ci_engine::EXAMPLE_PLAN.to_owned(),
    };
    Ok(Planning {
        curations: engine.curations().await?,
        plan,
    })
}

#[component]
pub fn CuratePage() -> impl IntoView {
    let form = Form::new("curate", FormAnswer::of_page());
    let begins_with = of_query(|query| (named(query, "from"), named(query, "try")));
    let resource = fetched(move || begins_with.get(), plans);
    view! {
        <PageTop
            title="New dataset"
            description="Make a split from git histories."
            lede="A curation collects repositories, finds stretches of their history with unchanged dependencies, builds an image for each in which its tests run, and turns the best into tasks."
            missing=true
            crumbs=vec![crumb("/datasets", "Datasets")]
        />
        <TryForm/>
        {loaded(resource, move |planning| view! { <PlanForm planning form/> })}
    }
}

/// Fills the plan for a first look at one repository.
#[component]
fn TryForm() -> impl IntoView {
    view! {
        <form class="form" method="get" action="/datasets/new">
            <Field
                form=Form::new("try", FormAnswer::of_page())
                name="try"
                label="Try your repository"
                hint="Its address. Fills the plan below with gentle defaults: the newest spans, one to three tasks, five iterations."
                required=true
            />
            <button class="button" type="submit">"Fill the plan"</button>
        </form>
    }
}

#[component]
fn PlanForm(planning: Planning, form: Form) -> impl IntoView {
    let Planning { plan, curations } = planning;
    view! {
        <form class="form plan" method="post" action="/datasets/new" enctype="multipart/form-data">
            <LongText
                form
                name="plan"
                label="Plan"
                rows=24
                value=plan
                hint="TOML. Image builds have network access and run the set-up code of the named repositories: name only those you trust."
            />
            <TomlFile name="plan-file" label="Or a file"/>
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
                    {curations.into_iter().map(row).collect_any()}
                </ListTable>
            </section>
        }
    })
}
