//! On the way in: who is it?

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use swe_ci_core::account::Actor;
use swe_ci_engine::{Engine, Error};
use tower_sessions::Session;

use super::{closed, origin, session};
use crate::api::Problem;
use crate::serve::App;

/// What stands at the way in. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Doors {
    engine: Engine,
    /// Whether visitors see nothing.
    closed: bool,
    /// The site's own host, where it is configured.
    own: Option<Arc<str>>,
}

impl Doors {
    pub(super) fn new(app: &App) -> Self {
        let own = app.public_url.as_ref().map(|url| url.as_str().into());
        Self {
            engine: app.engine.clone(),
            closed: app.closed,
            own,
        }
    }
}

/// Says in the request's extensions who sends it, or refuses it.
pub(super) async fn recognise(
    State(doors): State<Doors>,
    mut request: Request,
    next: Next,
) -> Response {
    // The built site's files are the same for everybody.
    if request.uri().path().starts_with("/pkg/") {
        return next.run(request).await;
    }
    if !is_from_here(&doors, &request) {
        return Problem::from_elsewhere().into_response();
    }
    let session = request.extensions().get::<Session>();
    let by = match who(&doors.engine, request.headers(), session).await {
        Ok(by) => by,
        Err(error) => return Problem::from(error).into_response(),
    };
    if doors.closed
        && by == Actor::Visitor
        && let Some(refused) = closed::refuses(request.uri())
    {
        return refused;
    }
    let known = by != Actor::Visitor;
    request.extensions_mut().insert(by);
    let mut response = next.run(request).await;
    // It is nobody else's, and not to be found in the browser's history once
    // they have signed out.
    if known {
        let cache = response.headers_mut().entry(header::CACHE_CONTROL);
        cache.or_insert(HeaderValue::from_static("no-store"));
    }
    response
}

fn is_from_here(doors: &Doors, request: &Request) -> bool {
    let reads = [Method::GET, Method::HEAD, Method::OPTIONS];
    let headers = request.headers();
    reads.contains(request.method())
        || bearer(headers).is_some()
        || origin::is_ours(headers, doors.own.as_deref(), session::has_cookie(headers))
}

/// With a token and a session, the token wins: a program says who it is.
async fn who(
    engine: &Engine,
    headers: &HeaderMap,
    session: Option<&Session>,
) -> Result<Actor, Error> {
    if let Some(token) = bearer(headers) {
        return engine.actor_of_token(token).await;
    }
    let Some(session) = session.filter(|_| session::has_cookie(headers)) else {
        return Ok(Actor::Visitor);
    };
    let Some(account) = session::account(session, &engine.today()).await? else {
        return Ok(Actor::Visitor);
    };
    // Asked each time, so that a disabled account is out at once.
    let identity = engine.identity(&account).await?;
    Ok(identity.map_or(Actor::Visitor, Actor::Account))
}

/// The token a program sends, whatever it is worth.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_token() {
        let check = |given: &str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, given.parse().unwrap());
            assert_eq!(bearer(&headers), expect, "{given}");
        };
        check("Bearer sweci_abc", Some("sweci_abc"));
        check("bearer  sweci_abc ", Some("sweci_abc"));
        // It is for the engine to say what is no token.
        check("Bearer x", Some("x"));
        check("Basic dTpw", None);
        check("Bearer", None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
