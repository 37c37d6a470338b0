//! The ways to sign in, on the account page.

use leptos::prelude::*;
use swe_ci_views::account::{LinkedIdentity, WaysIn};

use crate::components::{
    ActionButton, Field, ItemTable, NewPassword, PostForm, ProviderButtons, Refusal, Time,
};
use crate::context::SignInProviders;
use crate::form_answer::{Form, FormAnswer};

const UNLINK: &str = "unlink";

/// The ways to sign in to the account.
#[component]
pub fn Ways(ways: WaysIn, name: String, answer: StoredValue<FormAnswer>) -> impl IntoView {
    let providers = SignInProviders::at_hand();
    let shown = !providers.0.is_empty() || !ways.identities.is_empty();
    let elsewhere = shown.then(|| {
        let why = Form::new(UNLINK, answer).problem("identity");
        view! { <Elsewhere identities=ways.identities providers why/> }
    });
    view! {
        {elsewhere}
        <section>
            <h2>"Password"</h2>
            <PasswordForm name has_password=ways.has_password answer/>
        </section>
    }
}

/// Changes the password, or sets a first one.
#[component]
fn PasswordForm(
    name: String,
    has_password: bool,
    answer: StoredValue<FormAnswer>,
) -> impl IntoView {
    let (form, label, again, button) = match has_password {
        true => (
            "change-password",
            "A new one",
            "The new one again",
            "Change the password",
        ),
        false => (
            "set-password",
            "A password",
            "The password again",
            "Set the password",
        ),
    };
    let form = Form::new(form, answer);
    let none = (!has_password).then(|| {
        view! { <p class="quiet">"You have none. With a password you can also sign in with your name."</p> }
    });
    let old = has_password.then(|| {
        view! { <Field form name="old" label="Your password" kind="password" autocomplete="current-password" required=true/> }
    });
    view! {
        {none}
        <PostForm form action="/account" button>
            // For the reader's password manager.
            <input type="text" autocomplete="username" value=name readonly=true hidden=true/>
            {old}
            <NewPassword form label again/>
        </PostForm>
    }
}

/// The linked identities at other sites, and how to link one.
#[component]
fn Elsewhere(
    identities: Vec<LinkedIdentity>,
    providers: SignInProviders,
    why: Option<String>,
) -> impl IntoView {
    let known = providers.clone();
    let row = move |identity: LinkedIdentity| {
        let name = known.named(&identity.provider).map_or_else(
            || format!("{} (not offered any more)", identity.provider),
            |provider| provider.name.clone(),
        );
        identity_row(name, identity)
    };
    view! {
        <section>
            <h2>"Other sites to sign in by"</h2>
            <Refusal why/>
            <ItemTable
                caption="Other sites that are linked"
                columns=&["Site", "You are", "Linked", "Last used"]
                deed="Unlink"
                items=identities
                row
                none="None is linked."
            />
            <ProviderButtons providers=providers.0 words="Link" along=vec![("deed", "link".to_owned())]/>
        </section>
    }
}

/// `name` is the provider's.
fn identity_row(name: String, identity: LinkedIdentity) -> impl IntoView {
    let label = format!("Unlink {} at {name}", identity.shown_as);
    let fields = vec![
        ("provider", identity.provider),
        ("subject", identity.subject),
    ];
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{name}</th>
            <td role="cell" data-label="You are">{identity.shown_as}</td>
            <td role="cell" data-label="Linked"><Time at=Some(identity.linked_at)/></td>
            <td role="cell" data-label="Last used"><Time at=identity.last_used/></td>
            <td role="cell" data-label="">
                <ActionButton action="/account" deed=UNLINK fields text="Unlink" label/>
            </td>
        </tr>
    }
}
