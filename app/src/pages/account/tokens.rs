//! API tokens on the account page.

use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, TokenView};

use crate::components::{ActionButton, Field, ItemTable, PostForm, RoleSelect, ShownOnce, Time};
use crate::form_answer::Form;

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
