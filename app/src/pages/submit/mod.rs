//! Submitting a run: a form with the fields of a configuration.

mod data;
mod fields;
mod form_state;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::new_run;
use self::view::RunSheet;
use crate::components::{PageTop, loaded};
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
        <PageTop
            title="New run"
            description="Submit a run: a model, a harness, and the tasks they work on."
            lede="A run applies a model and its harness to the tasks of a split. It waits in the queue until a worker is free."
            missing=true
        />
        {loaded(resource, move |desk| view! { <RunSheet desk answer/> })}
    }
}
