//! All runs, newest first.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use swe_ci_views::account::AccountRole;

use self::data::runs;
use self::view::RunList;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::query::named;
use crate::reader::Reader;

#[component]
pub fn RunsPage() -> impl IntoView {
    let query = use_query_map();
    let after = Memo::new(move |_| query.with(|q| named(q, "after")));
    let resource = fetched(move || after.get(), runs);
    let new_run = Reader::at_hand()
        .is(AccountRole::Submitter)
        .then(|| view! { <p><a class="button" href="/runs/new">"New run"</a></p> });
    view! {
        <PageHead title="Runs" description="Runs of model configurations over splits: queued, running and finished."/>
        <div class="hero">
            <h1>"Runs"</h1>
            <p class="lede">
                "A run applies one model configuration to every task of a split. Open one to follow it live, or to inspect each iteration afterwards."
            </p>
            {new_run}
        </div>
        {loaded(resource, |page| view! { <RunList page/> })}
    }
}
