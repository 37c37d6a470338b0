//! Where somebody with an account signs in.

mod view;

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use self::view::{SignInForm, SignedIn};
use crate::components::PageHead;
use crate::form_answer::FormAnswer;
use crate::query::named;
use crate::reader::Reader;

#[component]
pub fn SignInPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let next = use_query_map().with_untracked(|query| named(query, "next"));
    let body = match Reader::at_hand().identity().cloned() {
        Some(who) => Either::Left(view! { <SignedIn who/> }),
        None => Either::Right(view! { <SignInForm answer next/> }),
    };
    view! {
        <PageHead title="Sign in" description="For those who submit runs to this site or look after it." missing=true/>
        <div class="hero">
            <h1>"Sign in"</h1>
        </div>
        {body}
    }
}
