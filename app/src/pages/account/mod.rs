//! One's own account: password, and tokens of the API.

mod data;
mod password;
mod tokens;

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::data::tokens;
use self::password::PasswordForm;
use self::tokens::Tokens;
use crate::components::{Done, PageHead, Problem, loaded};
use crate::error::AppError;
use crate::fetched::fetched;
use crate::form_answer::FormAnswer;
use crate::pages::words;
use crate::query::named;
use crate::reader::Reader;

/// What `done=` may say, and what the page says to it.
const DONE: [(&str, &str); 2] = [
    (
        "password",
        "Your password is changed. Wherever else you were signed in, you are signed out.",
    ),
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
        <section>
            <h2>"Password"</h2>
            <PasswordForm name answer/>
        </section>
    })
}
