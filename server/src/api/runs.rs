use axum::Json;
use axum::extract::State;
use swe_ci_core::view::{IterationDetail, Page, RunDetail, RunSummary};
use swe_ci_engine::PageRequest;

use super::Result;
use super::path::{IterationPath, Path, RunPath};
use super::problem::ProblemBody;
use super::query::{NoParameters, PageParameters, Query};
use crate::serve::App;

/// The runs there are, newest first.
#[utoipa::path(
    get,
    path = "/api/v1/runs",
    tag = "runs",
    params(PageParameters),
    responses(
        (status = 200, description = "A page of runs", body = Page<RunSummary>),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn runs(
    State(app): State<App>,
    Query(page): Query<PageRequest>,
) -> Result<Json<Page<RunSummary>>> {
    Ok(Json(app.engine.runs(&page).await?))
}

/// A run with its evolutions.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}",
    tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run", body = RunDetail),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn run(
    State(app): State<App>,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    Ok(Json(app.engine.run(&id).await?))
}

/// One iteration of an evolution: what was asked, done, gained and lost.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}",
    tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The iteration", body = IterationDetail),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such evolution, or it has not come so far", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn iteration(
    State(app): State<App>,
    Path(IterationPath { id, n }): Path<IterationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<IterationDetail>> {
    Ok(Json(app.engine.iteration(&id, n).await?))
}
