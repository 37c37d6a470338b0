use axum::Json;
use swe_ci_views::disk::DiskUse;

use super::Result;
use super::query::{NoParameters, Query};
use super::responses::Admin;
use crate::actor::ActorEngine;

/// Disk use in bytes; for administrators.
#[utoipa::path(
    get, path = "/api/v1/disk", tag = "tasks",
    responses((status = 200, description = "Disk use by content", body = DiskUse), Admin),
)]
pub(crate) async fn disk(
    ActorEngine(engine): ActorEngine,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<DiskUse>> {
    Ok(Json(engine.disk_use().await?))
}
