use std::convert::Infallible;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;
use swe_ci_core::account::Actor;
use swe_ci_engine::Engine;

use crate::serve::App;

/// The engine in the hands of whoever sends the request: what handlers ask.
#[derive(Debug)]
pub(crate) struct As(pub Engine);

impl<S: Send + Sync> FromRequestParts<S> for As
where
    App: FromRef<S>,
{
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let app = App::from_ref(state);
        Ok(Self(app.engine.acting_for(actor(&parts.extensions))))
    }
}

/// Whoever was recognised on the way in; else a visitor.
pub(crate) fn actor(extensions: &Extensions) -> Actor {
    extensions.get().cloned().unwrap_or(Actor::Visitor)
}
