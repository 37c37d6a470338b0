use std::time::Duration;

use axum::Json;
use serde::Serialize;
use swe_ci_engine::Error;
use utoipa::ToSchema;

use super::Answer;
use crate::extract::ActorEngine;
use crate::problem::Problem;

/// A dependency that takes longer counts as unavailable.
const PATIENCE: Duration = Duration::from_secs(5);

/// The server is healthy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

const OK: Json<Health> = Json(Health { status: "ok" });

/// The process answers.
#[utoipa::path(
    get, path = "/health/live", tag = "health",
    responses((status = 200, description = "The process answers", body = Health)),
)]
pub(crate) async fn live() -> Json<Health> {
    OK
}

/// The process can work: the database and Docker answer.
#[utoipa::path(
    get, path = "/health/ready", tag = "health",
    responses(
        (status = 200, description = "The process is ready", body = Health),
        (status = 503, description = "The database or Docker does not answer; `detail` says which"),
    ),
)]
pub(crate) async fn ready(engine: ActorEngine) -> Answer<Health> {
    let answer = tokio::time::timeout(PATIENCE, engine.ready()).await;
    let answer = answer.unwrap_or_else(|_| {
        let seconds = PATIENCE.as_secs();
        let text = format!("the database or Docker did not answer within {seconds} seconds");
        Err(Error::Unavailable(text))
    });
    answer.map_err(Problem::not_ready)?;
    Ok(OK)
}
