//! The page of an invitation link, which creates an account.

use leptos::prelude::*;
use swe_ci_views::account::InvitationView;

use crate::components::{
    Field, Form, FormAnswer, NewPassword, PageHead, ProviderButtons, Time, fetched, loaded,
};
use crate::context::SignInProviders;
use crate::error::AppError;
use crate::labels;
use crate::query::path_part;

// A POST, because addresses end up in logs.
pub async fn invitation(secret: String) -> Result<InvitationView, AppError> {
    Ok(crate::error::engine()?.invitation(&secret).await?)
}

#[component]
pub fn InvitationPage() -> impl IntoView {
    let form = Form::new("invitation", FormAnswer::of_page());
    let secret = path_part("secret");
    let resource = fetched(move || secret.get(), invitation);
    view! {
        <PageHead title="Invitation" description="Create an account on this site." missing=true/>
        {loaded(resource, move |invitation| {
            view! { <Acceptance invitation secret=secret.get_untracked() form/> }
        })}
    }
}

/// Posts to the page's own address, which contains the secret.
#[component]
fn Acceptance(invitation: InvitationView, secret: String, form: Form) -> impl IntoView {
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
            <p class="lede">{labels::role_may(invitation.role)}</p>
        </div>
        <form class="form" method="post">
            <Field
                form
                name="name"
                label="Name"
                autocomplete="username"
                hint="2 to 40 letters (a to z), digits, “-”, “_” and “.”, beginning with a letter. Others see it with your actions."
                required=true
            />
            <NewPassword form name="password" label="Password" again="The password again"/>
            <button class="button button-main" type="submit">"Create the account"</button>
        </form>
        {elsewhere}
        <p class="footnote">
            "The link works once, until "<Time at=Some(invitation.expires_at)/>"."
        </p>
    }
}
