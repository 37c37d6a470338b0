//! Splits: what there is, each as a whole, and what can be taken along.

use axum::Json;
use axum::response::Response;
use swe_ci_core::dataset::SplitDetail;
use swe_ci_core::view::SplitSummary;

use super::Result;
use super::download::download;
use super::path::{Path, SplitPath};
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// The splits there are.
#[utoipa::path(
    get,
    path = "/api/v1/splits",
    tag = "tasks",
    responses((status = 200, description = "All splits", body = Vec<SplitSummary>))
)]
pub(crate) async fn splits(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<SplitSummary>>> {
    Ok(Json(engine.splits().await?))
}

/// A split as a whole: where it came from, what its tasks are like.
#[utoipa::path(
    get,
    path = "/api/v1/splits/{split}",
    tag = "tasks",
    params(SplitPath),
    responses(
        (status = 200, description = "The split", body = SplitDetail),
        (status = 400, description = "It cannot be the name of a split", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn split(
    As(engine): As,
    Path(path): Path<SplitPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<SplitDetail>> {
    Ok(Json(engine.split(path.name()?).await?))
}

/// The split's metadata file, as the official layout has it.
#[utoipa::path(
    get,
    path = "/api/v1/splits/{split}/metadata.csv",
    tag = "tasks",
    params(SplitPath),
    responses(
        (status = 200, description = "One line for each task", content_type = "text/csv"),
        (status = 400, description = "It cannot be the name of a split", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn metadata(
    As(engine): As,
    Path(path): Path<SplitPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Response> {
    let name = path.name()?;
    let table = engine.split_metadata(name).await?;
    Ok(download(
        &format!("{name}.csv"),
        "text/csv; charset=utf-8",
        table,
    ))
}

/// The split's datasheet: what it was made for, of what, and how.
#[utoipa::path(
    get,
    path = "/api/v1/splits/{split}/datasheet.md",
    tag = "tasks",
    params(SplitPath),
    responses(
        (status = 200, description = "The datasheet", content_type = "text/markdown"),
        (status = 400, description = "It cannot be the name of a split", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn datasheet(
    As(engine): As,
    Path(path): Path<SplitPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Response> {
    let name = path.name()?;
    let sheet = engine.split(name).await?.datasheet();
    Ok(download(
        &format!("{name}-datasheet.md"),
        "text/markdown; charset=utf-8",
        sheet,
    ))
}
