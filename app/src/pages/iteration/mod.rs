//! One iteration: its requirements, its steps and its results.

mod code;
mod container;
mod data;
mod files;
mod hunks;
mod parts;
mod steps;
mod tests;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

pub(super) use self::code::{ChangedCode, ChangedFiles, Layout};
use self::data::{Address, whole_iteration};
pub(super) use self::files::{Downloads, Logs};
pub(super) use self::parts::{Facts, Requirements};
pub(super) use self::steps::Steps;
pub(super) use self::tests::ChangedTests;
use self::view::IterationView;
use crate::components::loaded;
use crate::fetched::fetched;
use crate::pages::routes::{DIFF, SPLIT};

#[component]
pub fn IterationPage() -> impl IntoView {
    let params = use_params_map();
    let address = Memo::new(move |_| params.with(Address::of));
    let query = use_query_map();
    let split = Memo::new(move |_| query.with(|query| query.get_str(DIFF) == Some(SPLIT)));
    let resource = fetched(move || address.get(), whole_iteration);
    loaded(
        resource,
        move |whole| view! { <IterationView whole split/> },
    )
}
