//! The code style of one evolution beside the oracle's, file by file.

mod data;
mod files;
mod versions;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::data::style_at;
pub(super) use self::data::style_href;
use self::view::StylePageView;
use crate::components::loaded;
use crate::fetched::fetched;
use crate::pages::evolution::Address;
use crate::pages::iteration::{DIFF, SPLIT};

#[component]
pub fn StylePage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let address = Memo::new(move |_| params.with(|p| query.with(|q| Address::of(p, q))));
    // Two versions of a file are looked at side by side, unless asked otherwise.
    let split =
        Memo::new(move |_| query.with(|query| query.get_str(DIFF).is_none_or(|d| d == SPLIT)));
    let resource = fetched(move || address.get(), style_at);
    loaded(
        resource,
        move |shown| view! { <StylePageView shown split/> },
    )
}
