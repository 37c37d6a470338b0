//! What models say of a run by a rubric.

use axum::Json;
use axum::http::StatusCode;
use swe_ci_views::account::AccountRole;
use swe_ci_views::background::BackgroundWork;
use swe_ci_views::judge::{JudgePlan, JudgedRun};

use super::addresses::RunPath;
use super::responses::{NoSuchRun, RunOwner};
use super::{Answer, Result};
use crate::extract::{ActorEngine, Body, Path};

/// What models say of a run's iterations by the rubrics they were given, the
/// newest judge first. Nothing of it is part of a score.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/judgements", tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The judges, with their answers", body = Vec<JudgedRun>), NoSuchRun),
)]
pub(crate) async fn judgements(engine: ActorEngine, path: Path<RunPath>) -> Answer<Vec<JudgedRun>> {
    Ok(Json(engine.judgements(&path.id).await?))
}

/// Starts to ask a model about the iterations of a run, with a key of the caller's.
/// Iterations that this judge has judged with this rubric are left out. The answers
/// appear one by one.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/judgements", tag = "runs",
    params(RunPath), request_body = JudgePlan,
    responses(
        (status = 202, description = "How far it is", body = BackgroundWork),
        RunOwner,
        (status = 400, description = "The plan is invalid"),
        (status = 409, description = "The run is active or being judged, or has no iterations"),
    ),
)]
pub(crate) async fn judge(
    engine: ActorEngine,
    path: Path<RunPath>,
    body: Result<Body<JudgePlan>>,
) -> Result<(StatusCode, Json<Option<BackgroundWork>>)> {
    // Before reading the body: a caller without the role learns nothing.
    engine.require(AccountRole::Submitter)?;
    let Body(plan) = body?;
    engine.start_judge(&path.id, plan).await?;
    let work = engine.judge_work(&path.id).await?;
    Ok((StatusCode::ACCEPTED, Json(work)))
}
