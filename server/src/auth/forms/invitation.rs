//! The form that accepts an invitation with a password.

use axum::Extension;
use axum::response::Response;
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::Identity;
use swe_ci_views::credentials;
use tower_sessions::Session;

use super::submitted_form::{
    FieldError, FormPage, Outcome, SubmittedForm, at_field, check_new_password,
};
use crate::auth::rate_limit::Limits;
use crate::auth::session;
use crate::extract::Path;
use crate::problem::Problem;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Acceptance {
    name: String,
    password: SecretString,
    again: SecretString,
}

/// Creates the account and signs it in.
pub(super) async fn accept(
    Extension(limits): Extension<Limits>,
    session: Session,
    Path(secret): Path<String>,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let engine = form.engine;
    let (fields, page) = FormPage::read::<Acceptance>(form.app, form.request).await?;
    let may_try = limits.check(page.request().extensions());
    let made = async {
        may_try.map_err(at_field("name"))?;
        account(&engine, &secret, &fields).await
    };
    let made = made.await;
    if let Ok(who) = &made {
        session::begin(&session, &who.account_id, &engine.today()).await?;
    }
    let made = made.map(|_| Outcome::Open("/account".to_owned()));
    let page = page.of_form("invitation").with_value("name", &fields.name);
    Ok(page.respond(made).await)
}

async fn account(
    engine: &Engine,
    secret: &str,
    fields: &Acceptance,
) -> Result<Identity, FieldError> {
    let wrong = |says: &str| at_field("name")(Error::Invalid(says.to_owned()));
    let name = credentials::account_name(&fields.name).map_err(wrong)?;
    check_new_password("password", &fields.password, &fields.again, &name)?;
    let accepted = engine.accept_invitation(secret, &name, &fields.password);
    accepted.await.map_err(at_field("name"))
}
