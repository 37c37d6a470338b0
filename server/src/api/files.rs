//! The files of an iteration, to be kept by whoever asks.

use axum::body::Body;
use axum::response::Response;

use super::Result;
use super::download::download;
use super::path::{IterationPath, Path};
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// The code as it was tested in an iteration.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}/code.tar.gz",
    tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The archive", body = String, content_type = "application/gzip"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such iteration, or its code is not known here", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn code(
    As(engine): As,
    Path(IterationPath { id, n }): Path<IterationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Response> {
    let pieces = engine.code_archive(&id, n).await?;
    let name = format!("{id}-{n}.tar.gz");
    Ok(download(
        &name,
        "application/gzip",
        Body::from_stream(pieces),
    ))
}

/// What pytest reported of an iteration, as `pytest-json-report` writes it.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}/report.json",
    tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The report", body = serde_json::Value, content_type = "application/json"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such iteration, or no report was kept", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn report(
    As(engine): As,
    Path(IterationPath { id, n }): Path<IterationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Response> {
    let pieces = engine.report(&id, n).await?;
    let name = format!("{id}-{n}-report.json");
    Ok(download(
        &name,
        "application/json",
        Body::from_stream(pieces),
    ))
}

/// What the architect asked for in an iteration.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}/requirement.xml",
    tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The requirement document", body = String, content_type = "application/xml"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such iteration, or no document was kept", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn document(
    As(engine): As,
    Path(IterationPath { id, n }): Path<IterationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Response> {
    let pieces = engine.document(&id, n).await?;
    let name = format!("{id}-{n}-requirement.xml");
    Ok(download(
        &name,
        "application/xml",
        Body::from_stream(pieces),
    ))
}
