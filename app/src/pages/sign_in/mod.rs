//! Signing in, by password or with another site. Shows why a sign-in with
//! another site failed.

mod view;

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};

use self::view::{NotDone, SignInForm, SignedIn};
use crate::components::PageHead;
use crate::error::set_status;
use crate::form_answer::FormAnswer;
use crate::query::named;
use crate::reader::Reader;
use crate::sign_in_providers::{NotSignedIn, SignInProviders};

/// The form of a provider's button, by the server's name, and its field.
const ELSEWHERE: (&str, &str) = ("elsewhere", "provider");

#[component]
pub fn SignInPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let next = use_query_map().with_untracked(|query| named(query, "next"));
    let not_done = not_done(&answer).map(|says| view! { <NotDone says/> });
    let body = match Reader::at_hand().identity().cloned() {
        Some(who) => Either::Left(view! { <SignedIn who/> }),
        None => Either::Right(view! { <SignInForm answer next/> }),
    };
    view! {
        <PageHead title="Sign in" description="For people who submit runs to this site or administer it." missing=true/>
        <div class="hero">
            <h1>"Sign in"</h1>
        </div>
        {not_done}
        {body}
    }
}

/// Why somebody did not reach a provider, or came back without success.
fn not_done(answer: &FormAnswer) -> Option<String> {
    let (form, field) = ELSEWHERE;
    answer.problem(form, field).or_else(|| {
        let id = use_params_map().with_untracked(|params| params.get("provider"))?;
        let problem = use_query_map().with_untracked(|query| named(query, "problem"))?;
        let why = NotSignedIn::from_word(&problem)?;
        let providers = SignInProviders::at_hand();
        let name = providers.named(&id).map_or("the other site", |p| &p.name);
        set_status(why.status());
        Some(why.sentence(name))
    })
}
