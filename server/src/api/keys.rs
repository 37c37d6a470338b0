use axum::Json;
use axum::body::Bytes;
use axum::http::StatusCode;
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_core::account::AccountRole;
use swe_ci_engine::KeyView;
use utoipa::{IntoParams, ToSchema};

use super::Result;
use super::path::Path;
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, NoParameters, Query};
use crate::auth::As;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct KeyPath {
    /// What configurations call the key.
    name: String,
}

/// A key as it is stored.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyValue {
    /// What its provider calls the key; never shown again.
    #[schema(value_type = String, format = "password")]
    value: SecretString,
}

/// Whether runs that still need a key hold it back.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Removal {
    /// Removes it also while runs need it; their steps will then fail.
    #[param(value_type = Option<bool>, default = false)]
    force: bool,
}

impl FromQuery for Removal {
    const NAMES: &'static [&'static str] = &["force"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            force: given.flag("force")?,
        })
    }
}

/// The stored keys your runs may use, without their values.
#[utoipa::path(
    get,
    path = "/api/v1/keys",
    tag = "runs",
    security(("token" = [])),
    responses(
        (status = 200, description = "The keys", body = Vec<KeyView>),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn keys(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<KeyView>>> {
    Ok(Json(engine.key_names().await?))
}

/// Stores a key of yours under a name, in the place of the one that was there.
#[utoipa::path(
    put,
    path = "/api/v1/keys/{name}",
    tag = "runs",
    security(("token" = [])),
    params(KeyPath),
    request_body = KeyValue,
    responses(
        (status = 204, description = "It is stored"),
        (status = 400, description = "Name or value cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn set_key(
    As(engine): As,
    Path(KeyPath { name }): Path<KeyPath>,
    Query(NoParameters): Query<NoParameters>,
    body: Bytes,
) -> Result<StatusCode> {
    engine.require(AccountRole::Submitter)?;
    // An error of the reader would repeat what it read.
    let key: KeyValue = serde_json::from_slice(&body).map_err(|_| {
        Problem::unreadable("the body is not a key, `{\"value\": \"…\"}`".to_owned())
    })?;
    engine.set_key(&name, &key.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a key of yours.
#[utoipa::path(
    delete,
    path = "/api/v1/keys/{name}",
    tag = "runs",
    security(("token" = [])),
    params(KeyPath, Removal),
    responses(
        (status = 204, description = "It is gone"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "You have no such key", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Runs that are not over need it", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn remove_key(
    As(engine): As,
    Path(KeyPath { name }): Path<KeyPath>,
    Query(Removal { force }): Query<Removal>,
) -> Result<StatusCode> {
    engine.remove_key(&name, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
