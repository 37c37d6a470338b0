//! Signing in, by password or with another site, and why the latter failed.

use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use swe_ci_views::account::Identity;

use crate::components::{Field, Form, FormAnswer, PageTop, ProviderButtons, Refusal};
use crate::context::{NotSignedIn, Reader, SignInProviders};
use crate::error::set_status;
use crate::query::named;

#[component]
pub fn SignInPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let next = use_query_map().with_untracked(|query| named(query, "next"));
    let form = Form::new("sign-in", answer);
    // The form of a provider's button, by the server's name.
    let why = not_done(Form::new("elsewhere", answer));
    let body = match Reader::at_hand().identity().cloned() {
        Some(who) => Either::Left(view! { <SignedIn who/> }),
        None => Either::Right(view! { <SignInForm form next/> }),
    };
    view! {
        <PageTop title="Sign in" description="For people who submit runs to this site or administer it." missing=true/>
        <Refusal why/>
        {body}
    }
}

/// Why somebody did not reach a provider, or came back without success.
fn not_done(elsewhere: Form) -> Option<String> {
    elsewhere.problem("provider").or_else(|| {
        let id = use_params_map().with_untracked(|params| params.get("provider"))?;
        let problem = use_query_map().with_untracked(|query| named(query, "problem"))?;
        let why = NotSignedIn::from_name(&problem)?;
        let providers = SignInProviders::at_hand();
        let name = providers.named(&id).map_or("the other site", |p| &p.name);
        set_status(why.status());
        Some(why.sentence(name))
    })
}

#[component]
fn SignInForm(
    form: Form,
    /// The page to go to after signing in.
    next: Option<String>,
) -> impl IntoView {
    let next = form.kept("next").or(next);
    let SignInProviders(providers) = SignInProviders::at_hand();
    let admitting = providers.iter().filter(|provider| provider.admits);
    let admitting: Vec<&str> = admitting.map(|provider| provider.name.as_str()).collect();
    let accounts = match admitting.join(" or ").as_str() {
        "" => "Accounts require an invitation: ask an administrator of this site for a link."
            .to_owned(),
        names => format!(
            "People who first sign in with {names} get an account if this site admits them; everybody else needs an invitation from an administrator of this site."
        ),
    };
    let elsewhere = (!providers.is_empty()).then(|| {
        let along = next.iter().map(|next| ("next", next.clone())).collect();
        view! {
            <section>
                <h2>"Without a password of this site"</h2>
                <ProviderButtons providers along/>
            </section>
        }
    });
    view! {
        <form class="form" method="post" action="/sign-in">
            {next.map(|next| view! { <input type="hidden" name="next" value=next/> })}
            <Field form name="name" label="Name" autocomplete="username" required=true/>
            <Field form name="password" label="Password" kind="password" autocomplete="current-password" required=true/>
            <button class="button button-main" type="submit">"Sign in"</button>
        </form>
        {elsewhere}
        <p class="footnote">
            {accounts}
            " If you forgot your password, ask one too."
        </p>
    }
}

#[component]
fn SignedIn(who: Identity) -> impl IntoView {
    view! {
        <p>"You are signed in as "<strong>{who.name}</strong>"."</p>
        <form class="form" method="post" action="/sign-out">
            <button class="button" type="submit">"Sign out"</button>
        </form>
        <p><a href="/account">"Go to your account"</a></p>
    }
}
