//! Path parameters: axum's extractor with a [`Problem`] as its rejection.

use axum::extract::FromRequestParts;

use crate::problem::Problem;

/// Path parameters parsed as `T`.
#[derive(Debug, FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(crate) struct Path<T>(pub T);
