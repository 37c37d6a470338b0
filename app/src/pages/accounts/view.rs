//! The list of accounts.

use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, AccountView};

use crate::components::{ListTable, Tag, Time, Tone};
use crate::form_answer::FormAnswer;
use crate::words;

/// All accounts, each with the controls to change it.
#[component]
pub fn AccountList(
    accounts: Vec<AccountView>,
    /// The reader's own name.
    me: Option<String>,
    answer: FormAnswer,
) -> impl IntoView {
    let problem = ["set-role", "disable", "enable"]
        .into_iter()
        .find_map(|form| answer.problem(form, "account"));
    let problem =
        problem.map(|text| view! { <p class="note" data-tone="bad" role="alert">{text}</p> });
    let rows = accounts.into_iter().map(move |account| {
        let mine = me.as_ref() == Some(&account.name);
        view! { <AccountRow account mine/> }
    });
    view! {
        {problem}
        <ListTable caption="Accounts" columns=&["Name", "Created", "Last signed in", "Role"] deed="Disable or enable">{rows.collect_view()}</ListTable>
    }
}

#[component]
fn AccountRow(account: AccountView, mine: bool) -> impl IntoView {
    let name = account.name.clone();
    let audit = format!("/audit?subject={}", crate::query::encode(&name));
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=audit title="Its audit log">{account.name.clone()}</a>
                <span class="tags">
                    {mine.then(|| view! { <Tag text="you".to_owned()/> })}
                    {account.disabled.then(|| view! { <Tag text="disabled".to_owned() tone=Tone::Warn hint="It may not sign in"/> })}
                </span>
            </th>
            <td role="cell" data-label="Created"><Time at=Some(account.created_at)/></td>
            <td role="cell" data-label="Last signed in"><Time at=account.signed_in_at/></td>
            <td role="cell" data-label="Role"><RoleForm name=name.clone() role=account.role/></td>
            <td role="cell" data-label=""><DisableForm name disabled=account.disabled/></td>
        </tr>
    }
}

#[component]
fn RoleForm(name: String, role: AccountRole) -> impl IntoView {
    let options = AccountRole::ALL.into_iter().map(|each| {
        view! { <option value=each.name() selected=each == role>{each.name()}</option> }
    });
    let label = format!("Role of {name}");
    let button = format!("Change the role of {name}");
    view! {
        <form class="form-line" method="post" action="/accounts">
            <input type="hidden" name="deed" value="set-role"/>
            <input type="hidden" name="account" value=name/>
            <select name="role" aria-label=label>{options.collect_view()}</select>
            <button class="button" type="submit" aria-label=button>"Change"</button>
        </form>
    }
}

#[component]
fn DisableForm(name: String, disabled: bool) -> impl IntoView {
    let (deed, word) = words::disabling(disabled);
    let label = format!("{word} {name}");
    view! {
        <form method="post" action="/accounts">
            <input type="hidden" name="deed" value=deed/>
            <input type="hidden" name="account" value=name/>
            <button class="button" type="submit" aria-label=label>{word}</button>
        </form>
    }
}
