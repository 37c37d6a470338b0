use axum::extract::{Request, State};
use axum::http::header;
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::account::AccountRole;
use swe_ci_engine::{Engine, Error};

use super::sent::{Again, Sent};
use crate::api::Problem;
use crate::auth::As;
use crate::serve::{App, invitation_link};

/// What the forms of the page do.
#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum Deed {
    SetRole { account: String, role: AccountRole },
    Disable { account: String },
    Enable { account: String },
    Invite { role: AccountRole, note: String },
    Withdraw { invitation: String },
}

impl Deed {
    /// The form it was sent by, and the field that says what is wrong.
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

/// What came of a deed.
enum Outcome {
    /// As the page calls it in its address.
    Done(&'static str),
    Invited(SecretString),
}

pub(super) async fn change(
    State(app): State<App>,
    As(engine): As,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Admin)?;
    let Sent { fields, request } = Sent::<Deed>::read(request).await?;
    let (form, field) = fields.form();
    let mut again = Again::new(app.clone(), request, form);
    if let Deed::Invite { role, note } = &fields {
        again = again.keeping("role", role.name()).keeping("note", note);
    }
    match carry_out(&engine, fields).await {
        Ok(Outcome::Done(what)) => {
            Ok(Redirect::to(&format!("/accounts?done={what}")).into_response())
        }
        Ok(Outcome::Invited(secret)) => {
            let origin = origin(&app, again.request());
            Ok(again.made(&invitation_link(&origin, &secret)).await)
        }
        Err(error) => Ok(again.refused(field, error).await),
    }
}

async fn carry_out(engine: &Engine, deed: Deed) -> Result<Outcome, Error> {
    let done = match deed {
        Deed::SetRole { account, role } => {
            engine.set_role(&account, role).await?;
            "role"
        }
        Deed::Disable { account } => {
            engine.set_disabled(&account, true).await?;
            "disabled"
        }
        Deed::Enable { account } => {
            engine.set_disabled(&account, false).await?;
            "enabled"
        }
        Deed::Invite { role, note } => {
            let (_, secret) = engine.invite(role, &note).await?;
            return Ok(Outcome::Invited(secret));
        }
        Deed::Withdraw { invitation } => {
            engine.withdraw_invitation(&invitation).await?;
            "withdrawn"
        }
    };
    Ok(Outcome::Done(done))
}

/// Where the site is reached. Where that is not configured, it is where this
/// administrator reaches it, who alone is shown the link.
fn origin(app: &App, request: &Request) -> String {
    let host = request.headers().get(header::HOST);
    let host = host
        .and_then(|host| host.to_str().ok())
        .unwrap_or("localhost");
    let url = app.public_url.as_ref();
    url.map_or_else(|| format!("http://{host}"), |url| url.as_str().to_owned())
}
