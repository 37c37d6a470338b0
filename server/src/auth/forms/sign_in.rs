use axum::Extension;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::Error;
use tower_sessions::Session;

use super::sent::{Again, Sent};
use crate::api::Problem;
use crate::auth::limits::Limits;
use crate::auth::{As, next, session};
use crate::serve::App;

/// What is not filled in is wrong, and said so on the page.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct SignIn {
    name: String,
    password: SecretString,
    /// Where it leads.
    next: String,
}

pub(super) async fn sign_in(
    State(app): State<App>,
    As(engine): As,
    Extension(limits): Extension<Limits>,
    session: Session,
    request: Request,
) -> Result<Response, Problem> {
    let Sent { fields, request } = Sent::<SignIn>::read(request).await?;
    let may_try = limits.check(request.extensions());
    let tried = async {
        may_try?;
        let who = engine.sign_in(&fields.name, &fields.password).await?;
        session::begin(&session, &who.account_id, &engine.today()).await?;
        Ok::<_, Error>(())
    };
    if let Err(error) = tried.await {
        let again = Again::new(app, request, "sign-in")
            .keeping("name", &fields.name)
            .keeping("next", &fields.next);
        return Ok(again.refused("password", error).await);
    }
    Ok(Redirect::to(next::after_sign_in(&fields.next)).into_response())
}

/// Nothing is left of it; who was not signed in is not told so.
pub(super) async fn sign_out(session: Session) -> Result<Redirect, Problem> {
    session::end(&session).await?;
    Ok(Redirect::to("/"))
}
