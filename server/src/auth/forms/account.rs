//! The forms of the page of one's own account: password, identities, tokens.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::{AccountRole, Identity};
use tower_sessions::Session;

use super::field_error::{FieldError, at_field, check_new_password};
use super::submitted_form::{FormPage, SubmittedForm};
use crate::actor::ActorEngine;
use crate::app::App;
use crate::auth::session;
use crate::problem::Problem;

/// The actions of the page's forms.
#[derive(Deserialize)]
#[serde(tag = "deed", rename_all = "kebab-case")]
enum FormAction {
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
    ActorEngine(engine): ActorEngine,
    session: Session,
    request: Request,
) -> Result<Response, Problem> {
    engine.require(AccountRole::Reader)?;
    let SubmittedForm { fields, request } = SubmittedForm::<FormAction>::read(request).await?;
    match fields {
        FormAction::ChangePassword(passwords) => {
            let page = FormPage::new(app, request, "change-password");
            match change_password(&engine, &session, &passwords).await {
                Ok(()) => Ok(Redirect::to("/account?done=password").into_response()),
                Err(FieldError { field, error }) => Ok(page.with_error(field, error).await),
            }
        }
        FormAction::SetPassword { new, again } => {
            let page = FormPage::new(app, request, "set-password");
            match set_password(&engine, &session, &new, &again).await {
                Ok(()) => Ok(Redirect::to("/account?done=password-set").into_response()),
                Err(FieldError { field, error }) => Ok(page.with_error(field, error).await),
            }
        }
        FormAction::Unlink { provider, subject } => {
            session::own_identity(&session, &engine).await?;
            let offered = app.providers.ids();
            let unlinked = engine.unlink_identity(&provider, &subject, &offered);
            match unlinked.await {
                Ok(()) => Ok(Redirect::to("/account?done=unlinked").into_response()),
                Err(error) => {
                    let page = FormPage::new(app, request, "unlink");
                    Ok(page.with_error("identity", error).await)
                }
            }
        }
        FormAction::MakeToken { name, scope, days } => {
            let page = FormPage::new(app, request, "make-token")
                .with_value("name", &name)
                .with_value("scope", scope.name())
                .with_value("days", &days);
            match make_token(&engine, &name, scope, &days).await {
                Ok(text) => Ok(page.with_secret(&text).await),
                Err(FieldError { field, error }) => Ok(page.with_error(field, error).await),
            }
        }
        FormAction::RevokeToken { token } => {
            engine.revoke_token(&token).await?;
            Ok(Redirect::to("/account?done=token").into_response())
        }
    }
}

/// It ends all sessions of the account and begins a new one here.
async fn change_password(
    engine: &Engine,
    session: &Session,
    Passwords { old, new, again }: &Passwords,
) -> Result<(), FieldError> {
    let me = engine.by().identity();
    check_new_password("new", new, again, me.map_or("", |me| &me.name))?;
    engine
        .change_password(old, new)
        .await
        .map_err(at_field("old"))?;
    if let Some(Identity { account_id, .. }) = me {
        let today = engine.today();
        let begun = session::begin(session, account_id, &today);
        begun.await.map_err(at_field("old"))?;
    }
    Ok(())
}

/// As above, for an account without a password.
async fn set_password(
    engine: &Engine,
    session: &Session,
    new: &SecretString,
    again: &SecretString,
) -> Result<(), FieldError> {
    let own = session::own_identity(session, engine)
        .await
        .map_err(at_field("new"))?;
    check_new_password("new", new, again, &own.name)?;
    engine
        .set_first_password(new)
        .await
        .map_err(at_field("new"))?;
    let today = engine.today();
    let begun = session::begin(session, &own.account_id, &today);
    begun.await.map_err(at_field("new"))
}

async fn make_token(
    engine: &Engine,
    name: &str,
    scope: AccountRole,
    days: &str,
) -> Result<SecretString, FieldError> {
    let days = days
        .trim()
        .parse()
        .ok()
        .filter(|days| (1..=365).contains(days));
    let days = days.ok_or_else(|| {
        at_field("days")(Error::Invalid("write a whole number from 1 to 365".into()))
    })?;
    let made = engine.make_token(name, scope, days).await;
    made.map(|(_, text)| text).map_err(at_field("name"))
}
