//! The form that creates an account.

use leptos::prelude::*;
use swe_ci_views::account::InvitationView;

use crate::components::{Field, ProviderButtons, Time};
use crate::form_answer::FormAnswer;
use crate::sign_in_providers::SignInProviders;
use crate::words;

const FORM: &str = "invitation";

/// Posts to the page's own address, which contains the secret.
#[component]
pub fn Acceptance(
    invitation: InvitationView,
    /// The secret in the link.
    secret: String,
    answer: FormAnswer,
) -> impl IntoView {
    let problem = |field: &str| answer.problem(FORM, field);
    let SignInProviders(mut providers) = SignInProviders::at_hand();
    providers.retain(|provider| provider.invites);
    let elsewhere = (!providers.is_empty()).then(|| {
        let along = vec![("invitation", secret)];
        view! {
            <section>
                <h2>"Or without a password of this site"</h2>
                <p class="quiet">"The account gets a name like the one you have there."</p>
                <ProviderButtons providers words="Create it with" along/>
            </section>
        }
    });
    view! {
        <div class="hero">
            <h1>"Create your account"</h1>
            <p class="lede">{words::role_may(invitation.role)}</p>
        </div>
        <form class="form" method="post">
            <Field
                name="name"
                label="Name"
                autocomplete="username"
                value=answer.kept(FORM, "name")
                hint="2 to 40 letters (a to z), digits, “-”, “_” and “.”, beginning with a letter. Others see it with your actions."
                problem=problem("name")
                required=true
            />
            <Field
                name="password"
                label="Password"
                kind="password"
                autocomplete="new-password"
                hint="10 characters or more."
                problem=problem("password")
                required=true
            />
            <Field
                name="again"
                label="The password again"
                kind="password"
                autocomplete="new-password"
                problem=problem("again")
                required=true
            />
            <button class="button button-main" type="submit">"Create the account"</button>
        </form>
        {elsewhere}
        <p class="footnote">
            "The link works once, until "<Time at=Some(invitation.expires_at)/>"."
        </p>
    }
}
