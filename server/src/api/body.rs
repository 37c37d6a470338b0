//! Request bodies: axum's JSON extractor with a [`Problem`] as its rejection.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// A JSON body parsed as `T`.
#[derive(Debug)]
pub(crate) struct Body<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let read = Json::from_request(request, state).await;
        let Json(body) = read.map_err(|e: JsonRejection| Problem::unreadable(e.body_text()))?;
        Ok(Self(body))
    }
}
