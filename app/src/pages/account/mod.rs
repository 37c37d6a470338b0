//! The reader's own account: API tokens, password, and links to other sites.

mod ways_in;

use leptos::either::Either;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use swe_ci_views::account::{AccountRole, TokenView, WaysIn};

use self::ways_in::Ways;
use crate::components::{
    ActionButton, Confirmation, Field, ItemTable, PageHead, PostForm, Problem, RoleSelect,
    ShownOnce, Time, loaded,
};
use crate::context::Reader;
use crate::error::AppError;
use crate::fetched::fetched;
use crate::form_answer::{Form, FormAnswer};
use crate::words;

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 5] = [
    (
        "password",
        "Your password is changed. All your other sessions are signed out.",
    ),
    (
        "password-set",
        "You have a password now. All your other sessions are signed out.",
    ),
    ("linked", "Linked: you can now sign in with it."),
    ("unlinked", "Unlinked: it can no longer be used to sign in."),
    ("token", "The token is revoked and no longer works."),
];

#[server(prefix = "/api/pages", endpoint = "tokens", input = GetUrl)]
pub async fn tokens() -> Result<Vec<TokenView>, AppError> {
    Ok(crate::error::engine()?.tokens().await?)
}

#[server(prefix = "/api/pages", endpoint = "own_ways_in", input = GetUrl)]
pub async fn own_ways_in() -> Result<WaysIn, AppError> {
    Ok(crate::error::engine()?.ways_in().await?)
}

#[component]
pub fn AccountPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let Some(who) = Reader::at_hand().identity().cloned() else {
        let error = AppError::sign_in("This page is about your account.");
        return Either::Left(view! { <Problem error page=true/> });
    };
    let token_list = fetched(|| (), |()| tokens());
    let ways = fetched(|| (), |()| own_ways_in());
    let form = Form::new("make-token", answer);
    let name = who.name.clone();
    Either::Right(view! {
        <PageHead title="Account" description="Your password, and tokens of the API." missing=true/>
        <div class="hero">
            <h1>{who.name}</h1>
            <p class="lede">{words::role_may(who.role)}</p>
        </div>
        <Confirmation known=&DONE/>
        <section>
            <h2>"API tokens"</h2>
            <p class="quiet">
                "A program that sends one as "<code>"Authorization: Bearer sweci_…"</code>
                " acts with your permissions, up to the role of the token."
            </p>
            {loaded(token_list, move |tokens| view! { <Tokens tokens most=who.role form/> })}
        </section>
        {loaded(ways, move |ways| view! { <Ways ways name=name.clone() answer/> })}
    })
}

/// The list of tokens, and a form to create one.
#[component]
pub fn Tokens(
    tokens: Vec<TokenView>,
    /// The highest role a token may have.
    most: AccountRole,
    form: Form,
) -> impl IntoView {
    view! {
        <ShownOnce form label="Your new token"/>
        <ItemTable
            caption="Your API tokens"
            columns=&["Name", "Role", "Created", "Last used", "Expires"]
            deed="Revoke"
            items=tokens
            row=token_row
            none="You have none."
        />
        <PostForm form action="/account" button="Create a token">
            <Field
                form
                name="name"
                label="Name of a new token"
                hint="Its purpose, so that you know which one to revoke."
                required=true
            />
            <RoleSelect form name="scope" label="With the permissions of this role" most/>
            <Field form name="days" label="Valid for days" kind="number" value="90" hint="1 to 365." required=true/>
        </PostForm>
    }
}

fn token_row(token: TokenView) -> impl IntoView {
    let label = format!("Revoke {}", token.name);
    let fields = vec![("token", token.token_id)];
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{token.name}</th>
            <td role="cell" data-label="Role">{token.scope.name()}</td>
            <td role="cell" data-label="Created"><Time at=Some(token.created_at)/></td>
            <td role="cell" data-label="Last used"><Time at=token.used_at/></td>
            <td role="cell" data-label="Expires"><Time at=Some(token.expires_at)/></td>
            <td role="cell" data-label="">
                <ActionButton action="/account" deed="revoke-token" fields text="Revoke" label/>
            </td>
        </tr>
    }
}
