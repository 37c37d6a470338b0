use axum::Json;
use serde::Deserialize;
use swe_ci_core::account::AccountRole;
use swe_ci_core::view::RunDetail;
use utoipa::ToSchema;

use super::Result;
use super::body::Body;
use super::path::{Path, RunPath};
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// Why a run is taken back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Withdrawal {
    /// 1 to 500 characters, for those who may still see it.
    reason: String,
}

/// Shows a run to everybody. Publishing twice is the same as once; one that
/// was taken back takes an administrator.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/publish",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, public", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's, or was taken back", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn publish(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.publish(&id).await?;
    Ok(Json(engine.run(&id).await?))
}

/// Takes a public run back: it leaves the rankings and every list, and stays
/// with whoever submitted it and with administrators.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/withdraw",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    request_body = Withdrawal,
    responses(
        (status = 200, description = "The run, taken back", body = RunDetail),
        (status = 400, description = "The reason cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It was never published", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn withdraw(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
    body: Result<Body<Withdrawal>>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    let Body(Withdrawal { reason }) = body?;
    engine.unpublish(&id, &reason).await?;
    Ok(Json(engine.run(&id).await?))
}

/// Marks a run as verified, for administrators: that its tests came out as
/// recorded when they were run again.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/mark",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, marked", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "This takes an administrator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It was never checked, or its last check found differences", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn mark(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.mark_verified(&id).await?;
    Ok(Json(engine.run(&id).await?))
}

/// Takes the mark away again, for administrators; the same where there is
/// none.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/unmark",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, without the mark", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "This takes an administrator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn unmark(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.unmark(&id).await?;
    Ok(Json(engine.run(&id).await?))
}
