//! The forms of the page of one's own account: password, identities, tokens.

use axum::response::Response;
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::{AccountRole, TokenScope};
use tower_sessions::Session;

use super::submitted_form::{FieldError, Outcome, SubmittedForm, at_field, check_new_password};
use crate::auth::session;
use crate::problem::Problem;

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
        scope: TokenScope,
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

pub(super) async fn change(session: Session, form: SubmittedForm) -> Result<Response, Problem> {
    let offered = form.app.providers.ids();
    let (engine, action, page) = form.read(AccountRole::Reader).await?;
    let opened = |what: &str| Outcome::Open(format!("/account?done={what}"));
    let (page, done) = match action {
        FormAction::ChangePassword(passwords) => {
            let changed = change_password(&engine, &session, &passwords).await;
            let page = page.of_form("change-password");
            (page, changed.map(|()| opened("password")))
        }
        FormAction::SetPassword { new, again } => {
            let set = set_password(&engine, &session, &new, &again).await;
            let page = page.of_form("set-password");
            (page, set.map(|()| opened("password-set")))
        }
        FormAction::Unlink { provider, subject } => {
            session::own_identity(&session, &engine).await?;
            let unlinked = engine.unlink_identity(&provider, &subject, &offered).await;
            let unlinked = unlinked.map(|()| opened("unlinked"));
            (
                page.of_form("unlink"),
                unlinked.map_err(at_field("identity")),
            )
        }
        FormAction::MakeToken { name, scope, days } => {
            let made = make_token(&engine, &name, scope, &days).await;
            let page = page
                .of_form("make-token")
                .with_value("name", &name)
                .with_value("scope", scope.name())
                .with_value("days", &days);
            (page, made.map(Outcome::Secret))
        }
        FormAction::RevokeToken { token } => {
            engine.revoke_token(&token).await?;
            (page, Ok(opened("token")))
        }
    };
    Ok(page.respond(done).await)
}

/// It ends all sessions of the account and begins a new one here.
async fn change_password(
    engine: &Engine,
    session: &Session,
    Passwords { old, new, again }: &Passwords,
) -> Result<(), FieldError> {
    let me = engine.by().identity();
    check_new_password("new", new, again, me.map_or("", |me| &me.name))?;
    let changed = async {
        engine.change_password(old, new).await?;
        match me {
            Some(me) => session::begin(session, &me.account_id, &engine.today()).await,
            None => Ok(()),
        }
    };
    changed.await.map_err(at_field("old"))
}

/// As above, for an account without a password.
async fn set_password(
    engine: &Engine,
    session: &Session,
    new: &SecretString,
    again: &SecretString,
) -> Result<(), FieldError> {
    let own = session::own_identity(session, engine).await;
    let own = own.map_err(at_field("new"))?;
    check_new_password("new", new, again, &own.name)?;
    let set = async {
        engine.set_first_password(new).await?;
        session::begin(session, &own.account_id, &engine.today()).await
    };
    set.await.map_err(at_field("new"))
}

async fn make_token(
    engine: &Engine,
    name: &str,
    scope: TokenScope,
    days: &str,
) -> Result<SecretString, FieldError> {
    let days = days.trim().parse().ok();
    let days = days
        .filter(|days| (1..=365).contains(days))
        .ok_or_else(|| {
            at_field("days")(Error::Invalid("write a whole number from 1 to 365".into()))
        })?;
    let made = engine.make_token(name, scope, days).await;
    made.map(|(_, text)| text).map_err(at_field("name"))
}
