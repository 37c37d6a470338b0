//! Publishing and withdrawing runs, and their verified mark.

use axum::Json;
use serde::Deserialize;
use swe_ci_views::account::AccountRole;
use swe_ci_views::view::RunDetail;
use utoipa::ToSchema;

use super::Result;
use super::addresses::RunPath;
use super::body::Body;
use super::query::{NoParameters, Query};
use super::responses::{Admin, NoSuchRun, RunOwner};
use crate::actor::ActorEngine;
use crate::path::Path;

/// The reason for a withdrawal.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Withdrawal {
    /// 1 to 500 characters, for the people who may still see the run.
    reason: String,
}

/// Publishes a run. Publishing twice has the effect of once; a withdrawn run
/// requires an administrator.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/publish", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, public", body = RunDetail),
        RunOwner,
        (status = 403, description = "The run belongs to someone else, or was withdrawn"),
    ),
)]
pub(crate) async fn publish(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    engine.publish(&id).await?;
    Ok(Json(engine.run(&id).await?))
}

/// Withdraws a public run: it leaves the rankings and every list, and stays
/// visible to its submitter and to administrators.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/withdraw", tag = "runs",
    params(RunPath), request_body = Withdrawal,
    responses(
        (status = 200, description = "The run, withdrawn", body = RunDetail),
        RunOwner,
        (status = 400, description = "The reason is invalid"),
        (status = 409, description = "The run was never published"),
    ),
)]
pub(crate) async fn withdraw(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
    body: Result<Body<Withdrawal>>,
) -> Result<Json<RunDetail>> {
    engine.require(AccountRole::Submitter)?;
    let Body(Withdrawal { reason }) = body?;
    engine.unpublish(&id, &reason).await?;
    Ok(Json(engine.run(&id).await?))
}

/// Marks a run as verified, for administrators: its tests gave the recorded
/// outcomes when they ran again.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/mark", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, marked", body = RunDetail),
        Admin, NoSuchRun,
        (status = 409, description = "The run was never checked, or its last check found differences"),
    ),
)]
pub(crate) async fn mark(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.mark_verified(&id).await?;
    Ok(Json(engine.run(&id).await?))
}

/// Removes the mark, for administrators; no effect if there is none.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/unmark", tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The run, without the mark", body = RunDetail), Admin, NoSuchRun),
)]
pub(crate) async fn unmark(
    ActorEngine(engine): ActorEngine,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    engine.unmark(&id).await?;
    Ok(Json(engine.run(&id).await?))
}
