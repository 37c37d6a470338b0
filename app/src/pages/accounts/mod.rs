//! Who has an account, for those who say who may.

mod data;
mod invitations;
mod view;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::accounts;
use self::invitations::Invitations;
use self::view::AccountList;
use crate::components::{Done, PageHead, loaded};
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::query::named;
use crate::reader::Reader;

/// What `done=` may say, and what the page says to it.
const DONE: [(&str, &str); 4] = [
    ("role", "The role is changed."),
    (
        "disabled",
        "The account is disabled and signed out everywhere; its tokens are good for nothing.",
    ),
    ("enabled", "The account may sign in again."),
    (
        "withdrawn",
        "The invitation is withdrawn: its link leads nowhere.",
    ),
];

#[component]
pub fn AccountsPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let done = use_query_map().with_untracked(|query| named(query, "done"));
    let resource = fetched(|| (), |()| accounts());
    let me = Reader::at_hand().identity().map(|who| who.name.clone());
    view! {
        <PageHead title="Accounts" description="Who may do what on this site." missing=true/>
        <div class="hero">
            <h1>"Accounts"</h1>
        </div>
        <Done said=done known=&DONE/>
        {loaded(resource, move |people| view! {
            <AccountList accounts=people.accounts me=me.clone() answer=answer.clone()/>
            <Invitations invitations=people.invitations answer=answer.clone()/>
        })}
    }
}
