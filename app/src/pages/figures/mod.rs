//! The figures of the paper from the runs of one split, and four of ours. What
//! they show is counted on the server; the browser is sent that, not the
//! sheet. `/embed/<figure>` has one of them for other sites to frame.

mod controls;
mod data;
mod embed;
mod section;
mod table;
mod view;

pub use embed::EmbedPage;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::shown;
use self::view::FiguresView;
use crate::components::{PageHead, loaded};
use crate::fetched::fetched;
use crate::query::Reading;

#[component]
pub fn FiguresPage() -> impl IntoView {
    let query = use_query_map();
    let reading = Memo::new(move |_| query.with(Reading::of));
    let resource = fetched(move || reading.get(), |reading| shown(reading, None));
    view! {
        <PageHead
            title="Figures"
            description="The figures of the SWE-CI paper, drawn from the runs on this site: EvoScore by release date, rank against γ, regressions, code style, solved tasks, iterations and tokens."
        />
        <div class="hero">
            <h1>"Figures"</h1>
            <p class="lede">
                "What the paper plots, from the runs on this site, and four figures of ours. Every point says what it stands for; below each picture are its numbers."
            </p>
        </div>
        {loaded(resource, move |shown| view! { <FiguresView shown reading/> })}
    }
}
