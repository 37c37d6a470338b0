//! Code style of evolutions, beside the oracle's.

use axum::Json;
use swe_ci_core::style::{CodeVersion, EvolutionStyle, VersionFiles};
use swe_ci_engine::Error;

use super::Result;
use super::path::{Path, StepsPath, StylePath};
use super::problem::ProblemBody;
use super::query::{NoParameters, Query};
use crate::auth::As;

/// The code style of an evolution: base, oracle, and each scored iteration.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/style",
    tag = "results",
    params(StepsPath),
    responses(
        (status = 200, description = "What was measured", body = EvolutionStyle),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such evolution, it was not measured yet, or it could not be measured", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn style(
    As(engine): As,
    Path(StepsPath { id }): Path<StepsPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<EvolutionStyle>> {
    let none = || Error::NotFound {
        what: "code style of the evolution",
        id: id.clone(),
    };
    let found = engine.style(&id).await?;
    let style = found.and_then(std::result::Result::ok).ok_or_else(none)?;
    Ok(Json(style))
}

/// The code style of one version of an evolution's code, file by file.
///
/// With the files that differ from the base, and in how many lines.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/style/{version}",
    tag = "results",
    params(StylePath),
    responses(
        (status = 200, description = "What was found in each file", body = VersionFiles),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such evolution, or that version of it was not measured", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn files(
    As(engine): As,
    Path(path): Path<StylePath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<VersionFiles>> {
    let version: CodeVersion = path.version()?;
    Ok(Json(engine.style_files(&path.id, version).await?))
}
