//! What a result was made of, on one sheet.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use swe_ci_core::card::Card;
use utoipa::IntoParams;

use super::Result;
use super::path::{Path, RunPath};
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, Query};
use crate::auth::As;

/// How it is written.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Written {
    /// `json`, or `text`: a fact a line, to paste into a paper.
    #[param(value_type = Option<String>, default = "json", example = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    #[default]
    Json,
    Text,
}

impl Format {
    pub(super) fn of_text(text: &str) -> Option<Self> {
        match text {
            "json" => Some(Self::Json),
            "text" => Some(Self::Text),
            _ => None,
        }
    }
}

impl FromQuery for Written {
    const NAMES: &'static [&'static str] = &["format"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            format: given.card_format()?.unwrap_or_default(),
        })
    }
}

/// The reproducibility card of a run: models, harnesses, prompts, tasks,
/// images, limits, versions, seeds and dates. It holds no key, nor its name.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}/card",
    tag = "runs",
    params(RunPath, Written),
    responses(
        (status = 200, description = "The card", content(
            (Card = "application/json"),
            (String = "text/plain"),
        )),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn card(
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(Written { format }): Query<Written>,
) -> Result<Response> {
    let card = engine.card(&id).await?;
    Ok(match format {
        Format::Json => Json(card).into_response(),
        Format::Text => {
            let head = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            (head, card.to_text()).into_response()
        }
    })
}
