//! The tasks of one split or all: filtered, sorted, and their distributions.

mod data;
mod filters;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::{TasksQuery, browse};
use self::view::TaskList;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;

#[component]
pub fn TasksPage() -> impl IntoView {
    let params = use_query_map();
    let query = Memo::new(move |_| params.with(TasksQuery::of));
    let resource = fetched(move || query.get(), browse);
    view! {
        <PageHead title="Tasks" description="The tasks of the benchmark: real repositories between two commits, and the tests that tell them apart."/>
        <div class="hero">
            <h1>"Tasks"</h1>
            <p class="lede">
                "A task is a real repository at two points of its history, the base and the target. The gap, which an agent has to close, is the tests that pass on the target but not on the base."
            </p>
        </div>
        {loaded(resource, move |found| view! { <TaskList query=query.get_untracked() found/> })}
    }
}
