//! The form that accepts an invitation with a password.

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::Identity;
use swe_ci_views::credentials;
use tower_sessions::Session;

use super::field_error::{FieldError, at_field, check_new_password};
use super::submitted_form::{FormPage, SubmittedForm};
use crate::actor::ActorEngine;
use crate::app::App;
use crate::auth::limits::Limits;
use crate::auth::session;
use crate::path::Path;
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
    State(app): State<App>,
    ActorEngine(engine): ActorEngine,
    Extension(limits): Extension<Limits>,
    session: Session,
    Path(secret): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let SubmittedForm { fields, request } = SubmittedForm::<Acceptance>::read(request).await?;
    let may_try = limits.check(request.extensions());
    let made = async {
        may_try.map_err(at_field("name"))?;
        account(&engine, &secret, &fields).await
    };
    match made.await {
        Ok(who) => {
            session::begin(&session, &who.account_id, &engine.today()).await?;
            Ok(Redirect::to("/account").into_response())
        }
        Err(FieldError { field, error }) => {
            let page = FormPage::new(app, request, "invitation").with_value("name", &fields.name);
            Ok(page.with_error(field, error).await)
        }
    }
}

async fn account(
    engine: &Engine,
    secret: &str,
    fields: &Acceptance,
) -> Result<Identity, FieldError> {
    let wrong = |says: &str| at_field("name")(Error::Invalid(says.to_owned()));
    let name = credentials::account_name(&fields.name).map_err(wrong)?;
    check_new_password("password", &fields.password, &fields.again, &name)?;
    let accepted = engine
        .accept_invitation(secret, &name, &fields.password)
        .await;
    accepted.map_err(at_field("name"))
}
