//! The figures of the paper for the runs of one split, and four of our own. The
//! server computes their data and sends it to the browser, instead of the
//! leaderboard data. `/embed/<figure>` has one of them for other sites to
//! frame.

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
                "The plots of the paper, drawn from the runs on this site, and four figures of our own. Every point has a label; the data is below each picture."
            </p>
        </div>
        {loaded(resource, move |shown| view! { <FiguresView shown reading/> })}
    }
}
