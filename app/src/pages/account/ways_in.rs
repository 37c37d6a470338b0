//! The ways to sign in, on the account page.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::account::{LinkedIdentity, WaysIn};

use super::password::{FirstPasswordForm, PasswordForm};
use crate::components::{ListTable, ProviderButtons, Time};
use crate::form_answer::FormAnswer;
use crate::sign_in_providers::SignInProviders;

const UNLINK: &str = "unlink";

/// The ways to sign in to the account.
#[component]
pub fn Ways(
    ways: WaysIn,
    /// The name of the account.
    name: String,
    answer: FormAnswer,
) -> impl IntoView {
    let providers = SignInProviders::at_hand();
    let shown = !providers.0.is_empty() || !ways.identities.is_empty();
    let elsewhere = shown.then(|| {
        let problem = answer.problem(UNLINK, "identity");
        view! { <Elsewhere identities=ways.identities providers problem/> }
    });
    let password = match ways.has_password {
        true => Either::Left(view! { <PasswordForm name answer/> }),
        false => Either::Right(view! { <FirstPasswordForm name answer/> }),
    };
    view! {
        {elsewhere}
        <section>
            <h2>"Password"</h2>
            {password}
        </section>
    }
}

/// The linked identities at other sites, and how to link one.
#[component]
fn Elsewhere(
    identities: Vec<LinkedIdentity>,
    providers: SignInProviders,
    /// Why unlinking failed.
    problem: Option<String>,
) -> impl IntoView {
    let rows = identities.into_iter().map(|identity| {
        let known = providers.named(&identity.provider);
        let name = known.map_or_else(
            || format!("{} (not offered any more)", identity.provider),
            |provider| provider.name.clone(),
        );
        view! { <IdentityRow name identity/> }.into_any()
    });
    let rows: Vec<AnyView> = rows.collect();
    let list = match rows.is_empty() {
        true => Either::Left(view! { <p>"None is linked."</p> }),
        false => Either::Right(view! { <IdentityTable rows/> }),
    };
    view! {
        <section>
            <h2>"Other sites to sign in by"</h2>
            {problem.map(|says| view! { <p class="note" data-tone="bad" role="alert">{says}</p> })}
            {list}
            <ProviderButtons providers=providers.0 words="Link" along=vec![("deed", "link".to_owned())]/>
        </section>
    }
}

#[component]
fn IdentityTable(rows: Vec<AnyView>) -> impl IntoView {
    view! {
        <ListTable caption="Other sites that are linked" columns=&["Site", "You are", "Linked", "Last used"] deed="Unlink">{rows}</ListTable>
    }
}

#[component]
fn IdentityRow(
    /// The provider's name.
    name: String,
    identity: LinkedIdentity,
) -> impl IntoView {
    let unlink = format!("Unlink {} at {name}", identity.shown_as);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{name}</th>
            <td role="cell" data-label="You are">{identity.shown_as}</td>
            <td role="cell" data-label="Linked"><Time at=Some(identity.linked_at)/></td>
            <td role="cell" data-label="Last used"><Time at=identity.last_used/></td>
            <td role="cell" data-label="">
                <form method="post" action="/account">
                    <input type="hidden" name="deed" value=UNLINK/>
                    <input type="hidden" name="provider" value=identity.provider/>
                    <input type="hidden" name="subject" value=identity.subject/>
                    <button class="button" type="submit" aria-label=unlink>"Unlink"</button>
                </form>
            </td>
        </tr>
    }
}
