use std::time::Duration;

use axum::Json;
use serde::Serialize;
use swe_ci_engine::Error;
use utoipa::ToSchema;

use super::Result;
use super::problem::{Problem, ProblemBody};
use crate::auth::As;

/// A thing that takes longer to answer does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// All is well.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

const OK: Json<Health> = Json(Health { status: "ok" });

/// The process answers.
#[utoipa::path(
    get,
    path = "/health/live",
    tag = "health",
    responses((status = 200, description = "It does", body = Health))
)]
pub(crate) async fn live() -> Json<Health> {
    OK
}

/// The process can do its work: database and Docker answer.
#[utoipa::path(
    get,
    path = "/health/ready",
    tag = "health",
    responses(
        (status = 200, description = "It can", body = Health),
        (status = 503, description = "Something does not answer; `detail` says what", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn ready(As(engine): As) -> Result<Json<Health>> {
    let answer = tokio::time::timeout(PATIENCE, engine.ready()).await;
    let answer = answer.unwrap_or_else(|_| {
        let seconds = PATIENCE.as_secs();
        let text = format!("the database or Docker did not answer within {seconds} seconds");
        Err(Error::Unavailable(text))
    });
    answer.map_err(Problem::unready)?;
    Ok(OK)
}
