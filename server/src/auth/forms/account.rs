use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::account::{AccountRole, Identity};
use swe_ci_engine::{Engine, Error};
use tower_sessions::Session;

use super::sent::{Again, Sent};
use super::wrong::{At, at, check_new_password};
use crate::api::Problem;
use crate::auth::{As, session};
use crate::serve::App;

/// What the forms of the page do.
#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum Deed {
    ChangePassword(Passwords),
    SetPassword {
        new: SecretString,
        again: SecretString,
    },
    Unlink {
        provider: String,
        subject: String,
    },
    MakeToken {
        name: String,
        scope: AccountRole,
        days: String,
    },
    RevokeToken {
        token: String,
    },
}

#[derive(Deserialize)]
struct Passwords {
    old: SecretString,
    new: SecretString,
    again: SecretString,
}

pub(super) async fn change(
    State(app): State<App>,
    As(engine): As,
    session: Session,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Reader)?;
    let Sent { fields, request } = Sent::<Deed>::read(request).await?;
    match fields {
        Deed::ChangePassword(passwords) => {
            let again = Again::new(app, request, "change-password");
            match change_password(&engine, &session, &passwords).await {
                Ok(()) => Ok(Redirect::to("/account?done=password").into_response()),
                Err(At { field, error }) => Ok(again.refused(field, error).await),
            }
        }
        Deed::SetPassword { new, again } => {
            let page = Again::new(app, request, "set-password");
            match set_password(&engine, &session, &new, &again).await {
                Ok(()) => Ok(Redirect::to("/account?done=password-set").into_response()),
                Err(At { field, error }) => Ok(page.refused(field, error).await),
            }
        }
        Deed::Unlink { provider, subject } => {
            session::own(&session, &engine).await?;
            let offered = app.providers.ids();
            let unlinked = engine.unlink_identity(&provider, &subject, &offered);
            match unlinked.await {
                Ok(()) => Ok(Redirect::to("/account?done=unlinked").into_response()),
                Err(error) => {
                    let again = Again::new(app, request, "unlink");
                    Ok(again.refused("identity", error).await)
                }
            }
        }
        Deed::MakeToken { name, scope, days } => {
            let again = Again::new(app, request, "make-token")
                .keeping("name", &name)
                .keeping("scope", scope.name())
                .keeping("days", &days);
            match make_token(&engine, &name, scope, &days).await {
                Ok(text) => Ok(again.made(&text).await),
                Err(At { field, error }) => Ok(again.refused(field, error).await),
            }
        }
        Deed::RevokeToken { token } => {
            engine.revoke_token(&token).await?;
            Ok(Redirect::to("/account?done=token").into_response())
        }
    }
}

/// All sessions of the account end by it; this one begins anew.
async fn change_password(
    engine: &Engine,
    session: &Session,
    Passwords { old, new, again }: &Passwords,
) -> Result<(), At> {
    let me = engine.by().identity();
    check_new_password("new", new, again, me.map_or("", |me| &me.name))?;
    engine.change_password(old, new).await.map_err(at("old"))?;
    if let Some(Identity { account_id, .. }) = me {
        let today = engine.today();
        let begun = session::begin(session, account_id, &today);
        begun.await.map_err(at("old"))?;
    }
    Ok(())
}

/// As above, for who has none yet.
async fn set_password(
    engine: &Engine,
    session: &Session,
    new: &SecretString,
    again: &SecretString,
) -> Result<(), At> {
    let own = session::own(session, engine).await.map_err(at("new"))?;
    check_new_password("new", new, again, &own.name)?;
    engine.set_first_password(new).await.map_err(at("new"))?;
    let today = engine.today();
    let begun = session::begin(session, &own.account_id, &today);
    begun.await.map_err(at("new"))
}

async fn make_token(
    engine: &Engine,
    name: &str,
    scope: AccountRole,
    days: &str,
) -> Result<SecretString, At> {
    let days = days
        .trim()
        .parse()
        .ok()
        .filter(|days| (1..=365).contains(days));
    let days = days
        .ok_or_else(|| at("days")(Error::Invalid("write a whole number from 1 to 365".into())))?;
    let made = engine.make_token(name, scope, days).await;
    made.map(|(_, text)| text).map_err(at("name"))
}
