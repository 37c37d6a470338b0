//! Runs, their scores, evolutions, iterations and steps.

use axum::Json;
use axum::extract::State;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::leaderboard::Scores;
use swe_ci_views::view::{EvolutionDetail, IterationDetail, Page, RunDetail, RunSummary, StepView};
use utoipa::IntoParams;

use super::Result;
use super::addresses::{EvolutionPath, IterationPath, RunPath};
use super::query::{PageParameters, Query, QueryParameters, QueryString};
use super::responses::{Invalid, NoSuchRun};
use crate::app::App;
use crate::extract::{ActorEngine, Path};

/// How tests and iterations count.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct CountingParameters {
    /// Weight of later iterations: above 1 they count more, below 1 less.
    #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
    gamma: Gamma,
    /// How tests are counted.
    #[param(value_type = Option<Convention>, default = "paper")]
    convention: Convention,
}

impl QueryParameters for CountingParameters {
    fn read(query: &QueryString) -> Result<Self> {
        Ok(Self {
            gamma: query.gamma()?,
            convention: query.convention()?,
        })
    }
}

/// The runs, newest first.
#[utoipa::path(
    get, path = "/api/v1/runs", tag = "runs",
    params(PageParameters),
    responses((status = 200, description = "A page of runs", body = Page<RunSummary>), Invalid),
)]
pub(crate) async fn runs(
    engine: ActorEngine,
    Query(page): Query<PageParameters>,
) -> Result<Json<Page<RunSummary>>> {
    Ok(Json(engine.runs(&page.into()).await?))
}

/// A run with its evolutions.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}", tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The run", body = RunDetail), NoSuchRun),
)]
pub(crate) async fn run(engine: ActorEngine, path: Path<RunPath>) -> Result<Json<RunDetail>> {
    Ok(Json(engine.run(&path.id).await?))
}

/// Every number of a run, down to its evolutions and iterations. The means are
/// null without any scored evolution.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/scores", tag = "runs",
    params(RunPath, CountingParameters),
    responses((status = 200, description = "The scores", body = Scores), Invalid, NoSuchRun),
)]
pub(crate) async fn scores(
    State(app): State<App>,
    path: Path<RunPath>,
    Query(counting): Query<CountingParameters>,
) -> Result<Json<Scores>> {
    let CountingParameters { gamma, convention } = counting;
    Ok(Json(app.engine.scores(&path.id, gamma, convention).await?))
}

/// A sample of a task.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SampleParameter {
    /// The sample, from 1.
    #[param(value_type = Option<u32>, minimum = 1, default = 1)]
    pub sample: u32,
}

impl QueryParameters for SampleParameter {
    fn read(query: &QueryString) -> Result<Self> {
        let sample = query.count("sample")?.unwrap_or(1);
        Ok(Self { sample })
    }
}

/// One evolution of a run, with the outcome of every test after each iteration.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/tasks/{task}", tag = "runs",
    params(EvolutionPath, SampleParameter),
    responses(
        (status = 200, description = "The evolution", body = EvolutionDetail),
        Invalid,
        (status = 404, description = "There is no such run, or it has no such sample of the task"),
    ),
)]
pub(crate) async fn evolution(
    engine: ActorEngine,
    path: Path<EvolutionPath>,
    Query(SampleParameter { sample }): Query<SampleParameter>,
) -> Result<Json<EvolutionDetail>> {
    let task = path.task_id()?;
    Ok(Json(engine.evolution(&path.id, &task, sample).await?))
}

/// Every completed attempt at a step, in order, including those of an iteration
/// that was never tested: its outcome, the reason, and its model usage.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/steps", tag = "runs",
    params(("id" = String, Path, description = "The evolution's id.")),
    responses(
        (status = 200, description = "The attempts", body = Vec<StepView>),
        (status = 404, description = "There is no such evolution"),
    ),
)]
pub(crate) async fn steps(
    engine: ActorEngine,
    Path(id): Path<String>,
) -> Result<Json<Vec<StepView>>> {
    Ok(Json(engine.steps(&id).await?))
}

/// One iteration of an evolution: its requirement, its work, and the tests
/// gained and lost.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The iteration", body = IterationDetail),
        Invalid,
        (status = 404, description = "There is no such evolution, or it has not reached this iteration"),
    ),
)]
pub(crate) async fn iteration(
    engine: ActorEngine,
    path: Path<IterationPath>,
) -> Result<Json<IterationDetail>> {
    Ok(Json(engine.iteration(&path.id, path.n).await?))
}
