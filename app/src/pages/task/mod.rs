//! One task: its history, its tests.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::data::task;
use self::view::TaskView;
use crate::components::loaded;

#[component]
pub fn TaskPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let id = Memo::new(move |_| params.with(|p| p.get("id").unwrap_or_default()));
    let all_tests = Memo::new(move |_| query.with(|q| q.get_str("tests") == Some("all")));
    let resource = Resource::new(move || id.get(), task);
    loaded(
        resource,
        move |detail| view! { <TaskView detail all_tests/> },
    )
}
