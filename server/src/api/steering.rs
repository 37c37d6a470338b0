use axum::Json;
use swe_ci_core::account::AccountRole;
use swe_ci_core::steering::Change;
use swe_ci_core::view::RunDetail;
use swe_ci_engine::Engine;

use super::Result;
use super::body::Body;
use super::path::{Path, RunPath};
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// Pauses a run: nothing of it is begun any more, and what is at work is broken
/// off within seconds, to go on where it stood. Pausing twice is the same as once.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/pause",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, paused", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run is over", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn pause(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.pause(&id).await?;
    detail(&engine, &id).await
}

/// Lets a paused run go on. Resuming twice is the same as once.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/resume",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, no longer paused", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run is over", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn resume(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.resume(&id).await?;
    detail(&engine, &id).await
}

/// Cancels a run, for good: what is at work ends within seconds and is not
/// scored. Cancelling twice is the same as once.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/cancel",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, cancelled", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run is finished", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn cancel(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.cancel(&id).await?;
    detail(&engine, &id).await
}

/// Puts the evolutions back in the queue that are blocked, or were stopped by a
/// budget that has been raised since. They go on where they stood; a finished
/// run is running again.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/retry",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, with what is tried again in the queue", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run is over with nothing to try again, or its budget is spent", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn retry(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.retry_blocked(&id).await?;
    detail(&engine, &id).await
}

/// Has a run tried again whose preflight failed. Twice is the same as once.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/preflight",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, waiting to be tried", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run waits for no preflight, or is over", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn preflight(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.preflight_again(&id).await?;
    detail(&engine, &id).await
}

/// Lets a run begin whose preflight failed or is not over. Twice is the same
/// as once.
#[utoipa::path(
    post,
    path = "/api/v1/runs/{id}/begin",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    responses(
        (status = 200, description = "The run, no longer held up", body = RunDetail),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run waits for no preflight, or is over", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn begin(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.begin_anyway(&id).await?;
    detail(&engine, &id).await
}

/// Raises a run's budget, and says how many of its evolutions may be at work at
/// the same time. What is left out stays as it is; the configuration stays as
/// it was submitted.
#[utoipa::path(
    patch,
    path = "/api/v1/runs/{id}",
    tag = "runs",
    security(("token" = [])),
    params(RunPath),
    request_body = Change,
    responses(
        (status = 200, description = "The run, with what holds now", body = RunDetail),
        (status = 400, description = "A field is out of range, or a limit would fall", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No good token was sent", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The run is somebody else's", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The run is over", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn change(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
    body: Result<Body<Change>>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    let Body(change) = body?;
    engine.change(&id, change).await?;
    detail(&engine, &id).await
}

async fn detail(engine: &Engine, id: &str) -> Result<Json<RunDetail>> {
    Ok(Json(engine.run(id).await?))
}
