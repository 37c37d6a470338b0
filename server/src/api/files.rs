//! The files of an iteration, for download.

use axum::body::Body;
use axum::response::Response;

use super::Result;
use super::addresses::IterationPath;
use super::download::download;
use super::query::{NoParameters, Query};
use super::responses::Invalid;
use crate::actor::ActorEngine;
use crate::path::Path;

/// The code that an iteration's tests ran on.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/code.tar.gz", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The archive", body = String, content_type = "application/gzip"),
        Invalid,
        (status = 404, description = "There is no such iteration, or its code is not known here"),
    ),
)]
pub(crate) async fn code(
    ActorEngine(engine): ActorEngine,
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
pub(crate) async fn report(
    ActorEngine(engine): ActorEngine,
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
pub(crate) async fn document(
    ActorEngine(engine): ActorEngine,
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
