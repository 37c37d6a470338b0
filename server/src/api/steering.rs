//! Steering a run: pause, resume, cancel, retry, preflight, and its limits.

use axum::Json;
use swe_ci_engine::Engine;
use swe_ci_views::account::AccountRole;
use swe_ci_views::steering::Change;
use swe_ci_views::view::RunDetail;

use super::Result;
use super::addresses::RunPath;
use super::body::Body;
use super::query::{NoParameters, Query};
use super::responses::RunOwner;
use crate::actor::ActorEngine;
use crate::path::Path;

/// Pauses a run: no evolution starts, and running steps stop within seconds and
/// resume later from where they stood. Pausing twice has the effect of once.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/pause", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, paused", body = RunDetail),
        RunOwner,
        (status = 409, description = "The run is over"),
    ),
)]
pub(crate) async fn pause(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.pause(&id).await?;
    detail(&engine, &id).await
}

/// Resumes a paused run. Resuming twice has the effect of once.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/resume", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, no longer paused", body = RunDetail),
        RunOwner,
        (status = 409, description = "The run is over"),
    ),
)]
pub(crate) async fn resume(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.resume(&id).await?;
    detail(&engine, &id).await
}

/// Cancels a run irrevocably: running steps stop within seconds and are not
/// scored. Cancelling twice has the effect of once.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/cancel", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, cancelled", body = RunDetail),
        RunOwner,
        (status = 409, description = "The run is finished"),
    ),
)]
pub(crate) async fn cancel(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.cancel(&id).await?;
    detail(&engine, &id).await
}

/// Returns evolutions to the queue that are blocked, or that stopped at a
/// budget that has been raised since. They resume where they stood; a finished
/// run is running again.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/retry", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, with the retried evolutions queued", body = RunDetail),
        RunOwner,
        (status = 409, description = "The run is over with nothing to retry, or its budget is spent"),
    ),
)]
pub(crate) async fn retry(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.retry_blocked(&id).await?;
    detail(&engine, &id).await
}

/// Repeats a failed preflight. Requesting it twice has the effect of once.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/preflight", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, waiting for its preflight", body = RunDetail),
        RunOwner,
        (status = 409, description = "The run is not waiting for a preflight, or is over"),
    ),
)]
pub(crate) async fn preflight(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.preflight_again(&id).await?;
    detail(&engine, &id).await
}

/// Starts a run whose preflight failed or is unfinished. Requesting it twice
/// has the effect of once.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/begin", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, free to begin", body = RunDetail),
        RunOwner,
        (status = 409, description = "The run is not waiting for a preflight, or is over"),
    ),
)]
pub(crate) async fn begin(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.begin_anyway(&id).await?;
    detail(&engine, &id).await
}

/// Raises a run's budget, and sets how many of its evolutions may run at the
/// same time. Absent fields stay unchanged; the submitted configuration stays
/// as it is.
#[utoipa::path(
    patch, path = "/api/v1/runs/{id}", tag = "runs",
    params(RunPath), request_body = Change,
    responses(
        (status = 200, description = "The run, with its current limits", body = RunDetail),
        RunOwner,
        (status = 400, description = "A field is out of range, or a limit would decrease"),
        (status = 409, description = "The run is over"),
    ),
)]
pub(crate) async fn change(
    ActorEngine(engine): ActorEngine,
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
