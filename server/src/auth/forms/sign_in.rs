use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use tower_sessions::Session;

use super::submitted_form::{FormPage, Outcome, at_field};
use crate::app::App;
use crate::auth::limits::Limits;
use crate::auth::{return_path, session};
use crate::extract::ActorEngine;
use crate::problem::Problem;

/// Missing fields are empty; the page reports them as errors.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct SignIn {
    name: String,
    password: SecretString,
    /// The address to open afterwards.
    next: String,
}

pub(super) async fn sign_in(
    State(app): State<App>,
    engine: ActorEngine,
    Extension(limits): Extension<Limits>,
    session: Session,
    request: Request,
) -> Result<Response, Problem> {
    let (
        SignIn {
            name,
            password,
            next,
        },
        page,
    ) = FormPage::read(app, request).await?;
    let may_try = limits.check(page.request().extensions());
    let tried = async {
        may_try?;
        let who = engine.sign_in(&name, &password).await?;
        session::begin(&session, &who.account_id, &engine.today()).await?;
        Ok(Outcome::Open(return_path::after_sign_in(&next).to_owned()))
    };
    let tried = tried.await.map_err(at_field("password"));
    let page = page.of_form("sign-in").with_value("name", &name);
    Ok(page.with_value("next", &next).respond(tried).await)
}

/// Ends the session, also for any copy of its cookie; no error without one.
pub(super) async fn sign_out(session: Session) -> Result<Redirect, Problem> {
    session.flush().await.map_err(session::internal)?;
    Ok(Redirect::to("/"))
}
