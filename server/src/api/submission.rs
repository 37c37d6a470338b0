//! Submitting a run, and the configuration of a submitted one.

use axum::Json;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use swe_ci_views::account::AccountRole;
use swe_ci_views::submission::{Submission, unknown_field};
use swe_ci_views::view::RunDetail;

use super::Result;
use super::addresses::RunPath;
use super::responses::{NoSuchRun, Submitter};
use crate::extract::{ActorEngine, Path};
use crate::problem::Problem;

/// Queues a run. If its configuration is invalid, `problems` names every
/// invalid field, not only the first.
#[utoipa::path(
    post, path = "/api/v1/runs", tag = "runs",
    request_body = Submission,
    responses(
        (status = 201, description = "The run, queued", body = RunDetail, headers(("location" = String, description = "The address of the run"))),
        Submitter,
        (status = 400, description = "The configuration is invalid"),
    ),
)]
pub(crate) async fn submit(engine: ActorEngine, body: Bytes) -> Result<Response> {
    // Before reading the configuration: a caller without the role learns
    // nothing.
    engine.require(AccountRole::Submitter)?;
    let id = engine.queue(read(&body)?).await?;
    let location = [(header::LOCATION, format!("/api/v1/runs/{id}"))];
    let run = Json(engine.run(&id).await?);
    Ok((StatusCode::CREATED, location, run).into_response())
}

/// A run's configuration as a file for `swe-ci run submit`, without the names
/// of its keys.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/config.toml", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The configuration", body = String, content_type = "application/toml"),
        NoSuchRun,
    ),
)]
pub(crate) async fn config_toml(engine: ActorEngine, path: Path<RunPath>) -> Result<Response> {
    let media_type = [(header::CONTENT_TYPE, "application/toml")];
    Ok((media_type, engine.configuration(&path.id).await?).into_response())
}

fn read(body: &[u8]) -> Result<Submission> {
    let unreadable = |why: &dyn std::fmt::Display| {
        Problem::unreadable(format!(
            "the body is not a submission, `{{\"config\": …, \"visibility\": \"private\"}}`: {why}"
        ))
    };
    let submission: Submission = serde_json::from_slice(body).map_err(|e| unreadable(&e))?;
    let given = serde_json::from_slice(body).map_err(|e| unreadable(&e))?;
    let understood = serde_json::to_value(&submission).map_err(|e| unreadable(&e))?;
    match unknown_field(&given, &understood) {
        Some(field) => Err(unreadable(&format_args!("there is no field `{field}`"))),
        None => Ok(submission),
    }
}
