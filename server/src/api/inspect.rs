//! What stands behind an iteration: the change to the code, and the logs.

use axum::http::header;
use axum::response::IntoResponse;
use swe_ci_core::inspection::CodeChange;
use swe_ci_engine::Error;

use super::Result;
use super::path::{IterationPath, LogPath, Path};
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// Plain text in every browser: what agents wrote is never taken for a page.
const TEXT: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];

/// What an iteration changed in the code since the last scored one before it,
/// as a unified diff that `patch -p1` and `git apply` read. Binary files, and
/// files beyond what is compared, are only named.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}/diff",
    tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The diff; empty when nothing was changed", body = String, content_type = "text/plain"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such iteration, or its code is not known here", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn diff(
    As(engine): As,
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

/// All that one attempt at a step of an iteration printed.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}/logs/{role}/{attempt}",
    tag = "runs",
    params(LogPath),
    responses(
        (status = 200, description = "The log", body = String, content_type = "text/plain"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such attempt, or it printed nothing", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn log(
    As(engine): As,
    Path(path): Path<LogPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<impl IntoResponse> {
    let role = path.role()?;
    let LogPath { id, n, attempt, .. } = path;
    let log = engine.step_log(&id, n, role, attempt).await?;
    Ok((TEXT, log))
}
