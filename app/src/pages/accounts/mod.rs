//! All accounts, for administrators.

mod data;
mod invitations;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::accounts;
use self::invitations::Invitations;
use self::view::AccountList;
use crate::components::{Confirmation, PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::query::named;
use crate::reader::Reader;

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 4] = [
    ("role", "The role is changed."),
    (
        "disabled",
        "The account is disabled and signed out everywhere; its tokens no longer work.",
    ),
    ("enabled", "The account may sign in again."),
    (
        "withdrawn",
        "The invitation is withdrawn: its link no longer works.",
    ),
];

#[component]
pub fn AccountsPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let done = use_query_map().with_untracked(|query| named(query, "done"));
    let resource = fetched(|| (), |()| accounts());
    let me = Reader::at_hand().identity().map(|who| who.name.clone());
    view! {
        <PageHead title="Accounts" description="The accounts of this site and their roles." missing=true/>
        <div class="hero">
            <h1>"Accounts"</h1>
        </div>
        <Confirmation word=done known=&DONE/>
        {loaded(resource, move |people| view! {
            <AccountList accounts=people.accounts me=me.clone() answer=answer.clone()/>
            <Invitations invitations=people.invitations answer=answer.clone()/>
        })}
    }
}
