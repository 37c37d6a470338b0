//! The form that plans a curation, and the list of curations.

use leptos::prelude::*;
use swe_ci_views::curation::{CurationSummary, Stage};

use super::data;
use crate::components::{ListTable, Time};
use crate::form_answer::FormAnswer;
use crate::format;
use crate::pages::routes::curation_href;

const FORM: &str = "curate";

#[component]
pub fn Planning(planning: data::Planning, answer: FormAnswer) -> impl IntoView {
    let data::Planning { example, curations } = planning;
    let problem = answer.problem(FORM, "plan");
    let wrong = problem.is_some();
    let text = answer.kept(FORM, "plan").unwrap_or(example);
    let described = if wrong {
        "field-plan-problem field-plan-hint"
    } else {
        "field-plan-hint"
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
        let tasks = curation
            .funnel
            .iter()
            .find(|count| count.stage == Stage::Filter);
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
