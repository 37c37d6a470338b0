use axum::Extension;
use axum::response::{Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use tower_sessions::Session;

use super::submitted_form::{FormPage, Outcome, SubmittedForm, at_field};
use crate::auth::rate_limit::Limits;
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
    Extension(limits): Extension<Limits>,
    session: Session,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let engine = form.engine;
    let (fields, page) = FormPage::read::<SignIn>(form.app, form.request).await?;
    let may_try = limits.check(page.request().extensions());
    let tried = async {
        may_try?;
        let who = engine.sign_in(&fields.name, &fields.password).await?;
        session::begin(&session, &who.account_id, &engine.today()).await?;
        let next = return_path::after_sign_in(&fields.next);
        Ok(Outcome::Open(next.to_owned()))
    };
    let tried = tried.await.map_err(at_field("password"));
    let page = page.of_form("sign-in").with_value("name", &fields.name);
    Ok(page.with_value("next", &fields.next).respond(tried).await)
}

/// Ends the session, also for any copy of its cookie; no error without one.
pub(super) async fn sign_out(session: Session) -> Result<Redirect, Problem> {
    session.flush().await.map_err(session::internal)?;
    Ok(Redirect::to("/"))
}
