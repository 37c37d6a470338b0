//! One model: all its runs, and its strengths.

mod strengths;
mod trend;
mod view;

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use leptos_router::hooks::{use_params_map, use_query_map};
use swe_ci_views::leaderboard::ModelDetail;

use self::view::ModelView;
use crate::components::loaded;
use crate::error::{AppError, ErrorKind};
use crate::fetched::fetched;
use crate::query::parsed;

#[component]
pub fn ModelPage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let name = Memo::new(move |_| params.with(|p| p.get("name").unwrap_or_default()));
    let convention =
        Memo::new(move |_| query.with(|q| parsed(q, "convention").unwrap_or_default()));
    let resource = fetched(move || name.get(), model);
    loaded(
        resource,
        move |detail| view! { <ModelView detail convention/> },
    )
}

#[server(prefix = "/api/pages", endpoint = "model", input = GetUrl)]
pub async fn model_of(name: String) -> Result<ModelDetail, AppError> {
    Ok(crate::error::engine()?.model(&name).await?)
}

async fn model(name: String) -> Result<ModelDetail, AppError> {
    model_of(name).await.map_err(|error| match error.kind {
        ErrorKind::NotFound => AppError::not_found(
            "No run on this site has a model of this name. The leaderboard lists all scored models; names must match exactly, including capitals.",
        ),
        _ => error,
    })
}
