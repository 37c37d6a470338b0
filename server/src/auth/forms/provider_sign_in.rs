//! Sign-in through an identity provider: the button, and the provider's callback.

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use openidconnect::AuthorizationCode;
use quick_xml::escape::escape;
use serde::Deserialize;
use swe_ci_app::{NotSignedIn, encode};
use swe_ci_engine::{Engine, Error, FollowedInvitation};
use swe_ci_views::account::Actor;
use tower_sessions::Session;

use super::submitted_form::{FormPage, SubmittedForm, at_field};
use crate::app::App;
use crate::auth::pending_sign_in::{self, Pending, Purpose};
use crate::auth::rate_limit::Limits;
use crate::auth::{return_path, session};
use crate::extract::{ActorEngine, Path};
use crate::identity_providers::{self, Callback, Caller, Provider, ProviderError, Providers};
use crate::problem::Problem;

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ProviderForm {
    #[serde(rename = "deed")]
    action: FormAction,
    /// The secret of the followed invitation; empty for none.
    invitation: String,
    /// The address to open after signing in.
    next: String,
}

#[derive(Deserialize, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum FormAction {
    #[default]
    SignIn,
    Link,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct CallbackQuery {
    code: String,
    state: String,
    error: String,
    iss: Option<String>,
}

/// Sends the browser to the provider.
pub(super) async fn begin(
    Extension(limits): Extension<Limits>,
    session: Session,
    Path(id): Path<String>,
    form: SubmittedForm,
) -> Result<Response, Problem> {
    let engine = form.engine;
    let providers = form.app.providers.clone();
    let (fields, page) = FormPage::read::<ProviderForm>(form.app, form.request).await?;
    let provider = named(&providers, &id)?;
    let may_try = limits.check(page.request().extensions());
    let begun = async {
        may_try?;
        let purpose = purpose(&engine, &session, provider, &fields).await?;
        let begun = provider.begin().await.map_err(|failure| {
            log_failure(provider, &failure);
            Error::Unavailable(failure.not_signed_in().sentence(&provider.name))
        })?;
        let pending = Pending {
            provider: provider.id.clone(),
            secrets: begun.secrets,
            purpose,
            next: fields.next.clone(),
            begun: pending_sign_in::now(),
        };
        pending_sign_in::store(&session, &pending, &engine.today()).await?;
        Ok::<_, Error>(begun.url)
    };
    match begun.await {
        Ok(url) => Ok(continue_page(&provider.name, url.as_str())),
        Err(error) => {
            let error = at_field("provider")(error);
            Ok(page.of_form("elsewhere").respond(Err(error)).await)
        }
    }
}

pub(super) async fn finish(
    State(app): State<App>,
    engine: ActorEngine,
    session: Session,
    Path(id): Path<String>,
    back: Result<Query<CallbackQuery>, QueryRejection>,
) -> Result<Redirect, Problem> {
    let provider = named(&app.providers, &id)?;
    let back = back.map(|Query(back)| back).unwrap_or_default();
    let Some(pending) = pending_sign_in::take(&session, &id, &back.state).await? else {
        return Ok(not_done(&id, NotSignedIn::Expired, ""));
    };
    let next = pending.next.clone();
    match carry_out(&engine, &session, provider, back, pending).await? {
        Ok(to) => Ok(Redirect::to(&to)),
        Err(why) => Ok(not_done(&id, why, &next)),
    }
}

fn named<'a>(providers: &'a Providers, id: &str) -> Result<&'a Provider, Error> {
    let provider = providers.named(id);
    provider.ok_or_else(|| Error::not_found("provider to sign in by", id))
}

async fn purpose(
    engine: &Engine,
    session: &Session,
    provider: &Provider,
    fields: &ProviderForm,
) -> Result<Purpose, Error> {
    if fields.action == FormAction::Link {
        let own = session::own_identity(session, engine).await?;
        return Ok(Purpose::Link(own.account_id));
    }
    if fields.invitation.is_empty() {
        return Ok(Purpose::SignIn);
    }
    if !provider.invites() {
        return Err(Error::Forbidden(
            "this provider accepts no invitations; create the account with a password, then link it".into(),
        ));
    }
    let followed = engine.follow_invitation(&fields.invitation).await?;
    Ok(Purpose::Accept(followed))
}

/// The address to open; or the reason for the failure.
async fn carry_out(
    engine: &Engine,
    session: &Session,
    provider: &Provider,
    back: CallbackQuery,
    pending: Pending,
) -> Result<Result<String, NotSignedIn>, Error> {
    if !back.error.is_empty() || back.code.is_empty() {
        // The cause may be this site's registration at the provider.
        let error = identity_providers::shown(&back.error);
        let provider = &provider.id;
        tracing::info!(provider, error, "a sign-in came back without a code");
        return Ok(Err(NotSignedIn::Denied));
    }
    let callback = Callback {
        code: AuthorizationCode::new(back.code),
        issuer: back.iss,
    };
    let caller = match provider.finish(callback, pending.secrets).await {
        Ok(caller) => caller,
        Err(failure) => {
            log_failure(provider, &failure);
            let why = failure.to_string();
            engine.refuse_from(&provider.id, &why).await?;
            return Ok(Err(failure.not_signed_in()));
        }
    };
    let (followed, to) = match pending.purpose {
        Purpose::SignIn => (None, return_path::after_sign_in(&pending.next)),
        Purpose::Accept(followed) => (Some(followed), "/account"),
        Purpose::Link(account) => return link(engine, session, &account, &caller).await,
    };
    let done = sign_in(engine, session, provider, &caller, followed).await?;
    Ok(done.map(|()| to.to_owned()))
}

async fn sign_in(
    engine: &Engine,
    session: &Session,
    provider: &Provider,
    caller: &Caller,
    followed: Option<FollowedInvitation>,
) -> Result<Result<(), NotSignedIn>, Error> {
    // The browser may be signed in to another account.
    let visitor = engine.acting_for(Actor::Visitor);
    let admission = provider.admission(caller, followed);
    let entered = visitor.sign_in_as(&caller.identity, &caller.preferred_name, &admission);
    match entered.await {
        Ok(who) => {
            session::begin(session, &who.account_id, &engine.today()).await?;
            Ok(Ok(()))
        }
        Err(Error::Unauthenticated(_)) => Ok(Err(NotSignedIn::Disabled)),
        Err(Error::Forbidden(_)) => Ok(Err(NotSignedIn::NotLinked)),
        Err(Error::NotFound { .. }) => Ok(Err(NotSignedIn::NoInvitation)),
        Err(Error::Conflict(_)) => Ok(Err(NotSignedIn::NotLinkable)),
        Err(error) => Err(error),
    }
}

/// Only for the account that began it and is still signed in.
async fn link(
    engine: &Engine,
    session: &Session,
    account: &str,
    caller: &Caller,
) -> Result<Result<String, NotSignedIn>, Error> {
    let own = session::own_identity(session, engine).await;
    if !own.is_ok_and(|own| own.account_id == account) {
        return Ok(Err(NotSignedIn::Expired));
    }
    match engine.link_identity(&caller.identity).await {
        Ok(()) => Ok(Ok("/account?done=linked".to_owned())),
        Err(Error::Conflict(_)) => Ok(Err(NotSignedIn::NotLinkable)),
        Err(error) => Err(error),
    }
}

/// The sign-in page with the reason for the failure.
fn not_done(id: &str, why: NotSignedIn, next: &str) -> Redirect {
    let (id, why) = (encode(id), why.name());
    Redirect::to(&match return_path::after_sign_in(next) {
        "/" => format!("/sign-in/{id}?problem={why}"),
        next => format!("/sign-in/{id}?problem={why}&next={}", encode(next)),
    })
}

/// A page that navigates on by itself. A redirect would count as part of the
/// form's submission, which `form-action` restricts to this site.
fn continue_page(provider: &str, url: &str) -> Response {
    let (provider, url) = (escape(provider), escape(url));
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n\
         <title>Continue to {provider}</title>\n</head>\n<body>\n<main>\n\
         <h1>Continue to {provider}</h1>\n<p><a href=\"{url}\">Continue to {provider}</a> to sign in.</p>\n\
         </main>\n</body>\n</html>\n"
    );
    let mut response = Html(page).into_response();
    // The address is valid once.
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn log_failure(provider: &Provider, failure: &ProviderError) {
    tracing::warn!(provider = provider.id, "a sign-in failed: {failure}");
}
