//! One iteration: what was asked for, what was done, what came of it.

mod data;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use self::data::{Address, whole_iteration};
use self::view::IterationView;
use crate::components::loaded;

#[component]
pub fn IterationPage() -> impl IntoView {
    let params = use_params_map();
    let address = Memo::new(move |_| params.with(Address::of));
    let resource = Resource::new(move || address.get(), whole_iteration);
    loaded(resource, |whole| view! { <IterationView whole/> })
}
