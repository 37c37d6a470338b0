//! The splits, their files for download, and disk use.

use axum::Json;
use axum::response::Response;
use swe_ci_views::dataset::SplitDetail;
use swe_ci_views::disk::DiskUse;
use swe_ci_views::view::SplitSummary;

use super::Result;
use super::addresses::SplitPath;
use super::download::{CSV, download};
use super::responses::{Admin, Invalid, NoSuchSplit};
use crate::extract::{ActorEngine, Path};

/// The splits.
#[utoipa::path(
    get, path = "/api/v1/splits", tag = "tasks",
    responses((status = 200, description = "All splits", body = Vec<SplitSummary>)),
)]
pub(crate) async fn splits(engine: ActorEngine) -> Result<Json<Vec<SplitSummary>>> {
    Ok(Json(engine.splits().await?))
}

/// A split as a whole: its origin and the properties of its tasks.
#[utoipa::path(
    get, path = "/api/v1/splits/{split}", tag = "tasks",
    params(SplitPath),
    responses((status = 200, description = "The split", body = SplitDetail), Invalid, NoSuchSplit),
)]
pub(crate) async fn split(engine: ActorEngine, path: Path<SplitPath>) -> Result<Json<SplitDetail>> {
    Ok(Json(engine.split(path.name()?).await?))
}

/// The split's metadata file, in the official layout.
#[utoipa::path(
    get, path = "/api/v1/splits/{split}/metadata.csv", tag = "tasks",
    params(SplitPath),
    responses(
        (status = 200, description = "One line for each task", content_type = "text/csv"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn metadata(engine: ActorEngine, path: Path<SplitPath>) -> Result<Response> {
    let name = path.name()?;
    let table = engine.split_metadata(name).await?;
    Ok(download(&format!("{name}.csv"), CSV, table))
}

/// The split's datasheet: its purpose, its sources and how it was made.
#[utoipa::path(
    get, path = "/api/v1/splits/{split}/datasheet.md", tag = "tasks",
    params(SplitPath),
    responses(
        (status = 200, description = "The datasheet", content_type = "text/markdown"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn datasheet(engine: ActorEngine, path: Path<SplitPath>) -> Result<Response> {
    let name = path.name()?;
    let sheet = engine.split(name).await?.datasheet();
    let file = format!("{name}-datasheet.md");
    Ok(download(&file, "text/markdown; charset=utf-8", sheet))
}

/// Disk use in bytes; for administrators.
#[utoipa::path(
    get, path = "/api/v1/disk", tag = "tasks",
    responses((status = 200, description = "Disk use by content", body = DiskUse), Admin),
)]
pub(crate) async fn disk(engine: ActorEngine) -> Result<Json<DiskUse>> {
    Ok(Json(engine.disk_use().await?))
}
