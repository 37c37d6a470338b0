use axum::Json;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use swe_ci_core::account::AccountRole;
use swe_ci_core::submission::{Submission, unknown_field};
use swe_ci_core::view::RunDetail;

use super::Result;
use super::path::{Path, RunPath};
use super::problem::{Problem, ProblemBody};
use super::query::{NoParameters, Query};
use crate::auth::As;

/// Queues a run. When its configuration cannot be run, `problems` names every
/// field that is wrong, not only the first.
#[utoipa::path(
    post,
    path = "/api/v1/runs",
    tag = "runs",
    security(("token" = [])),
    request_body = Submission,
    responses(
        (status = 201, description = "The run, queued", body = RunDetail, headers(("location" = String, description = "Where it is"))),
        (status = 400, description = "The configuration cannot be run", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "It takes a token", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "It takes the role submitter", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn submit(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
    body: Bytes,
) -> Result<Response> {
    // Before its configuration is looked at: who may not learns nothing by it.
    engine.require(AccountRole::Submitter)?;
    let id = engine.queue(read(&body)?).await?;
    let location = [(header::LOCATION, format!("/api/v1/runs/{id}"))];
    let run = Json(engine.run(&id).await?);
    Ok((StatusCode::CREATED, location, run).into_response())
}

/// A run's configuration as a file for `swe-ci run submit`, without the names
/// of its keys.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}/config.toml",
    tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The configuration", body = String, content_type = "application/toml"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn config_toml(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Response> {
    let media_type = [(header::CONTENT_TYPE, "application/toml")];
    Ok((media_type, engine.configuration(&id).await?).into_response())
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
