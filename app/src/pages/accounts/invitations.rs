//! Open invitations, and the form that creates one.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::account::{AccountRole, InvitationView};

use crate::components::{Field, ListTable, Select, ShownOnce, Time};
use crate::form_answer::FormAnswer;
use crate::words;

const FORM: &str = "invite";

/// The invitations that are still valid, and a form to create one.
#[component]
pub fn Invitations(invitations: Vec<InvitationView>, answer: FormAnswer) -> impl IntoView {
    let made = answer.made(FORM).map(|text| {
        view! {
            <ShownOnce
                label="The link"
                text
                advice="Send it over a private channel: the first person to follow it gets the account. It is not shown again, works once, and expires after 7 days."
            />
        }
    });
    view! {
        <section>
            <h2>"Invitations"</h2>
            {made}
            <InvitationList invitations/>
            <InvitationForm answer/>
        </section>
    }
}

#[component]
fn InvitationList(invitations: Vec<InvitationView>) -> impl IntoView {
    if invitations.is_empty() {
        return Either::Left(view! { <p>"No open invitations."</p> });
    }
    let rows = invitations
        .into_iter()
        .map(|invitation| view! { <InvitationRow invitation/> });
    Either::Right(view! {
        <ListTable caption="Open invitations" columns=&["For", "Role", "Created", "Expires"] deed="Withdraw">{rows.collect_view()}</ListTable>
    })
}

#[component]
fn InvitationRow(invitation: InvitationView) -> impl IntoView {
    let whom = match invitation.note.is_empty() {
        true => "–".to_owned(),
        false => invitation.note,
    };
    let label = format!("Withdraw the invitation for {whom}");
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{whom}</th>
            <td role="cell" data-label="Role">{invitation.role.name()}</td>
            <td role="cell" data-label="Created"><Time at=Some(invitation.created_at)/></td>
            <td role="cell" data-label="Expires"><Time at=Some(invitation.expires_at)/></td>
            <td role="cell" data-label="">
                <form method="post" action="/accounts">
                    <input type="hidden" name="deed" value="withdraw"/>
                    <input type="hidden" name="invitation" value=invitation.invitation_id/>
                    <button class="button" type="submit" aria-label=label>"Withdraw"</button>
                </form>
            </td>
        </tr>
    }
}

#[component]
fn InvitationForm(answer: FormAnswer) -> impl IntoView {
    let kept = answer.kept(FORM, "role");
    let roles = AccountRole::ALL.into_iter().map(|role| {
        let chosen = kept.as_deref() == Some(role.name());
        (role.name(), words::role(role), chosen)
    });
    view! {
        <form class="form" method="post" action="/accounts">
            <input type="hidden" name="deed" value=FORM/>
            <Select name="role" label="Role of the new account" options=roles.collect() problem=answer.problem(FORM, "role")/>
            <Field
                name="note"
                label="Recipient"
                value=answer.kept(FORM, "note")
                hint="For this list and the audit log; the person who follows the link chooses a name."
                problem=answer.problem(FORM, "note")
            />
            <button class="button" type="submit">"Create a link"</button>
        </form>
    }
}
