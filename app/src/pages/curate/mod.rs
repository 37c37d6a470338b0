//! Planning a new split, curated from git histories.

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
                "A curation collects repositories, finds stretches of their history with unchanged dependencies, builds an image for each in which its tests run, and turns the best into tasks."
            </p>
        </div>
        {loaded(resource, move |planning| view! { <Planning planning answer=answer.clone()/> })}
    }
}
