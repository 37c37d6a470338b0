//! One's own account: tokens of the API, and the ways in: password, and who one
//! is at other sites.

mod data;
mod password;
mod tokens;
mod ways_in;

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::{own_ways_in, tokens};
use self::tokens::Tokens;
use self::ways_in::Ways;
use crate::components::{Done, PageHead, Problem, loaded};
use crate::error::AppError;
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::pages::words;
use crate::query::named;
use crate::reader::Reader;

/// What `done=` may say, and what the page says to it.
const DONE: [(&str, &str); 5] = [
    (
        "password",
        "Your password is changed. Wherever else you were signed in, you are signed out.",
    ),
    (
        "password-set",
        "You have a password now. Wherever else you were signed in, you are signed out.",
    ),
    ("linked", "Linked: from now on you can sign in by it."),
    ("unlinked", "Unlinked: nobody signs in by it any more."),
    (
        "token",
        "The token is revoked: nothing answers to it any more.",
    ),
];

#[component]
pub fn AccountPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let done = use_query_map().with_untracked(|query| named(query, "done"));
    let Some(who) = Reader::at_hand().identity().cloned() else {
        let error = AppError::sign_in("This page is about your account.");
        return Either::Left(view! { <Problem error page=true/> });
    };
    let resource = fetched(|| (), |()| tokens());
    let ways = fetched(|| (), |()| own_ways_in());
    let of_tokens = answer.clone();
    let most = who.role;
    let name = who.name.clone();
    Either::Right(view! {
        <PageHead title="Account" description="Your password, and tokens of the API." missing=true/>
        <div class="hero">
            <h1>{who.name}</h1>
            <p class="lede">{words::role_may(who.role)}</p>
        </div>
        <Done said=done known=&DONE/>
        <section>
            <h2>"API tokens"</h2>
            <p class="quiet">
                "A program that sends one as "<code>"Authorization: Bearer sweci_…"</code>
                " does what you may do, up to the role of the token."
            </p>
            {loaded(resource, move |tokens| view! { <Tokens tokens most answer=of_tokens.clone()/> })}
        </section>
        {loaded(ways, move |ways| view! { <Ways ways name=name.clone() answer=answer.clone()/> })}
    })
}
