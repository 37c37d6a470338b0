//! One run: its evolutions and scores, as they are and as they happen.

mod actions;
mod apply;
mod card;
mod data;
mod evolution;
mod follow;
mod log;
mod profile;
mod recorded;
mod scores;
mod standing;
mod taken;
mod tried;
mod verified;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

pub(super) use self::data::run;
use self::data::whole_run;
pub(super) use self::evolution::Iterations;
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
    loaded(
        resource,
        move |whole| view! { <RunView whole answer=answer.clone()/> },
    )
}
