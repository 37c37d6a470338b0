use axum::Json;
use swe_ci_core::leaderboard::TaskResult;
use swe_ci_core::view::{Page, SplitSummary, TaskDetail, TaskSummary};
use swe_ci_engine::PageRequest;
use utoipa::IntoParams;

use super::Result;
use super::path::{Path, TaskPath};
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, NoParameters, PageParameters, Query};
use crate::auth::As;

/// Which tasks.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Parameters {
    /// Only those of this split; all when absent.
    #[param(example = "demo")]
    split: Option<String>,
    #[param(ignore)]
    page: PageRequest,
}

impl FromQuery for Parameters {
    const NAMES: &'static [&'static str] = &["split", "limit", "after"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            split: given.split()?,
            page: given.page()?,
        })
    }
}

/// The splits there are.
#[utoipa::path(
    get,
    path = "/api/v1/splits",
    tag = "tasks",
    responses((status = 200, description = "All splits", body = Vec<SplitSummary>))
)]
pub(crate) async fn splits(
    As(engine): As,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<SplitSummary>>> {
    Ok(Json(engine.splits().await?))
}

/// Tasks, of one split or all.
#[utoipa::path(
    get,
    path = "/api/v1/tasks",
    tag = "tasks",
    params(Parameters, PageParameters),
    responses(
        (status = 200, description = "A page of tasks", body = Page<TaskSummary>),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn tasks(
    As(engine): As,
    Query(wanted): Query<Parameters>,
) -> Result<Json<Page<TaskSummary>>> {
    let split = wanted.split.as_deref();
    Ok(Json(engine.tasks(split, &wanted.page).await?))
}

/// A task with its history and tests.
#[utoipa::path(
    get,
    path = "/api/v1/tasks/{id}",
    tag = "tasks",
    params(TaskPath),
    responses(
        (status = 200, description = "The task", body = TaskDetail),
        (status = 400, description = "It cannot be the id of a task", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such task", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn task(
    As(engine): As,
    Path(path): Path<TaskPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<TaskDetail>> {
    Ok(Json(engine.task(&path.task_id()?).await?))
}

/// How every run that is scored on a task fared there, at γ = 1.
#[utoipa::path(
    get,
    path = "/api/v1/tasks/{id}/results",
    tag = "results",
    params(TaskPath),
    responses(
        (status = 200, description = "One for each run, over all splits the task is in", body = Vec<TaskResult>),
        (status = 400, description = "It cannot be the id of a task", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such task", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn results(
    As(engine): As,
    Path(path): Path<TaskPath>,
    Query(NoParameters): Query<NoParameters>,
) -> Result<Json<Vec<TaskResult>>> {
    Ok(Json(engine.results_of_task(&path.task_id()?).await?))
}
