//! Workers, and the numbers that a monitoring program collects.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use swe_ci_views::workers::WorkerView;

use super::responses::Admin;
use super::{Answer, Result};
use crate::extract::ActorEngine;
use crate::metrics;

/// The processes that execute runs, and what they work on.
#[utoipa::path(
    get, path = "/api/v1/workers", tag = "runs",
    responses((status = 200, description = "The workers, by name", body = Vec<WorkerView>), Admin),
)]
pub(crate) async fn workers(engine: ActorEngine) -> Answer<Vec<WorkerView>> {
    Ok(Json(engine.workers().await?))
}

/// Queue, workers and totals of all steps, in Prometheus' text format; covers
/// all workers.
#[utoipa::path(
    get, path = "/metrics", tag = "health",
    responses((status = 200, description = "The numbers", body = String, content_type = "text/plain"), Admin),
)]
pub(crate) async fn metrics(engine: ActorEngine) -> Result<Response> {
    let text = metrics::text(&engine.monitoring().await?);
    let headers = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    Ok((headers, text).into_response())
}
