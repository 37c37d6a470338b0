//! Two to six runs side by side, or the form to select them.

mod choose;
mod course;
mod data;
mod heads;
mod names;
mod pairs;
mod query;
mod style;
mod tasks;
mod view;

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::choose::Choose;
use self::data::{Found, find};
use self::query::CompareQuery;
use self::view::SideBySide;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn ComparePage() -> impl IntoView {
    let params = use_query_map();
    let query = Memo::new(move |_| params.with(CompareQuery::of));
    let needed = Memo::new(move |_| query.get().all_pairs());
    let resource = fetched(move || needed.get(), find);
    loaded(resource, move |found| match found {
        Found::Compared(versus) => Either::Left(view! { <SideBySide versus=*versus query/> }),
        Found::Choosing {
            choice,
            ticked,
            refused,
        } => Either::Right(view! { <Choose choice ticked refused query/> }),
    })
}
