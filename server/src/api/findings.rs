//! The findings of runs, and the decisions about them.

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use swe_ci_core::finding::{Decision, FindingKind, Grade};
use swe_ci_engine::Engine;
use swe_ci_views::account::AccountRole;
use swe_ci_views::finding::RunFinding;
use utoipa::ToSchema;

use super::addresses::{FindingPath, RunPath};
use super::query::{Query, parameters};
use super::responses::{Admin, Invalid, NoSuchRun};
use super::{Answer, Result};
use crate::app::App;
use crate::extract::{ActorEngine, Body, Path};
use crate::problem::Problem;

parameters! {
    /// Which findings.
    struct FindingParameters of |query| {
        /// Only findings of this part of grading.
        #[param(value_type = Option<FindingKind>)]
        kind: Option<FindingKind> =
            query.parse("kind", "a part of grading, such as `clues`", FindingKind::from_name)?,
        /// Only findings with this consequence, which a review may have lowered.
        #[param(value_type = Option<Grade>)]
        grade: Option<Grade> =
            query.parse("grade", "`note`, `suspicious` or `tampered`", Grade::from_name)?,
    }
}

impl FindingParameters {
    fn of(&self, mut all: Vec<RunFinding>) -> Vec<RunFinding> {
        all.retain(|one| {
            self.kind.is_none_or(|kind| one.finding.kind == kind)
                && self.grade.is_none_or(|grade| one.grade() == grade)
        });
        all
    }
}

/// The findings of a run, by task, sample and iteration: what the platform
/// noticed about the way its tests came to their result.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/findings", tag = "runs",
    params(RunPath, FindingParameters),
    responses((status = 200, description = "Those that were asked for", body = Vec<RunFinding>), Invalid, NoSuchRun),
)]
pub(crate) async fn findings(
    engine: ActorEngine,
    path: Path<RunPath>,
    Query(wanted): Query<FindingParameters>,
) -> Answer<Vec<RunFinding>> {
    Ok(Json(wanted.of(engine.findings(&path.id).await?)))
}

/// The suspicious findings of all runs that wait for a decision, for
/// administrators.
#[utoipa::path(
    get, path = "/api/v1/findings", tag = "runs",
    params(FindingParameters),
    responses((status = 200, description = "Those that were asked for, by run", body = Vec<RunFinding>), Invalid, Admin),
)]
pub(crate) async fn open_findings(
    engine: ActorEngine,
    query: Result<Query<FindingParameters>>,
) -> Answer<Vec<RunFinding>> {
    engine.require(AccountRole::Admin)?;
    let Query(wanted) = query?;
    Ok(Json(wanted.of(engine.open_findings().await?)))
}

/// A finding, and the engine of a caller with the role to decide about it.
#[derive(Debug)]
pub(crate) struct ReviewedFinding {
    engine: Engine,
    path: FindingPath,
}

impl FromRequestParts<App> for ReviewedFinding {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Ok(ActorEngine(engine)) = ActorEngine::from_request_parts(parts, app).await;
        let Path(path) = Path::from_request_parts(parts, app).await?;
        engine.require(AccountRole::Admin)?;
        Ok(Self { engine, path })
    }
}

/// The decision about a finding.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Review {
    decision: Decision,
    /// 1 to 500 characters, for everybody who may see the run.
    reason: String,
}

/// Clears or confirms a suspicious finding, for administrators. A run with an
/// open or a confirmed one has no rank. Another decision replaces it; the audit
/// log keeps both.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/findings/{finding}/review", tag = "runs",
    params(FindingPath), request_body = Review,
    responses(
        (status = 200, description = "The findings of the run", body = Vec<RunFinding>),
        Admin,
        (status = 400, description = "The decision or its reason is invalid"),
        (status = 404, description = "There is no such run, or it has no such finding"),
        (status = 409, description = "The finding is not suspicious"),
    ),
)]
pub(crate) async fn review(
    reviewed: ReviewedFinding,
    body: Result<Body<Review>>,
) -> Answer<Vec<RunFinding>> {
    let Body(Review { decision, reason }) = body?;
    let ReviewedFinding { engine, path } = reviewed;
    let finding = path.finding_id()?;
    engine
        .review_finding(&path.id, &finding, decision, &reason)
        .await?;
    Ok(Json(engine.findings(&path.id).await?))
}
