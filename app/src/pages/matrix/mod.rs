//! Every task against every run: which tasks are hard, and for whom.

mod data;
mod grid;
mod query;
mod table;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::find;
use self::query::MatrixQuery;
use self::view::MatrixView;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;

#[component]
pub fn MatrixPage() -> impl IntoView {
    let params = use_query_map();
    let query = Memo::new(move |_| params.with(MatrixQuery::of));
    let resource = fetched(move || query.get(), find);
    view! {
        <PageHead
            title="Tasks × runs"
            description="Every task of the benchmark against every run: which tasks are hard, and for whom."
        />
        <nav class="crumbs" aria-label="Where this is"><a href="/tasks">"Tasks"</a></nav>
        <div class="hero">
            <h1>"Tasks × runs"</h1>
            <p class="lede">
                "Which tasks are hard, and for whom: a row for each task, a column for each run in the order of the leaderboard. A cell is the EvoScore of the run on the task, and links to its evolution."
            </p>
        </div>
        {loaded(resource, move |found| view! { <MatrixView found query/> })}
    }
}
