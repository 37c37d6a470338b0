//! One model: all its runs, and its strengths.

mod data;
mod strengths;
mod trend;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use swe_ci_core::metrics::Convention;

use self::data::model;
use self::view::ModelView;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn ModelPage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let name = Memo::new(move |_| params.with(|p| p.get("name").unwrap_or_default()));
    let convention = Memo::new(move |_| {
        let asked = |c: &str| c.parse::<Convention>().ok();
        query.with(|q| q.get_str("convention").and_then(asked).unwrap_or_default())
    });
    let resource = fetched(move || name.get(), model);
    loaded(
        resource,
        move |detail| view! { <ModelView detail convention/> },
    )
}
