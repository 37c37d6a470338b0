//! Score against money and against time, with the front that no run beats in both.

use leptos::prelude::*;
use swe_ci_plots::{Layout, Series, Theme, figure};
use swe_ci_views::figures::{Data, Figure};

use crate::components::CollectAny;
use crate::components::Picture;
use crate::query::Reading;

/// Nothing where no run has either.
#[component]
pub(super) fn Frontier(
    figures: Vec<(Figure, Data)>,
    /// How the runs look.
    series: Series,
    reading: Reading,
) -> impl IntoView {
    let drawn = |(which, data): &(Figure, Data)| {
        // Two fit side by side, and one on a phone.
        let picture = figure(*which, data, &series, Layout::Narrow, Theme::Page);
        let href = format!("/figures{}#{}", reading.to_query(), which.name());
        view! {
            <figure class="figure">
                <figcaption>
                    <h3>{which.title()}</h3>
                    <p>{which.reading()}</p>
                    <p class="figure-links"><a href=href>"Files and numbers"</a></p>
                </figcaption>
                <Picture figure=picture/>
            </figure>
        }
    };
    (!figures.is_empty()).then(|| {
        view! {
            <section class="frontier" aria-labelledby="frontier-title" data-lines="">
                <h2 id="frontier-title">"What a score costs"</h2>
                <div class="frontier-figures">{figures.iter().map(drawn).collect_any()}</div>
            </section>
        }
    })
}
