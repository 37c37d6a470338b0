//! Submitting a run: a form that says what its configuration says.

mod data;
mod fields;
mod preview;
mod typed;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::new_run;
use self::view::Sheet;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::query::named;

#[component]
pub fn SubmitPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let query = use_query_map();
    let from = Memo::new(move |_| query.with(|query| named(query, "from")));
    let resource = fetched(move || from.get(), new_run);
    view! {
        <PageHead title="New run" description="Submit a run: a model, a harness, and the tasks they work on." missing=true/>
        <div class="hero">
            <h1>"New run"</h1>
            <p class="lede">
                "A model and the harness it works with, through the tasks of a split. The run waits in the queue until a worker is free."
            </p>
        </div>
        {loaded(resource, move |desk| view! { <Sheet desk answer=answer.clone()/> })}
    }
}
