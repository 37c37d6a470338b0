use std::convert::Infallible;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;
use swe_ci_engine::Engine;
use swe_ci_views::account::Actor;

use crate::app::App;

/// The engine, bound to the actor that sends the request.
#[derive(Debug)]
pub(crate) struct ActorEngine(pub Engine);

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
