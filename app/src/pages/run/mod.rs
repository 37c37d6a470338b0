//! One run: its evolutions and scores, as they are and as they happen.

mod apply;
mod data;
mod evolution;
mod follow;
mod log;
mod profile;
mod recorded;
mod scores;
mod taken;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

pub(super) use self::data::run;
use self::data::whole_run;
pub(super) use self::evolution::Iterations;
use self::view::RunView;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|p| p.get("id").unwrap_or_default()));
    let resource = fetched(move || id.get(), whole_run);
    loaded(resource, |whole| view! { <RunView whole/> })
}
