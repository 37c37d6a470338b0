//! The review queue of runs that others submit.

use axum::Json;
use axum::extract::Request;
use axum::http::StatusCode;
use futures::TryStreamExt;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;
use swe_ci_views::submitted::SubmittedRun;
use utoipa::ToSchema;

use super::addresses::RunPath;
use super::responses::{Admin, NoSuchRun};
use super::{Answer, Result};
use crate::extract::{ActorEngine, Body, Path};

/// Takes a run that `swe-ci submit` packed for the calling account. It becomes a
/// private run; the site runs a sample of its tests again and audits its code, and
/// an administrator decides. The body has at most 1 GiB.
#[utoipa::path(
    post, path = "/api/v1/submissions", tag = "runs",
    request_body(content = String, content_type = "application/zstd", description = "The archive"),
    responses(
        (status = 201, description = "It waits for its checks", body = SubmittedRun),
        (status = 400, description = "It is refused: the detail says why"),
        (status = 401, description = "It takes a token"),
        (status = 403, description = "The account may not submit runs"),
        (status = 409, description = "It was submitted before, or too many wait for a decision"),
    ),
)]
pub(crate) async fn submit_archive(
    engine: ActorEngine,
    request: Request,
) -> Result<(StatusCode, Json<SubmittedRun>)> {
    let pieces = request.into_body().into_data_stream();
    let pieces = pieces.map_err(std::io::Error::other);
    let run = engine.receive_submission(Box::pin(pieces)).await?;
    Ok((StatusCode::CREATED, Json(run)))
}

/// The runs that others submitted, the latest first, with what the checks say:
/// all for administrators, for others their own.
#[utoipa::path(
    get, path = "/api/v1/submissions", tag = "runs",
    responses(
        (status = 200, description = "At most 500", body = Vec<SubmittedRun>),
        (status = 401, description = "It takes a token"),
        (status = 403, description = "The account may not submit runs"),
    ),
)]
pub(crate) async fn submissions(engine: ActorEngine) -> Answer<Vec<SubmittedRun>> {
    Ok(Json(engine.submitted_runs().await?))
}

/// A submitted run by its id, for its submitter and administrators.
#[utoipa::path(
    get, path = "/api/v1/submissions/{id}", tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The run with its verdicts", body = SubmittedRun), NoSuchRun),
)]
pub(crate) async fn submission(engine: ActorEngine, path: Path<RunPath>) -> Answer<SubmittedRun> {
    Ok(Json(engine.submitted_run(&path.id).await?))
}

/// Publishes a submitted run that passed its checks, marked as verified; for
/// administrators.
#[utoipa::path(
    post, path = "/api/v1/submissions/{id}/publish", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, published", body = SubmittedRun),
        Admin, NoSuchRun,
        (status = 409, description = "It has not passed its checks, or is decided"),
    ),
)]
pub(crate) async fn publish_submission(
    engine: ActorEngine,
    path: Path<RunPath>,
) -> Answer<SubmittedRun> {
    Ok(Json(engine.publish_submission(&path.id).await?))
}

/// Why a submitted run is refused.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refusal {
    /// 1 to 500 characters, for its submitter.
    reason: String,
}

/// Refuses a submitted run, for administrators.
#[utoipa::path(
    post, path = "/api/v1/submissions/{id}/refuse", tag = "runs",
    params(RunPath), request_body = Refusal,
    responses(
        (status = 200, description = "The run, refused", body = SubmittedRun),
        Admin, NoSuchRun,
        (status = 400, description = "The reason is invalid"),
        (status = 409, description = "It is decided"),
    ),
)]
pub(crate) async fn refuse_submission(
    engine: ActorEngine,
    path: Path<RunPath>,
    body: Result<Body<Refusal>>,
) -> Answer<SubmittedRun> {
    engine.require(AccountRole::Admin)?;
    let Body(Refusal { reason }) = body?;
    Ok(Json(engine.refuse_submission(&path.id, &reason).await?))
}
