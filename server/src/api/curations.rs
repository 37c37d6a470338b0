//! Curations: splits made from git histories; for administrators.

use axum::Json;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use swe_ci_views::account::AccountRole;
use swe_ci_views::curation::{CurationDetail, CurationSummary, DroppedByReview};
use utoipa::ToSchema;

use super::responses::{Admin, NoSuchCuration};
use super::{Answer, Result};
use crate::extract::{ActorEngine, Path};
use crate::json_body;

/// A plan to execute.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCuration {
    /// The plan as TOML; `swe-ci dataset curate --example` prints one.
    plan: String,
}

/// A queued curation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Begun {
    curation_id: String,
}

/// All curations, newest first.
#[utoipa::path(
    get, path = "/api/v1/curations", tag = "tasks",
    responses((status = 200, description = "The curations", body = Vec<CurationSummary>), Admin),
)]
pub(crate) async fn curations(engine: ActorEngine) -> Answer<Vec<CurationSummary>> {
    Ok(Json(engine.curations().await?))
}

/// Queues a curation; a server with workers executes it.
#[utoipa::path(
    post, path = "/api/v1/curations", tag = "tasks",
    request_body = NewCuration,
    responses(
        (status = 201, description = "The curation is queued", body = Begun),
        Admin,
        (status = 400, description = "The plan is invalid"),
        (status = 409, description = "The split exists already"),
    ),
)]
pub(crate) async fn curate(engine: ActorEngine, body: Bytes) -> Result<Response> {
    engine.require(AccountRole::Admin)?;
    let NewCuration { plan } = json_body::read(&body)?;
    let curation_id = engine.submit_curation(&plan).await?;
    let place = [(header::LOCATION, format!("/api/v1/curations/{curation_id}"))];
    Ok((StatusCode::CREATED, place, Json(Begun { curation_id })).into_response())
}

/// A curation: its plan, the results of each stage, and every candidate.
#[utoipa::path(
    get, path = "/api/v1/curations/{id}", tag = "tasks",
    params(("id" = String, Path, description = "The curation's id.")),
    responses((status = 200, description = "The curation", body = CurationDetail), Admin, NoSuchCuration),
)]
pub(crate) async fn curation(
    engine: ActorEngine,
    Path(id): Path<String>,
) -> Answer<CurationDetail> {
    Ok(Json(engine.curation(&id).await?))
}

/// A decision about the tasks of a curation in review.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    /// The tasks to keep out of the split; all others are published.
    drop: Vec<DroppedByReview>,
}

/// Publishes the tasks of a curation in review but those to be dropped. A worker
/// writes the split.
#[utoipa::path(
    post, path = "/api/v1/curations/{id}/publish", tag = "tasks", operation_id = "publish_curation",
    params(("id" = String, Path, description = "The curation's id.")),
    request_body = Review,
    responses(
        (status = 204, description = "The decision is recorded"),
        Admin, NoSuchCuration,
        (status = 400, description = "A task is not in review, or is dropped without a reason"),
        (status = 409, description = "The curation is not in review"),
    ),
)]
pub(crate) async fn publish(
    engine: ActorEngine,
    Path(id): Path<String>,
    body: Bytes,
) -> Result<StatusCode> {
    engine.require(AccountRole::Admin)?;
    let review: Review = json_body::read(&body)?;
    engine.publish_curation(&id, &review.drop).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Cancels a curation and keeps its results so far.
#[utoipa::path(
    post, path = "/api/v1/curations/{id}/cancel", tag = "tasks", operation_id = "cancel_curation",
    params(("id" = String, Path, description = "The curation's id.")),
    responses(
        (status = 204, description = "The curation is cancelled"),
        Admin, NoSuchCuration,
        (status = 409, description = "The curation is over"),
    ),
)]
pub(crate) async fn cancel(engine: ActorEngine, Path(id): Path<String>) -> Result<StatusCode> {
    engine.cancel_curation(&id).await?;
    Ok(StatusCode::NO_CONTENT)
}
