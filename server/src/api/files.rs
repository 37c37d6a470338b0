//! The files of an iteration for download, its change to the code, and its
//! logs; the style of the code.

use axum::Json;
use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use swe_ci_core::audit::EvolutionAudit;
use swe_ci_engine::{Error, Pieces};
use swe_ci_views::inspection::CodeChange;
use swe_ci_views::style::{EvolutionStyle, VersionFiles};

use super::addresses::{IterationPath, LogPath, StylePath};
use super::responses::{Invalid, NoCode};
use super::{Answer, Result, download};
use crate::extract::{ActorEngine, Path};

/// Plain text in every browser, so that it never renders an agent's output as a
/// page.
const TEXT: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];

/// A download that is named after its iteration.
fn file(path: &IterationPath, ending: &str, media_type: &'static str, pieces: Pieces) -> Response {
    let IterationPath { id, n } = path;
    let name = format!("{id}-{n}{ending}");
    download(&name, media_type, Body::from_stream(pieces))
}

/// The code that an iteration's tests ran on.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/code.tar.gz", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The archive", body = String, content_type = "application/gzip"),
        Invalid, NoCode,
    ),
)]
pub(crate) async fn code(engine: ActorEngine, path: Path<IterationPath>) -> Result<Response> {
    let pieces = engine.code_archive(&path.id, path.n).await?;
    Ok(file(&path, ".tar.gz", "application/gzip", pieces))
}

/// The pytest report of an iteration, as `pytest-json-report` writes it.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/report.json", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The report", body = serde_json::Value, content_type = "application/json"),
        Invalid,
        (status = 404, description = "There is no such iteration, or it has no report"),
    ),
)]
pub(crate) async fn report(engine: ActorEngine, path: Path<IterationPath>) -> Result<Response> {
    let pieces = engine.report(&path.id, path.n).await?;
    Ok(file(&path, "-report.json", "application/json", pieces))
}

/// The architect's requirement document of an iteration.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/requirement.xml", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The requirement document", body = String, content_type = "application/xml"),
        Invalid,
        (status = 404, description = "There is no such iteration, or it has no document"),
    ),
)]
pub(crate) async fn document(engine: ActorEngine, path: Path<IterationPath>) -> Result<Response> {
    let pieces = engine.document(&path.id, path.n).await?;
    Ok(file(&path, "-requirement.xml", "application/xml", pieces))
}

/// The change to the code since the previous scored iteration, as a unified
/// diff that `patch -p1` and `git apply` read. Binary files, and files beyond
/// the comparison's limits, are only named.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/diff", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The diff; empty when nothing was changed", body = String, content_type = "text/plain"),
        Invalid, NoCode,
    ),
)]
pub(crate) async fn diff(
    engine: ActorEngine,
    path: Path<IterationPath>,
) -> Result<impl IntoResponse> {
    match engine.code_change(&path.id, path.n).await? {
        CodeChange::Known(diff) => Ok((TEXT, diff.to_text())),
        CodeChange::NotRecorded | CodeChange::Unreadable(_) => {
            Err(Error::not_found("code of the iteration", path.n))?
        }
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
pub(crate) async fn log(engine: ActorEngine, path: Path<LogPath>) -> Result<impl IntoResponse> {
    let role = path.role()?;
    let log = engine.log_file(&path.id, path.n, role, path.attempt);
    Ok((TEXT, Body::from_stream(log.await?)))
}

/// The code style of an evolution: base, oracle, and each scored iteration.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/style", tag = "results",
    params(("id" = String, Path, description = "The evolution's id.")),
    responses(
        (status = 200, description = "The measurements", body = EvolutionStyle),
        Invalid,
        (status = 404, description = "There is no such evolution, or it is not measured yet, or it could not be measured"),
    ),
)]
pub(crate) async fn style(engine: ActorEngine, Path(id): Path<String>) -> Answer<EvolutionStyle> {
    let found = engine.style(&id).await?.and_then(Result::ok);
    let style = found.ok_or_else(|| Error::not_found("code style of the evolution", &id))?;
    Ok(Json(style))
}

/// The audit of an evolution: each test that its code passes together with a
/// contradiction, and both texts.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/audit", tag = "results",
    params(("id" = String, Path, description = "The evolution's id.")),
    responses(
        (status = 200, description = "The audit", body = EvolutionAudit),
        Invalid,
        (status = 404, description = "There is no such evolution, or it is not audited yet"),
    ),
)]
pub(crate) async fn evolution_audit(
    engine: ActorEngine,
    Path(id): Path<String>,
) -> Answer<EvolutionAudit> {
    let found = engine.evolution_audit(&id).await?;
    Ok(Json(found.ok_or_else(|| {
        Error::not_found("audit of the evolution", &id)
    })?))
}

/// The code style of one version of an evolution's code, file by file.
///
/// The response includes the files that differ from the base, and by how many
/// lines.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/style/{version}", tag = "results",
    params(StylePath),
    responses(
        (status = 200, description = "The findings in each file", body = VersionFiles),
        Invalid,
        (status = 404, description = "There is no such evolution, or that version of it was not measured"),
    ),
)]
pub(crate) async fn files(engine: ActorEngine, path: Path<StylePath>) -> Answer<VersionFiles> {
    Ok(Json(engine.style_files(&path.id, path.version()?).await?))
}
