//! One run: its evolutions and scores, updated live.

mod actions;
mod apply;
mod data;
mod evolution;
mod follow;
mod log;
mod preflight;
mod profile;
mod record;
mod scores;
mod status;
mod usage;
mod verification;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

pub(super) use self::data::run;
use self::data::whole_run;
use self::view::RunView;
use crate::components::loaded;
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;

#[component]
pub fn RunPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|p| p.get("id").unwrap_or_default()));
    let answer = FormAnswer::of_page();
    let resource = fetched(move || id.get(), whole_run);
    loaded(resource, move |whole| view! { <RunView whole answer/> })
}
