//! API tokens on the account page.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, TokenView};

use crate::components::{Field, ListTable, Select, ShownOnce, Time};
use crate::form_answer::FormAnswer;
use crate::words;

const FORM: &str = "make-token";

/// The list of tokens, and a form to create one.
#[component]
pub fn Tokens(
    tokens: Vec<TokenView>,
    /// The highest role a token may have.
    most: AccountRole,
    answer: FormAnswer,
) -> impl IntoView {
    let made = answer.made(FORM).map(|text| {
        view! {
            <ShownOnce
                label="Your new token"
                text
                advice="Copy it now: it is not shown again and cannot be retrieved."
            />
        }
    });
    view! {
        {made}
        <TokenList tokens/>
        <TokenForm most answer/>
    }
}

#[component]
fn TokenList(tokens: Vec<TokenView>) -> impl IntoView {
    if tokens.is_empty() {
        return Either::Left(view! { <p>"You have none."</p> });
    }
    let rows = tokens.into_iter().map(|token| view! { <TokenRow token/> });
    Either::Right(view! {
        <ListTable caption="Your API tokens" columns=&["Name", "Role", "Created", "Last used", "Expires"] deed="Revoke">{rows.collect_view()}</ListTable>
    })
}

#[component]
fn TokenRow(token: TokenView) -> impl IntoView {
    let revoke = format!("Revoke {}", token.name);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{token.name}</th>
            <td role="cell" data-label="Role">{token.scope.name()}</td>
            <td role="cell" data-label="Created"><Time at=Some(token.created_at)/></td>
            <td role="cell" data-label="Last used"><Time at=token.used_at/></td>
            <td role="cell" data-label="Expires"><Time at=Some(token.expires_at)/></td>
            <td role="cell" data-label="">
                <form method="post" action="/account">
                    <input type="hidden" name="deed" value="revoke-token"/>
                    <input type="hidden" name="token" value=token.token_id/>
                    <button class="button" type="submit" aria-label=revoke>"Revoke"</button>
                </form>
            </td>
        </tr>
    }
}

#[component]
fn TokenForm(most: AccountRole, answer: FormAnswer) -> impl IntoView {
    let problem = |field: &str| answer.problem(FORM, field);
    let kept = answer.kept(FORM, "scope");
    let scopes = AccountRole::ALL.into_iter().filter(|role| *role <= most);
    let scopes = scopes.map(|role| {
        let chosen = kept.as_deref() == Some(role.name());
        (role.name(), words::role(role), chosen)
    });
    let days = answer.kept(FORM, "days").unwrap_or("90".to_owned());
    view! {
        <form class="form" method="post" action="/account">
            <input type="hidden" name="deed" value=FORM/>
            <Field
                name="name"
                label="Name of a new token"
                value=answer.kept(FORM, "name")
                hint="Its purpose, so that you know which one to revoke."
                problem=problem("name")
                required=true
            />
            <Select name="scope" label="With the permissions of this role" options=scopes.collect() problem=problem("scope")/>
            <Field
                name="days"
                label="Valid for days"
                kind="number"
                value=days
                hint="1 to 365."
                problem=problem("days")
                required=true
            />
            <button class="button" type="submit">"Create a token"</button>
        </form>
    }
}
