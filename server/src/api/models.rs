use axum::Json;
use swe_ci_core::leaderboard::ModelDetail;

use super::Result;
use super::path::{ModelPath, Path};
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// All runs of a model over all splits, where they stand, and how it does on
/// groups of tasks.
#[utoipa::path(
    get,
    path = "/api/v1/models/{name}",
    tag = "results",
    params(ModelPath),
    responses(
        (status = 200, description = "The model", body = ModelDetail),
        (status = 404, description = "No run is of a model of this name", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn model(
    As(engine): As,
    Path(ModelPath { name }): Path<ModelPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<ModelDetail>> {
    Ok(Json(engine.model(&name).await?))
}
