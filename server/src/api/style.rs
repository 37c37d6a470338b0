//! Code style of evolutions, compared with the oracle's.

use axum::Json;
use swe_ci_engine::Error;
use swe_ci_views::style::{CodeVersion, EvolutionStyle, VersionFiles};

use super::Result;
use super::addresses::StylePath;
use super::responses::Invalid;
use crate::extract::{ActorEngine, Path};

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
pub(crate) async fn style(
    engine: ActorEngine,
    Path(id): Path<String>,
) -> Result<Json<EvolutionStyle>> {
    let found = engine.style(&id).await?.and_then(Result::ok);
    let style = found.ok_or_else(|| Error::not_found("code style of the evolution", &id))?;
    Ok(Json(style))
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
pub(crate) async fn files(
    engine: ActorEngine,
    path: Path<StylePath>,
) -> Result<Json<VersionFiles>> {
    let version: CodeVersion = path.version()?;
    Ok(Json(engine.style_files(&path.id, version).await?))
}
