use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::account::Identity;
use swe_ci_core::credentials;
use swe_ci_engine::{Engine, Error};
use tower_sessions::Session;

use super::sent::{Again, Sent};
use super::wrong::{At, at, check_new_password};
use crate::api::{Path, Problem};
use crate::auth::limits::Limits;
use crate::auth::{As, session};
use crate::serve::App;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Acceptance {
    name: String,
    password: SecretString,
    again: SecretString,
}

/// Makes the account, and signs it in.
pub(super) async fn accept(
    State(app): State<App>,
    As(engine): As,
    Extension(limits): Extension<Limits>,
    session: Session,
    Path(secret): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let Sent { fields, request } = Sent::<Acceptance>::read(request).await?;
    let may_try = limits.check(request.extensions());
    let made = async {
        may_try.map_err(at("name"))?;
        account(&engine, &secret, &fields).await
    };
    match made.await {
        Ok(who) => {
            session::begin(&session, &who.account_id, &engine.today()).await?;
            Ok(Redirect::to("/account").into_response())
        }
        Err(At { field, error }) => {
            let again = Again::new(app, request, "invitation").keeping("name", &fields.name);
            Ok(again.refused(field, error).await)
        }
    }
}

async fn account(engine: &Engine, secret: &str, fields: &Acceptance) -> Result<Identity, At> {
    let wrong = |says: &str| at("name")(Error::Invalid(says.to_owned()));
    let name = credentials::account_name(&fields.name).map_err(wrong)?;
    check_new_password("password", &fields.password, &fields.again, &name)?;
    let accepted = engine
        .accept_invitation(secret, &name, &fields.password)
        .await;
    accepted.map_err(at("name"))
}
