//! The forms of the administrators' page of accounts.

use axum::extract::Request;
use axum::http::header;
use axum::response::Response;
use serde::Deserialize;
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

pub(super) async fn change(form: SubmittedForm) -> Result<Response, Problem> {
    let origin = origin(&form.app, &form.request);
    let (engine, action, page) = form.read(AccountRole::Admin).await?;
    let opened = |done: &str| Outcome::Open(format!("/accounts?done={done}"));
    let (page, field, done) = match action {
        FormAction::SetRole { account, role } => {
            let set = engine.set_role(&account, role).await;
            let page = page.of_form("set-role");
            (page, "account", set.map(|()| opened("role")))
        }
        FormAction::Disable { account } => {
            let set = engine.set_disabled(&account, true).await;
            let page = page.of_form("disable");
            (page, "account", set.map(|()| opened("disabled")))
        }
        FormAction::Enable { account } => {
            let set = engine.set_disabled(&account, false).await;
            let page = page.of_form("enable");
            (page, "account", set.map(|()| opened("enabled")))
        }
        FormAction::Invite { role, note } => {
            let page = page.of_form("invite").with_value("role", role.name());
            let made = engine.invite(role, &note).await;
            let made = made.map(|(_, secret)| invitation_link(&origin, &secret));
            let page = page.with_value("note", &note);
            (page, "note", made.map(Outcome::Secret))
        }
        FormAction::Withdraw { invitation } => {
            let withdrawn = engine.withdraw_invitation(&invitation).await;
            let page = page.of_form("withdraw");
            (page, "invitation", withdrawn.map(|()| opened("withdrawn")))
        }
    };
    Ok(page.respond(done.map_err(at_field(field))).await)
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
