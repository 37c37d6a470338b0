use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use openidconnect::AuthorizationCode;
use quick_xml::escape::escape;
use serde::Deserialize;
use swe_ci_app::{NotSignedIn, encode};
use swe_ci_core::account::Actor;
use swe_ci_engine::{Engine, Error, FollowedInvitation};
use tower_sessions::Session;

use super::sent::{Again, Sent};
use crate::api::{Path, Problem};
use crate::auth::limits::Limits;
use crate::auth::providers::{self, Brought, Caller, Pending, Provider, Purpose, Refusal};
use crate::auth::{As, next, session};
use crate::serve::App;

/// What a provider's button sends along.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Elsewhere {
    deed: Deed,
    /// The secret of the invitation that is followed; empty for none.
    invitation: String,
    /// Where signing in leads.
    next: String,
}

#[derive(Deserialize, Default, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Deed {
    #[default]
    SignIn,
    Link,
}

/// What a provider sends somebody back with.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Back {
    code: String,
    state: String,
    error: String,
    iss: Option<String>,
}

/// Sends somebody to prove who they are.
pub(super) async fn begin(
    State(app): State<App>,
    As(engine): As,
    Extension(limits): Extension<Limits>,
    session: Session,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let Sent { fields, request } = Sent::<Elsewhere>::read(request).await?;
    let provider = named(&app, &id)?;
    let may_try = limits.check(request.extensions());
    let begun = async {
        may_try?;
        let purpose = purpose(&engine, &session, provider, &fields).await?;
        let begun = provider.begin().await.map_err(|refusal| {
            note(provider, &refusal);
            Error::Unavailable(refusal.told().sentence(provider.name()))
        })?;
        let pending = Pending::new(&provider.id, begun.kept, purpose, fields.next.clone());
        providers::keep(&session, &pending, &engine.today()).await?;
        Ok::<_, Error>(begun.url)
    };
    match begun.await {
        Ok(url) => Ok(way_on(provider.name(), url.as_str())),
        Err(error) => {
            let again = Again::new(app.clone(), request, "elsewhere");
            Ok(again.refused("provider", error).await)
        }
    }
}

/// Takes in who comes back.
pub(super) async fn finish(
    State(app): State<App>,
    As(engine): As,
    session: Session,
    Path(id): Path<String>,
    back: Result<Query<Back>, QueryRejection>,
) -> Result<Redirect, Problem> {
    let provider = named(&app, &id)?;
    let back = back.map(|Query(back)| back).unwrap_or_default();
    let Some(pending) = providers::take(&session, &id, &back.state).await? else {
        return Ok(not_done(&id, NotSignedIn::Expired, ""));
    };
    let next = pending.next.clone();
    match carry_out(&engine, &session, provider, back, pending).await? {
        Ok(to) => Ok(Redirect::to(&to)),
        Err(why) => Ok(not_done(&id, why, &next)),
    }
}

fn named<'a>(app: &'a App, id: &str) -> Result<&'a Provider, Problem> {
    let provider = app.providers.named(id);
    provider.ok_or_else(|| {
        let what = "provider to sign in by";
        Problem::from(Error::NotFound {
            what,
            id: id.to_owned(),
        })
    })
}

async fn purpose(
    engine: &Engine,
    session: &Session,
    provider: &Provider,
    fields: &Elsewhere,
) -> Result<Purpose, Error> {
    if fields.deed == Deed::Link {
        let own = session::own(session, engine).await?;
        return Ok(Purpose::Link(own.account_id));
    }
    if fields.invitation.is_empty() {
        return Ok(Purpose::SignIn);
    }
    if !provider.invites() {
        return Err(Error::Forbidden(
            "no invitation is accepted by this site; make the account with a password, and link it then".into(),
        ));
    }
    let followed = engine.follow_invitation(&fields.invitation).await?;
    Ok(Purpose::Accept(followed))
}

/// Where it leads; or why it is not done.
async fn carry_out(
    engine: &Engine,
    session: &Session,
    provider: &Provider,
    back: Back,
    pending: Pending,
) -> Result<Result<String, NotSignedIn>, Error> {
    if !back.error.is_empty() || back.code.is_empty() {
        // It may be the registration of this site that is wrong.
        let said = providers::shown(&back.error);
        tracing::info!(
            provider = provider.id,
            said,
            "somebody came back with nothing"
        );
        return Ok(Err(NotSignedIn::Denied));
    }
    let brought = Brought {
        code: AuthorizationCode::new(back.code),
        issuer: back.iss,
    };
    let caller = match provider.finish(brought, pending.kept).await {
        Ok(caller) => caller,
        Err(refusal) => {
            note(provider, &refusal);
            engine
                .refuse_from(&provider.id, &refusal.to_string())
                .await?;
            return Ok(Err(refusal.told()));
        }
    };
    let (followed, to) = match pending.purpose {
        Purpose::SignIn => (None, next::after_sign_in(&pending.next)),
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
    // Whoever is signed in here may be somebody else.
    let visitor = engine.acting_for(Actor::Visitor);
    let admission = provider.admission(caller, followed);
    let entered = visitor.sign_in_as(&caller.who, &caller.called, &admission);
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

/// Only for who began it, and is signed in still.
async fn link(
    engine: &Engine,
    session: &Session,
    account: &str,
    caller: &Caller,
) -> Result<Result<String, NotSignedIn>, Error> {
    let own = session::own(session, engine).await;
    if !own.is_ok_and(|own| own.account_id == account) {
        return Ok(Err(NotSignedIn::Expired));
    }
    match engine.link_identity(&caller.who).await {
        Ok(()) => Ok(Ok("/account?done=linked".to_owned())),
        Err(Error::Conflict(_)) => Ok(Err(NotSignedIn::NotLinkable)),
        Err(error) => Err(error),
    }
}

/// The page to sign in, which says why nothing came of it.
fn not_done(id: &str, why: NotSignedIn, next: &str) -> Redirect {
    let (id, why) = (encode(id), why.word());
    Redirect::to(&match next::after_sign_in(next) {
        "/" => format!("/sign-in/{id}?problem={why}"),
        next => format!("/sign-in/{id}?problem={why}&next={}", encode(next)),
    })
}

/// A page that leads on by itself. A redirect would be part of the sending of
/// the form, which browsers let end on this site alone (`form-action`).
fn way_on(provider: &str, url: &str) -> Response {
    let (provider, url) = (escape(provider), escape(url));
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n\
         <title>On to {provider}</title>\n</head>\n<body>\n<main>\n\
         <h1>On to {provider}</h1>\n<p><a href=\"{url}\">Go on to {provider}</a> to say who you are.</p>\n\
         </main>\n</body>\n</html>\n"
    );
    let mut response = Html(page).into_response();
    // It is good for one journey.
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn note(provider: &Provider, refusal: &Refusal) {
    tracing::warn!(
        provider = provider.id,
        "somebody could not be signed in: {refusal}"
    );
}
