//! The change an iteration made to the code, and its logs.

use axum::http::header;
use axum::response::IntoResponse;
use swe_ci_engine::Error;
use swe_ci_views::inspection::CodeChange;

use super::Result;
use super::addresses::{IterationPath, LogPath};
use super::query::{NoParameters, Query};
use super::responses::Invalid;
use crate::actor::ActorEngine;
use crate::path::Path;

/// Plain text in every browser, so that it never renders an agent's output as a
/// page.
const TEXT: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];

/// The change to the code since the previous scored iteration, as a unified
/// diff that `patch -p1` and `git apply` read. Binary files, and files beyond
/// the comparison's limits, are only named.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/diff", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The diff; empty when nothing was changed", body = String, content_type = "text/plain"),
        Invalid,
        (status = 404, description = "There is no such iteration, or its code is not known here"),
    ),
)]
pub(crate) async fn diff(
    ActorEngine(engine): ActorEngine,
    Path(IterationPath { id, n }): Path<IterationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<impl IntoResponse> {
    match engine.code_change(&id, n).await? {
        CodeChange::Known(diff) => Ok((TEXT, diff.to_text())),
        CodeChange::NotRecorded | CodeChange::Unreadable(_) => Err(Error::NotFound {
            what: "code of the iteration",
            id: n.to_string(),
        })?,
    }
}

/// The complete output of one attempt at a step of an iteration.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/logs/{role}/{attempt}", tag = "runs",
    params(LogPath),
    responses(
        (status = 200, description = "The log", body = String, content_type = "text/plain"),
        Invalid,
        (status = 404, description = "There is no such attempt, or it printed nothing"),
    ),
)]
pub(crate) async fn log(
    ActorEngine(engine): ActorEngine,
    Path(path): Path<LogPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<impl IntoResponse> {
    let role = path.role()?;
    let LogPath { id, n, attempt, .. } = path;
    let log = engine.step_log(&id, n, role, attempt).await?;
    Ok((TEXT, log))
}
