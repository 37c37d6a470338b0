//! One task: its history, its tests, and the models' results on it.

mod data;
mod gap;
mod prepared;
mod results;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::data::{Reading, whole_task};
use self::view::TaskView;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn TaskPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|p| p.get("id").unwrap_or_default()));
    let reading = Memo::new(move |_| query.with(Reading::of));
    let resource = fetched(move || id.get(), whole_task);
    loaded(resource, move |whole| view! { <TaskView whole reading/> })
}
