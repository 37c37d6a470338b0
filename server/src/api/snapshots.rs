//! Snapshots of leaderboards: the list, making one, and its content.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::Deserialize;
use swe_ci_core::day::is_day;
use swe_ci_engine::Engine;
use swe_ci_views::account::AccountRole;
use swe_ci_views::leaderboard::Snapshot;
use utoipa::{IntoParams, ToSchema};

use super::query::{Query, parameters};
use super::responses::{Admin, Invalid};
use super::{Answer, Result};
use crate::extract::{ActorEngine, Body, Path};
use crate::problem::Problem;

#[derive(Debug, Deserialize, IntoParams)]
pub(crate) struct SnapshotPath {
    /// The day of the snapshot.
    #[param(example = "2026-11-27")]
    day: String,
}

parameters! {
    /// Which snapshot of the day.
    struct SnapshotParameters of |query| {
        /// The split; the one with the most tasks of those that have a snapshot of
        /// the day when absent.
        #[param(example = "demo")]
        split: Option<String> = query.split()?,
    }
}

async fn found(engine: &Engine, path: &SnapshotPath, split: Option<&str>) -> Result<Snapshot> {
    if !is_day(&path.day) {
        return Err(Problem::parameter("day", &path.day, "a day, `YYYY-MM-DD`"));
    }
    Ok(engine.snapshot(&path.day, split).await?)
}

/// The snapshots of leaderboards, the latest first.
#[utoipa::path(
    get, path = "/api/v1/snapshots", tag = "results",
    responses((status = 200, description = "All of them", body = Vec<Snapshot>)),
)]
pub(crate) async fn snapshots(engine: ActorEngine) -> Answer<Vec<Snapshot>> {
    Ok(Json(engine.snapshots().await?))
}

/// The split to freeze.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SplitToFreeze {
    /// The name of the split.
    #[schema(example = "demo")]
    split: String,
}

/// Makes today's snapshot of a split, in UTC, for administrators: its leaderboards of
/// both modes as they are now. It never changes.
#[utoipa::path(
    post, path = "/api/v1/snapshots", tag = "results",
    request_body = SplitToFreeze,
    responses(
        (status = 201, description = "The snapshot", body = Snapshot),
        Admin,
        (status = 400, description = "No run of the split has a score yet, or the body is invalid"),
        (status = 404, description = "There is no such split"),
        (status = 409, description = "The split has a snapshot of today"),
    ),
)]
pub(crate) async fn make_snapshot(
    engine: ActorEngine,
    body: Result<Body<SplitToFreeze>>,
) -> Result<(StatusCode, Json<Snapshot>)> {
    engine.require(AccountRole::Admin)?;
    let Body(SplitToFreeze { split }) = body?;
    Ok((
        StatusCode::CREATED,
        Json(engine.make_snapshot(&split).await?),
    ))
}

/// The snapshot of a day. `snapshot` of the leaderboard, the matrix, the figures and
/// comparisons shows them as they were then.
#[utoipa::path(
    get, path = "/api/v1/snapshots/{day}", tag = "results",
    params(SnapshotPath, SnapshotParameters),
    responses(
        (status = 200, description = "The snapshot", body = Snapshot),
        Invalid,
        (status = 404, description = "There is no snapshot of that day"),
    ),
)]
pub(crate) async fn snapshot(
    engine: ActorEngine,
    Path(path): Path<SnapshotPath>,
    Query(SnapshotParameters { split }): Query<SnapshotParameters>,
) -> Answer<Snapshot> {
    Ok(Json(found(&engine, &path, split.as_deref()).await?))
}

/// The content of a snapshot, byte for byte what its digest is the SHA-256 of: the
/// runs with what was counted for each evolution.
#[utoipa::path(
    get, path = "/api/v1/snapshots/{day}/content", tag = "results",
    params(SnapshotPath, SnapshotParameters),
    responses(
        (status = 200, description = "The content", body = Value, content_type = "application/json"),
        Invalid,
        (status = 404, description = "There is no snapshot of that day"),
    ),
)]
pub(crate) async fn snapshot_content(
    engine: ActorEngine,
    Path(path): Path<SnapshotPath>,
    Query(SnapshotParameters { split }): Query<SnapshotParameters>,
) -> Result<impl IntoResponse> {
    let snapshot = found(&engine, &path, split.as_deref()).await?;
    let content = engine.snapshot_content(&snapshot).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], content))
}
