//! How the agents of a run worked: sums over all its steps, the places behind
//! them, and the search in its transcripts.

use axum::Json;
use swe_ci_views::trajectories::{Place, Selection, Subject, Trajectories, TranscriptSearch};

use super::Answer;
use super::addresses::RunPath;
use super::query::{Query, parameters, words};
use super::responses::{Invalid, NoSuchRun};
use crate::extract::{ActorEngine, Path};
use crate::problem::Problem;

/// How the agents of a run worked, from what was recorded: outcomes, tokens,
/// money and time, tool calls and commands, changed files, lost tests, signs of
/// trouble. Nothing of it is part of a score. The first request makes the server
/// read the recordings; until `read` equals `recorded`, ask again.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/trajectories", tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The tables", body = Trajectories), NoSuchRun),
)]
pub(crate) async fn trajectories(engine: ActorEngine, path: Path<RunPath>) -> Answer<Trajectories> {
    let (sums, _) = engine.trajectories(&path.id, Vec::new()).await?;
    Ok(Json(sums))
}

words! {
    /// Which places of a row.
    Only = ["all", "marked"], Some("all");
}

parameters! {
    /// A row of a table.
    struct PlaceParameters of |query| {
        /// The table.
        #[param(value_type = Subject)]
        subject: Subject = query
            .parse("subject", &subjects(), Subject::from_name)?
            .ok_or_else(|| Problem::about_parameter("subject", format!("`subject` is missing; it must be {}", subjects())))?,
        /// The `name` of its row.
        #[param(value_type = String)]
        name: String = query.value("name").unwrap_or_default().to_owned(),
        /// `marked`: only places with failed calls, or with an earlier content.
        #[param(inline, value_type = Option<Only>, example = "marked")]
        only: bool = query.word("only", [("all", false), ("marked", true)])?,
    }
}

fn subjects() -> String {
    let names = Subject::ALL.map(|subject| format!("`{}`", subject.name()));
    format!("one of {}", names.join(", "))
}

/// The steps or iterations that a row of a run's trajectories sums, those with the
/// largest part of it first.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/trajectories/places", tag = "runs",
    params(RunPath, PlaceParameters),
    responses(
        (status = 200, description = "The places; empty for a row that does not exist", body = Vec<Place>),
        Invalid, NoSuchRun,
    ),
)]
pub(crate) async fn places(
    engine: ActorEngine,
    path: Path<RunPath>,
    Query(PlaceParameters {
        subject,
        name,
        only,
    }): Query<PlaceParameters>,
) -> Answer<Vec<Place>> {
    let selection = Selection {
        subject,
        name,
        marked: only,
    };
    let (_, places) = engine.trajectories(&path.id, vec![selection]).await?;
    Ok(Json(places.into_iter().flatten().collect()))
}

parameters! {
    /// A search text, and where the search goes on.
    struct SearchParameters of |query| {
        /// A text of 1 to 200 bytes; case does not matter.
        #[param(value_type = String)]
        q: String = query.text("q", "at most 200 bytes of text")?.unwrap_or_default(),
        /// The `next` of the previous part.
        #[param(value_type = Option<u32>)]
        from: u32 = query
            .parse("from", "the `next` of the previous part", |text| text.parse().ok())?
            .unwrap_or_default(),
    }
}

/// Searches all transcripts of a run for a text. Each answer is one part of the
/// search: it ends after some seconds, or 50 steps with hits.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/transcripts", tag = "runs",
    params(RunPath, SearchParameters),
    responses(
        (status = 200, description = "The steps with the text", body = TranscriptSearch),
        Invalid, NoSuchRun,
    ),
)]
pub(crate) async fn search(
    engine: ActorEngine,
    path: Path<RunPath>,
    Query(SearchParameters { q, from }): Query<SearchParameters>,
) -> Answer<TranscriptSearch> {
    Ok(Json(engine.search_transcripts(&path.id, &q, from).await?))
}
