//! Authenticates every request.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use swe_ci_app::PublicUrl;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::account::Actor;
use tower_sessions::Session;

use super::{closed_site, origin, session};
use crate::app::App;
use crate::problem::Problem;

/// Puts the request's actor into its extensions, or refuses the request.
pub(super) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    // The built site's files are the same for everybody.
    if request.uri().path().starts_with("/pkg/") {
        return next.run(request).await;
    }
    let Ok(token) = bearer(request.headers()) else {
        return Problem::unusable_credentials().into_response();
    };
    if token.is_none() && !is_same_site(&app, &request) {
        return Problem::cross_site().into_response();
    }
    let session = request.extensions().get::<Session>();
    let actor = match request_actor(&app.engine, token, request.headers(), session).await {
        Ok(actor) => actor,
        Err(error) => return Problem::from(error).into_response(),
    };
    if app.closed
        && actor == Actor::Visitor
        && let Some(refused) = closed_site::refusal(request.uri())
    {
        return refused;
    }
    let known = actor != Actor::Visitor;
    request.extensions_mut().insert(actor);
    let mut response = next.run(request).await;
    // The response is personal, and must not be in the browser's history after
    // its owner has signed out.
    if known {
        let cache = response.headers_mut().entry(header::CACHE_CONTROL);
        cache.or_insert(HeaderValue::from_static("no-store"));
    }
    response
}

fn is_same_site(app: &App, request: &Request) -> bool {
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS];
    let headers = request.headers();
    let own = app.public_url.as_ref().map(PublicUrl::as_str);
    reads.contains(request.method()) || origin::is_ours(headers, own, session::has_cookie(headers))
}

/// A token takes precedence over a session: it is explicit.
async fn request_actor(
    engine: &Engine,
    token: Option<&str>,
    headers: &HeaderMap,
    session: Option<&Session>,
) -> Result<Actor, Error> {
    if let Some(token) = token {
        return engine.actor_of_token(token).await;
    }
    let Some(session) = session.filter(|_| session::has_cookie(headers)) else {
        return Ok(Actor::Visitor);
    };
    let Some(account) = session::account(session, &engine.today()).await? else {
        return Ok(Actor::Visitor);
    };
    // Looked up for every request, so that disabling an account takes effect at
    // once.
    let identity = engine.identity(&account).await?;
    Ok(identity.map_or(Actor::Visitor, Actor::Account))
}

/// The header has credentials that this site does not use.
#[derive(Debug, PartialEq, Eq)]
struct Unusable;

/// The bearer token a program sends, valid or not. Anything else in its header is
/// refused: its sender means to be somebody, and would be taken for a visitor.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Unusable> {
    let mut given = headers.get_all(header::AUTHORIZATION).into_iter();
    let given = match (given.next(), given.next()) {
        (None, _) => return Ok(None),
        (Some(given), None) => given.to_str().map_err(|_| Unusable)?,
        (Some(_), Some(_)) => return Err(Unusable),
    };
    let (scheme, token) = given.split_once(' ').ok_or(Unusable)?;
    let token = token.trim();
    match scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() {
        true => Ok(Some(token)),
        false => Err(Unusable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_recognised() {
        let check = |given: &[&str], expect: Result<Option<&str>, Unusable>| {
            let mut headers = HeaderMap::new();
            for value in given {
                headers.append(header::AUTHORIZATION, value.parse().unwrap());
            }
            assert_eq!(bearer(&headers), expect, "{given:?}");
        };
        check(&[], Ok(None));
        check(&["Bearer sweci_abc"], Ok(Some("sweci_abc")));
        check(&["bearer  sweci_abc "], Ok(Some("sweci_abc")));
        // The engine decides which tokens are valid.
        check(&["Bearer x"], Ok(Some("x")));
        // A variable that is not set, and a token without its scheme.
        for unusable in ["", "Bearer", "Bearer ", "sweci_abc", "Basic dTpw"] {
            check(&[unusable], Err(Unusable));
        }
        check(&["Bearer x", "Bearer x"], Err(Unusable));
    }
}
