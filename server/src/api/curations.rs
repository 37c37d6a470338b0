//! Curations: splits made from git histories; for administrators.

use axum::Json;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use swe_ci_core::account::AccountRole;
use swe_ci_core::curation::{CurationDetail, CurationSummary};
use utoipa::{IntoParams, ToSchema};

use super::Result;
use super::path::Path;
use super::problem::{Problem, ProblemBody};
use super::query::{NoParameters, Query};
use crate::auth::As;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub(crate) struct CurationPath {
    /// The curation's id.
    id: String,
}

/// A plan to be carried out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCuration {
    /// As TOML; `swe-ci dataset curate --example` prints one.
    plan: String,
}

/// A curation that was begun.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Begun {
    curation_id: String,
}

/// All curations, the newest first.
#[utoipa::path(
    get,
    path = "/api/v1/curations",
    tag = "tasks",
    security(("token" = [])),
    responses(
        (status = 200, description = "The curations", body = Vec<CurationSummary>),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role admin", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn curations(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<CurationSummary>>> {
    Ok(Json(engine.curations().await?))
}

/// Begins a curation; a server that works carries it out.
#[utoipa::path(
    post,
    path = "/api/v1/curations",
    tag = "tasks",
    security(("token" = [])),
    request_body = NewCuration,
    responses(
        (status = 201, description = "It is queued", body = Begun),
        (status = 400, description = "The plan cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role admin", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "There is such a split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn curate(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
    body: Bytes,
) -> Result<Response> {
    engine.require(AccountRole::Admin)?;
    let NewCuration { plan } =
        serde_json::from_slice(&body).map_err(|error| Problem::unreadable(error.to_string()))?;
    let curation_id = engine.submit_curation(&plan).await?;
    let place = [(header::LOCATION, format!("/api/v1/curations/{curation_id}"))];
    Ok((StatusCode::CREATED, place, Json(Begun { curation_id })).into_response())
}

/// A curation: its plan, what each stage found, and every candidate.
#[utoipa::path(
    get,
    path = "/api/v1/curations/{id}",
    tag = "tasks",
    security(("token" = [])),
    params(CurationPath),
    responses(
        (status = 200, description = "The curation", body = CurationDetail),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role admin", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such curation", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn curation(
    As(engine): As,
    Path(CurationPath { id }): Path<CurationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<CurationDetail>> {
    Ok(Json(engine.curation(&id).await?))
}

/// Ends a curation; what it found stays.
#[utoipa::path(
    post,
    path = "/api/v1/curations/{id}/cancel",
    tag = "tasks",
    security(("token" = [])),
    params(CurationPath),
    responses(
        (status = 204, description = "It is cancelled"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role admin", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such curation", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It is over", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn cancel(
    As(engine): As,
    Path(CurationPath { id }): Path<CurationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<StatusCode> {
    engine.cancel_curation(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}
