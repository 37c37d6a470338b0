use axum::Json;
use swe_ci_core::disk::DiskUse;

use super::Result;
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// What takes the disk, in bytes; for administrators.
#[utoipa::path(
    get,
    path = "/api/v1/disk",
    tag = "tasks",
    security(("token" = [])),
    responses(
        (status = 200, description = "By what it holds", body = DiskUse),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role admin", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn disk(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<DiskUse>> {
    Ok(Json(engine.disk_use().await?))
}
