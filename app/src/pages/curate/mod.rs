//! A new split, made from git histories.

mod data;
mod view;

use leptos::prelude::*;

use self::data::plans;
use self::view::Planning;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;

#[component]
pub fn CuratePage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let resource = fetched(|| (), |()| plans());
    view! {
        <PageHead title="New dataset" description="Make a split from git histories." missing=true/>
        <nav class="crumbs" aria-label="Where this is"><a href="/datasets">"Datasets"</a></nav>
        <div class="hero">
            <h1>"New dataset"</h1>
            <p class="lede">
                "Repositories are collected, stretches of their history with unchanged dependencies found, an image built for each in which its tests run, and the best become tasks."
            </p>
        </div>
        {loaded(resource, move |planning| view! { <Planning planning answer=answer.clone()/> })}
    }
}
