//! Extractors with a [`Problem`] as their rejection, and the engine bound to
//! the actor of the request.

use std::convert::Infallible;
use std::ops::Deref;

use axum::body::Bytes;
use axum::extract::{FromRef, FromRequest, FromRequestParts, Request};
use axum::http::Extensions;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use swe_ci_engine::Engine;
use swe_ci_views::account::Actor;

use crate::app::App;
use crate::json_body;
use crate::problem::Problem;

/// Path parameters parsed as `T`.
#[derive(Debug, FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(crate) struct Path<T>(pub T);

impl<T> Deref for Path<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A JSON body parsed as `T`.
#[derive(Debug)]
pub(crate) struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if !json_body::is_announced(request.headers()) {
            let detail = "the body must be JSON, sent with `Content-Type: application/json`";
            return Err(Problem::unreadable(detail.to_owned()));
        }
        let body = Bytes::from_request(request, state).await?;
        json_body::read(&body).map(Self)
    }
}

/// The engine, bound to the actor that sends the request.
#[derive(Debug)]
pub(crate) struct ActorEngine(pub Engine);

impl Deref for ActorEngine {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.0
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ActorEngine
where
    App: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let app = App::from_ref(state);
        Ok(Self(app.engine.acting_for(actor(&parts.extensions))))
    }
}

/// The actor the authentication layer recognised; else a visitor.
pub(crate) fn actor(extensions: &Extensions) -> Actor {
    extensions.get().cloned().unwrap_or(Actor::Visitor)
}
