//! What an agent and its model said to each other in one step.

mod data;
mod finding;
mod message;
mod text;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

pub(super) use self::data::conversation_href;
use self::data::{Address, said};
use self::view::ConversationView;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn ConversationPage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let address = Memo::new(move |_| params.with(|p| query.with(|q| Address::of(p, q))));
    let resource = fetched(move || address.get(), said);
    loaded(resource, |page| view! { <ConversationView page/> })
}
