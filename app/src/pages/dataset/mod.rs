//! One split as a whole.

mod view;

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use leptos_router::hooks::use_params_map;

use swe_ci_views::dataset::SplitDetail;

use self::view::Split;
use crate::components::loaded;
use crate::error::AppError;
use crate::fetched::fetched;

#[component]
pub fn DatasetPage() -> impl IntoView {
    let params = use_params_map();
    let name = Memo::new(move |_| params.with(|p| p.get("split").unwrap_or_default()));
    let resource = fetched(move || name.get(), split);
    loaded(resource, |detail| view! { <Split detail/> })
}

#[server(prefix = "/api/pages", endpoint = "split", input = GetUrl)]
pub async fn split(name: String) -> Result<SplitDetail, AppError> {
    Ok(crate::error::engine()?.split(&name).await?)
}
