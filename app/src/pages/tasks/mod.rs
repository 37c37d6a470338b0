//! The tasks, of one split or all: narrowed, ordered, and what they are like
//! together.

mod data;
mod filters;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::{Asked, browse};
use self::view::TaskList;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;

pub(crate) use self::data::tasks_between;

#[component]
pub fn TasksPage() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| query.with(Asked::of));
    let resource = fetched(move || asked.get(), browse);
    view! {
        <PageHead title="Tasks" description="The tasks of the benchmark: real repositories between two commits, and the tests that tell them apart."/>
        <div class="hero">
            <h1>"Tasks"</h1>
            <p class="lede">
                "A task is a real repository at two moments of its history, the base and the target. The gap is what an agent has to close: tests the target passes and the base does not."
            </p>
        </div>
        {loaded(resource, move |found| view! { <TaskList asked=asked.get_untracked() found/> })}
    }
}
