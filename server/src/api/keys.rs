//! The caller's stored keys of model providers.

use axum::Json;
use axum::body::Bytes;
use axum::http::StatusCode;
use secrecy::SecretString;
use serde::Deserialize;
use swe_ci_engine::KeyView;
use swe_ci_views::account::AccountRole;
use utoipa::{IntoParams, ToSchema};

use super::Result;
use super::query::{Query, QueryParameters, QueryString};
use super::responses::Submitter;
use crate::extract::{ActorEngine, Path};
use crate::problem::Problem;

/// A key to store.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyValue {
    /// The provider's key; the API never returns it.
    #[schema(value_type = String, format = "password")]
    value: SecretString,
}

/// Whether to remove a key that runs still need.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RemovalParameters {
    /// Removes the key even if runs need it; their steps will then fail.
    #[param(value_type = Option<bool>, default = false)]
    force: bool,
}

impl QueryParameters for RemovalParameters {
    fn read(query: &QueryString) -> Result<Self> {
        let force = query.word("force", [("true", true), ("false", false)])?;
        Ok(Self { force })
    }
}

/// The stored keys your runs may use, without their values.
#[utoipa::path(
    get, path = "/api/v1/keys", tag = "runs",
    responses((status = 200, description = "The keys", body = Vec<KeyView>), Submitter),
)]
pub(crate) async fn keys(engine: ActorEngine) -> Result<Json<Vec<KeyView>>> {
    Ok(Json(engine.key_names().await?))
}

/// Stores one of your keys under a name and replaces an earlier one.
#[utoipa::path(
    put, path = "/api/v1/keys/{name}", tag = "runs",
    params(("name" = String, Path, description = "The key's name in configurations.")), request_body = KeyValue,
    responses(
        (status = 204, description = "The key is stored"),
        Submitter,
        (status = 400, description = "The name or the value is invalid"),
    ),
)]
pub(crate) async fn set_key(
    engine: ActorEngine,
    Path(name): Path<String>,
    body: Bytes,
) -> Result<StatusCode> {
    engine.require(AccountRole::Submitter)?;
    // The parser's error would repeat the body, and the body is a secret.
    let key: KeyValue = serde_json::from_slice(&body).map_err(|_| {
        Problem::unreadable("the body is not a key, `{\"value\": \"…\"}`".to_owned())
    })?;
    engine.set_key(&name, &key.value).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes one of your keys.
#[utoipa::path(
    delete, path = "/api/v1/keys/{name}", tag = "runs",
    params(("name" = String, Path, description = "The key's name in configurations."), RemovalParameters),
    responses(
        (status = 204, description = "It is removed"),
        Submitter,
        (status = 404, description = "You have no such key"),
        (status = 409, description = "Unfinished runs need the key"),
    ),
)]
pub(crate) async fn remove_key(
    engine: ActorEngine,
    Path(name): Path<String>,
    Query(RemovalParameters { force }): Query<RemovalParameters>,
) -> Result<StatusCode> {
    engine.remove_key(&name, force).await?;
    Ok(StatusCode::NO_CONTENT)
}
