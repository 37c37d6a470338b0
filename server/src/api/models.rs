use axum::Json;
use swe_ci_views::leaderboard::ModelDetail;

use super::Result;
use super::addresses::ModelPath;
use super::query::{NoParameters, Query};
use crate::actor::ActorEngine;
use crate::path::Path;

/// All runs of a model over all splits, their standings, and the model's
/// results on groups of tasks.
#[utoipa::path(
    get, path = "/api/v1/models/{name}", tag = "results",
    params(ModelPath),
    responses(
        (status = 200, description = "The model", body = ModelDetail),
        (status = 404, description = "No run uses a model of this name"),
    ),
)]
pub(crate) async fn model(
    ActorEngine(engine): ActorEngine,
    Path(ModelPath { name }): Path<ModelPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<ModelDetail>> {
    Ok(Json(engine.model(&name).await?))
}
