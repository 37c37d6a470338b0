//! The transcript of one step: the messages between an agent and its model.

mod data;
mod finding;
mod message;
mod text;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::data::{Address, messages_at};
use self::view::ConversationView;
use crate::components::loaded;
use crate::fetched::fetched;

#[component]
pub fn ConversationPage() -> impl IntoView {
    let (params, query) = (use_params_map(), use_query_map());
    let address = Memo::new(move |_| params.with(|p| query.with(|q| Address::of(p, q))));
    let resource = fetched(move || address.get(), messages_at);
    loaded(resource, |page| view! { <ConversationView page/> })
}
