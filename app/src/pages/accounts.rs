//! All accounts and open invitations, for administrators.

use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, AccountView, InvitationView};

use crate::components::CollectAny;
use crate::components::{
    ActionButton, Confirmation, Field, Form, FormAnswer, ItemTable, ListTable, PageTop, PostForm,
    Refusal, RoleSelect, ShownOnce, Tag, Time, Tone, fetched, loaded,
};
use crate::context::Reader;
use crate::error::AppError;
use crate::format;

/// The values of `done=` and their messages.
const DONE: [(&str, &str); 4] = [
    ("role", "The role is changed."),
    (
        "disabled",
        "The account is disabled and signed out everywhere; its tokens no longer work.",
    ),
    ("enabled", "The account may sign in again."),
    (
        "withdrawn",
        "The invitation is withdrawn: its link no longer works.",
    ),
];

#[derive(Debug, Clone)]
pub struct People {
    pub accounts: Vec<AccountView>,
    pub invitations: Vec<InvitationView>,
}

pub async fn accounts() -> Result<People, AppError> {
    let engine = crate::error::engine()?;
    Ok(People {
        accounts: engine.accounts().await?,
        invitations: engine.invitations().await?,
    })
}

#[component]
pub fn AccountsPage() -> impl IntoView {
    let answer = FormAnswer::of_page();
    let resource = fetched(|| (), |()| accounts());
    let me = Reader::at_hand().identity().map(|who| who.name.clone());
    view! {
        <PageTop title="Accounts" description="The accounts of this site and their roles." missing=true/>
        <Confirmation known=&DONE/>
        {loaded(resource, move |people| view! {
            <AccountList accounts=people.accounts me=me.clone() answer/>
            <Invitations invitations=people.invitations form=Form::new("invite", answer)/>
        })}
    }
}

#[component]
fn AccountList(
    accounts: Vec<AccountView>,
    /// The reader's own name.
    me: Option<String>,
    answer: StoredValue<FormAnswer>,
) -> impl IntoView {
    let why = ["set-role", "disable", "enable"]
        .into_iter()
        .find_map(|form| Form::new(form, answer).problem("account"));
    let rows = accounts.into_iter().map(move |account| {
        let mine = me.as_ref() == Some(&account.name);
        account_row(account, mine)
    });
    view! {
        <Refusal why/>
        <ListTable caption="Accounts" columns=&["Name", "Created", "Last signed in", "Role"] deed="Disable or enable">{rows.collect_any()}</ListTable>
    }
}

fn account_row(account: AccountView, mine: bool) -> impl IntoView {
    let name = account.name;
    let audit = format!("/audit?subject={}", crate::query::encode(&name));
    let (deed, text) = match account.disabled {
        true => ("enable", "Enable"),
        false => ("disable", "Disable"),
    };
    let fields = vec![("account", name.clone())];
    let label = format!("{text} {name}");
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=audit title="Its audit log">{name.clone()}</a>
                <span class="tags">
                    {mine.then(|| view! { <Tag text="you"/> })}
                    {account.disabled.then(|| view! { <Tag text="disabled" tone=Tone::Warn hint="It may not sign in"/> })}
                </span>
            </th>
            <td role="cell" data-label="Created"><Time at=Some(account.created_at)/></td>
            <td role="cell" data-label="Last signed in"><Time at=account.signed_in_at/></td>
            <td role="cell" data-label="Role"><RoleForm name role=account.role/></td>
            <td role="cell" data-label=""><ActionButton action="/accounts" deed fields text label/></td>
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
            <select name="role" aria-label=label>{options.collect_any()}</select>
            <button class="button" type="submit" aria-label=button>"Change"</button>
        </form>
    }
}

/// The invitations that are still valid, and a form to create one.
#[component]
fn Invitations(invitations: Vec<InvitationView>, form: Form) -> impl IntoView {
    view! {
        <section>
            <h2>"Invitations"</h2>
            <ShownOnce
                form
                label="The link"
                advice="Send it over a private channel: the first person to follow it gets the account. It is not shown again, works once, and expires after 7 days."
            />
            <ItemTable
                caption="Open invitations"
                columns=&["For", "Role", "Created", "Expires"]
                deed="Withdraw"
                items=invitations
                row=invitation_row
                none="No open invitations."
            />
            <PostForm form action="/accounts" button="Create a link">
                <RoleSelect form name="role" label="Role of the new account"/>
                <Field
                    form
                    name="note"
                    label="Recipient"
                    hint="For this list and the audit log; the person who follows the link chooses a name."
                />
            </PostForm>
        </section>
    }
}

fn invitation_row(invitation: InvitationView) -> impl IntoView {
    let note = Some(invitation.note);
    let whom = format::or_dash(note.filter(|note| !note.is_empty()));
    let label = format!("Withdraw the invitation for {whom}");
    let fields = vec![("invitation", invitation.invitation_id)];
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{whom}</th>
            <td role="cell" data-label="Role">{invitation.role.name()}</td>
            <td role="cell" data-label="Created"><Time at=Some(invitation.created_at)/></td>
            <td role="cell" data-label="Expires"><Time at=Some(invitation.expires_at)/></td>
            <td role="cell" data-label="">
                <ActionButton action="/accounts" deed="withdraw" fields text="Withdraw" label/>
            </td>
        </tr>
    }
}
