use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::account::{AccountRole, InvitationView};

use crate::components::{Field, Listed, Select, ShownOnce, Time};
use crate::form_answer::FormAnswer;
use crate::pages::words;

const FORM: &str = "invite";

/// The links that can still be followed, and a form that makes one.
#[component]
pub fn Invitations(invitations: Vec<InvitationView>, answer: FormAnswer) -> impl IntoView {
    let made = answer.made(FORM).map(|text| {
        view! {
            <ShownOnce
                label="The link"
                text
                advice="Send it to whom it is for, by a way only they read: whoever follows it first has the account. It is not shown again, works once, and for 7 days."
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
        return Either::Left(view! { <p>"None is open."</p> });
    }
    let rows = invitations
        .into_iter()
        .map(|invitation| view! { <InvitationRow invitation/> });
    Either::Right(view! {
        <Listed caption="Open invitations" columns=&["For", "Role", "Made", "Good until"] deed="Withdraw">{rows.collect_view()}</Listed>
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
            <td role="cell" data-label="Made"><Time at=Some(invitation.created_at)/></td>
            <td role="cell" data-label="Good until"><Time at=Some(invitation.expires_at)/></td>
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
            <Select name="role" label="Role of the account it makes" options=roles.collect() problem=answer.problem(FORM, "role")/>
            <Field
                name="note"
                label="Whom it is for"
                value=answer.kept(FORM, "note")
                hint="For this list and the audit log; whoever follows the link chooses a name."
                problem=answer.problem(FORM, "note")
            />
            <button class="button" type="submit">"Make a link"</button>
        </form>
    }
}
