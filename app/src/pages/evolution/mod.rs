//! One evolution: its course, and the outcome of every test in every iteration.

mod data;
mod filter;
mod heat;
mod panel;
mod row;
mod scores;
mod symbols;
mod tests;
mod view;
mod window;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_params_map, use_query_map};

pub(super) use self::data::evolution;
use self::data::{chosen_of, evolution_at};
use self::view::EvolutionPageView;
use crate::components::loaded;
use crate::fetched::fetched;
use crate::pages::routes::{EvolutionAddress, EvolutionQuery};

#[component]
pub fn EvolutionPage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let address = Memo::new(move |_| params.with(|p| query.with(|q| EvolutionAddress::of(p, q))));
    let reading = Memo::new(move |_| query.with(EvolutionQuery::of));
    let resource = fetched(move || address.get(), evolution_at);
    let iteration = Memo::new(move |_| reading.with(|r| r.iteration));
    let chosen = fetched(move || (address.get(), iteration.get()), chosen_of);
    let navigate = use_navigate();
    // The filter changes the address without adding to the history.
    let go = Callback::new(move |reading: EvolutionQuery| {
        let options = NavigateOptions {
            replace: true,
            scroll: false,
            ..NavigateOptions::default()
        };
        let address = address.get_untracked();
        navigate(&address.href(&reading), options);
    });
    loaded(
        resource,
        move |shown| view! { <EvolutionPageView shown chosen reading go/> },
    )
}
