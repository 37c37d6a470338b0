//! Two to six runs side by side, or the form that chooses them.

mod asked;
mod choose;
mod course;
mod data;
mod heads;
mod names;
mod pairs;
mod style;
mod tasks;
mod view;

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::asked::Asked;
use self::choose::Choose;
use self::data::{Found, find};
use self::view::SideBySide;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn ComparePage() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| query.with(Asked::of));
    let needed = Memo::new(move |_| asked.get().all_pairs());
    let resource = fetched(move || needed.get(), find);
    loaded(resource, move |found| match found {
        Found::Compared(versus) => Either::Left(view! { <SideBySide versus=*versus asked/> }),
        Found::Choosing {
            choice,
            ticked,
            refused,
        } => Either::Right(view! { <Choose choice ticked refused asked/> }),
    })
}
