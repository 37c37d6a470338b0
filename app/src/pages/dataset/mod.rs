//! One split as a whole.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use self::data::split;
use self::view::Split;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn DatasetPage() -> impl IntoView {
    let params = use_params_map();
    let name = Memo::new(move |_| params.with(|p| p.get("split").unwrap_or_default()));
    let resource = fetched(move || name.get(), split);
    loaded(resource, |detail| view! { <Split detail/> })
}
