//! The code style of one evolution compared with the oracle's, file by file.

mod data;
mod files;
mod versions;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::data::style_at;
use self::view::StylePageView;
use crate::components::loaded;
use crate::fetched::fetched;
use crate::pages::routes::{DIFF, EvolutionAddress, SPLIT};

#[component]
pub fn StylePage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let address = Memo::new(move |_| params.with(|p| query.with(|q| EvolutionAddress::of(p, q))));
    // Two versions of a file are shown side by side by default.
    let split =
        Memo::new(move |_| query.with(|query| query.get_str(DIFF).is_none_or(|d| d == SPLIT)));
    let resource = fetched(move || address.get(), style_at);
    loaded(
        resource,
        move |shown| view! { <StylePageView shown split/> },
    )
}
