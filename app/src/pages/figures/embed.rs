use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use swe_ci_views::figures::Figure;

use super::data::{Shown, shown};
use super::section::Drawing;
use crate::components::{PageHead, loaded};
use crate::error::AppError;
use crate::fetched::fetched;
use crate::format;
use crate::query::Reading;

/// A single figure, for other sites to frame.
#[component]
pub fn EmbedPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let reading = Memo::new(move |_| query.with(Reading::of));
    let slug = Memo::new(move |_| params.with(|p| p.get("figure").unwrap_or_default()));
    let resource = fetched(move || (slug.get(), reading.get()), one);
    view! { {loaded(resource, move |shown| view! { <EmbedView shown/> })} }
}

async fn one((slug, reading): (String, Reading)) -> Result<Shown, AppError> {
    let which: Figure = slug
        .parse()
        .map_err(|_| AppError::not_found(format!("There is no figure `{slug}`.")))?;
    shown(reading, Some(which)).await
}

#[component]
fn EmbedView(shown: Shown) -> impl IntoView {
    let whole = shown.address("figures");
    let split = shown.split.clone().unwrap_or_default();
    let words = format!(
        "{split}, {} convention, γ {}",
        shown.convention.name(),
        format::gamma(shown.gamma)
    );
    let figures = shown.figures.clone();
    let shown = StoredValue::new(shown);
    let figure = move |(which, data): (Figure, _)| {
        let href = format!("{whole}#{}", which.name());
        view! {
            <PageHead title=which.title() description=which.reading()/>
            <figure class="embed">
                <figcaption>
                    <h1>{which.title()}</h1>
                    <p>{which.reading()}</p>
                </figcaption>
                <Drawing which data shown/>
                <p class="quiet">
                    <a href=href target="_blank" rel="external noopener">"swe-ci"</a>
                    {format!(" · {words}")}
                </p>
            </figure>
        }
    };
    figures.into_iter().map(figure).collect_view()
}
