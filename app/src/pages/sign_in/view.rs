//! The sign-in form.

use leptos::prelude::*;
use swe_ci_views::account::Identity;

use crate::components::{Field, ProviderButtons};
use crate::form_answer::FormAnswer;
use crate::sign_in_providers::SignInProviders;

const FORM: &str = "sign-in";

#[component]
pub fn SignInForm(
    answer: FormAnswer,
    /// The page to go to after signing in.
    next: Option<String>,
) -> impl IntoView {
    let next = answer.kept(FORM, "next").or(next);
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
            <Field name="name" label="Name" autocomplete="username" value=answer.kept(FORM, "name") required=true/>
            <Field
                name="password"
                label="Password"
                kind="password"
                autocomplete="current-password"
                problem=answer.problem(FORM, "password")
                required=true
            />
            <button class="button button-main" type="submit">"Sign in"</button>
        </form>
        {elsewhere}
        <p class="footnote">
            {accounts}
            " If you forgot your password, ask one too."
        </p>
    }
}

/// A message about an attempt that failed.
#[component]
pub fn NotDone(says: String) -> impl IntoView {
    view! { <p class="note" data-tone="bad" role="alert">{says}</p> }
}

#[component]
pub fn SignedIn(who: Identity) -> impl IntoView {
    view! {
        <p>"You are signed in as "<strong>{who.name}</strong>"."</p>
        <form class="form" method="post" action="/sign-out">
            <button class="button" type="submit">"Sign out"</button>
        </form>
        <p><a href="/account">"Go to your account"</a></p>
    }
}
