//! The forms of the administrators' page of accounts.

use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use serde::Deserialize;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::AccountRole;

use super::submitted_form::{Outcome, SubmittedForm, at_field};
use crate::app::App;
use crate::invitation::invitation_link;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
    SetRole { account: String, role: AccountRole },
    Disable { account: String },
    Enable { account: String },
    Invite { role: AccountRole, note: String },
    Withdraw { invitation: String },
}

impl FormAction {
    /// The form that sent it, and the field that shows the error.
    fn form(&self) -> (&'static str, &'static str) {
        match self {
            Self::SetRole { .. } => ("set-role", "account"),
            Self::Disable { .. } => ("disable", "account"),
            Self::Enable { .. } => ("enable", "account"),
            Self::Invite { .. } => ("invite", "note"),
            Self::Withdraw { .. } => ("withdraw", "invitation"),
        }
    }
}

pub(super) async fn change(form: SubmittedForm) -> Result<Response, Problem> {
    let origin = origin(&form.app, &form.request);
    let (engine, action, page) = form.read::<FormAction>(AccountRole::Admin).await?;
    let (form, field) = action.form();
    let mut page = page.of_form(form);
    if let FormAction::Invite { role, note } = &action {
        page = page
            .with_value("role", role.name())
            .with_value("note", note);
    }
    let done = carry_out(&engine, action, &origin).await;
    Ok(page.respond(done.map_err(at_field(field))).await)
}

async fn carry_out(engine: &Engine, action: FormAction, origin: &str) -> Result<Outcome, Error> {
    let done = match action {
        FormAction::SetRole { account, role } => {
            engine.set_role(&account, role).await?;
            "role"
        }
        FormAction::Disable { account } => {
            engine.set_disabled(&account, true).await?;
            "disabled"
        }
        FormAction::Enable { account } => {
            engine.set_disabled(&account, false).await?;
            "enabled"
        }
        FormAction::Invite { role, note } => {
            let (_, secret) = engine.invite(role, &note).await?;
            return Ok(Outcome::Secret(invitation_link(origin, &secret)));
        }
        FormAction::Withdraw { invitation } => {
            engine.withdraw_invitation(&invitation).await?;
            "withdrawn"
        }
    };
    Ok(Outcome::Open(format!("/accounts?done={done}")))
}

/// The origin of the site. Without a configured public URL it is the host of
/// this request: its sender is an administrator and the only one who sees the
/// link.
fn origin(app: &App, request: &Request) -> String {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let local = || format!("http://{}", host.unwrap_or("localhost"));
    let url = app.public_url.as_ref();
    url.map_or_else(local, |url| url.as_str().to_owned())
}
