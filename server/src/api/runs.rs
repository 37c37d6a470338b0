use axum::Json;
use axum::extract::State;
use swe_ci_core::leaderboard::Scores;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::view::{EvolutionDetail, IterationDetail, Page, RunDetail, RunSummary, StepView};
use swe_ci_engine::PageRequest;
use utoipa::IntoParams;

use super::Result;
use super::path::{EvolutionPath, IterationPath, Path, RunPath, StepsPath};
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, NoParameters, PageParameters, Query};
use crate::auth::As;
use crate::serve::App;

/// How tests and iterations count.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Counting {
    /// Weight of later iterations: above 1 they count more, below 1 less.
    #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
    gamma: Gamma,
    /// How tests are counted.
    #[param(value_type = Option<Convention>, default = "paper")]
    convention: Convention,
}

impl FromQuery for Counting {
    const NAMES: &'static [&'static str] = &["gamma", "convention"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            gamma: given.gamma()?.unwrap_or(Gamma::ONE),
            convention: given.convention()?.unwrap_or_default(),
        })
    }
}

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
    As(engine): As,
    Query(page): Query<PageRequest>,
) -> Result<Json<Page<RunSummary>>> {
    Ok(Json(engine.runs(&page).await?))
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
    As(engine): As,
    Path(RunPath { id }): Path<RunPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<RunDetail>> {
    Ok(Json(engine.run(&id).await?))
}

/// Every number of a run, down to its evolutions and iterations. Without any
/// scored evolution the means are null.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}/scores",
    tag = "runs",
    params(RunPath, Counting),
    responses(
        (status = 200, description = "The scores", body = Scores),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn scores(
    State(app): State<App>,
    Path(RunPath { id }): Path<RunPath>,
    Query(counting): Query<Counting>,
) -> Result<Json<Scores>> {
    let scores = app
        .engine
        .scores(&id, counting.gamma, counting.convention)
        .await?;
    Ok(Json(scores))
}

/// Which sample of a task.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Which {
    /// From 1.
    #[param(value_type = Option<u32>, minimum = 1, default = 1)]
    pub sample: u32,
}

impl FromQuery for Which {
    const NAMES: &'static [&'static str] = &["sample"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            sample: given.sample()?.unwrap_or(1),
        })
    }
}

/// One evolution of a run, with what every test did after each iteration.
#[utoipa::path(
    get,
    path = "/api/v1/runs/{id}/tasks/{task}",
    tag = "runs",
    params(EvolutionPath, Which),
    responses(
        (status = 200, description = "The evolution", body = EvolutionDetail),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run, or it has no such sample of the task", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn evolution(
    As(engine): As,
    Path(path): Path<EvolutionPath>,
    Query(which): Query<Which>,
) -> Result<Json<EvolutionDetail>> {
    let (run, task) = path.parts()?;
    Ok(Json(engine.evolution(&run, &task, which.sample).await?))
}

/// Every completed attempt at a step, in order, also those of an iteration that
/// was never tested: how it ended and why, and what it took of its model.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/steps",
    tag = "runs",
    params(StepsPath),
    responses(
        (status = 200, description = "The attempts", body = Vec<StepView>),
        (status = 404, description = "There is no such evolution", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn steps(
    As(engine): As,
    Path(StepsPath { id }): Path<StepsPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<StepView>>> {
    Ok(Json(engine.steps(&id).await?))
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
    As(engine): As,
    Path(IterationPath { id, n }): Path<IterationPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<IterationDetail>> {
    Ok(Json(engine.iteration(&id, n).await?))
}
