use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::Error;
use tower_sessions::Session;

use super::submitted_form::{FormPage, SubmittedForm};
use crate::actor::ActorEngine;
use crate::app::App;
use crate::auth::limits::Limits;
use crate::auth::{return_path, session};
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
    ActorEngine(engine): ActorEngine,
    Extension(limits): Extension<Limits>,
    session: Session,
    request: Request,
) -> Result<Response, Problem> {
    let SubmittedForm { fields, request } = SubmittedForm::<SignIn>::read(request).await?;
    let may_try = limits.check(request.extensions());
    let tried = async {
        may_try?;
        let who = engine.sign_in(&fields.name, &fields.password).await?;
        session::begin(&session, &who.account_id, &engine.today()).await?;
        Ok::<_, Error>(())
    };
    if let Err(error) = tried.await {
        let page = FormPage::new(app, request, "sign-in")
            .with_value("name", &fields.name)
            .with_value("next", &fields.next);
        return Ok(page.with_error("password", error).await);
    }
    Ok(Redirect::to(return_path::after_sign_in(&fields.next)).into_response())
}

/// Ends the session; no error without one.
pub(super) async fn sign_out(session: Session) -> Result<Redirect, Problem> {
    session::end(&session).await?;
    Ok(Redirect::to("/"))
}
