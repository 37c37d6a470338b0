//! The reproducibility card of a run.

use axum::Json;
use axum::response::{IntoResponse, Response};
use swe_ci_views::card::Card;
use utoipa::IntoParams;

use super::Result;
use super::addresses::RunPath;
use super::query::{Query, QueryParameters, QueryString};
use super::responses::{Invalid, NoSuchRun};
use crate::extract::{ActorEngine, Path};

/// The format of the card.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CardParameters {
    /// `json`, or `text`: one fact per line, to paste into a paper.
    #[param(value_type = Option<String>, default = "json", example = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Json,
    Text,
}

impl QueryParameters for CardParameters {
    fn read(query: &QueryString) -> Result<Self> {
        let format = query.word("format", [("json", Format::Json), ("text", Format::Text)])?;
        Ok(Self { format })
    }
}

/// The reproducibility card of a run: models, harnesses, prompts, tasks,
/// images, limits, versions, seeds and dates. It contains neither a key nor a
/// key's name.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/card", tag = "runs",
    params(RunPath, CardParameters),
    responses(
        (status = 200, description = "The card", content(
            (Card = "application/json"),
            (String = "text/plain"),
        )),
        Invalid, NoSuchRun,
    ),
)]
pub(crate) async fn card(
    engine: ActorEngine,
    path: Path<RunPath>,
    Query(CardParameters { format }): Query<CardParameters>,
) -> Result<Response> {
    let card = engine.card(&path.id).await?;
    Ok(match format {
        Format::Json => Json(card).into_response(),
        Format::Text => card.to_text().into_response(),
    })
}
