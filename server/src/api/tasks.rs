use axum::Json;
use swe_ci_core::leaderboard::TaskResult;
use swe_ci_core::view::{Page, TaskDetail, TaskSummary};
use swe_ci_engine::{PageRequest, TasksWanted};
use utoipa::IntoParams;

use super::Result;
use super::path::{Path, TaskPath};
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, NoParameters, PageParameters, Query};
use crate::auth::As;

/// Which tasks, and in which order.
#[derive(Debug)]
pub(crate) struct Parameters {
    wanted: TasksWanted,
    page: PageRequest,
}

/// What narrows and orders a list of tasks.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes the parameters that `Given::task_filter` reads"
)]
pub(crate) struct TaskParameters {
    /// Only those of this split; all when absent.
    #[param(example = "demo")]
    split: Option<String>,
    /// Words, all of which are in the task's name or its repository's.
    q: Option<String>,
    /// Of this repository.
    repo: Option<String>,
    /// With this licence, an SPDX name.
    licence: Option<String>,
    /// `some`: with findings of their preparation; `none`: without.
    findings: Option<String>,
    /// `ready` or `unusable`.
    state: Option<String>,
    /// Tests of the gap.
    min_gap: Option<f64>,
    max_gap: Option<f64>,
    /// Tests the target passes.
    min_tests: Option<f64>,
    max_tests: Option<f64>,
    /// Commits between base and target.
    min_commits: Option<f64>,
    max_commits: Option<f64>,
    /// Days between base and target.
    min_days: Option<f64>,
    max_days: Option<f64>,
    /// Lines added and deleted between base and target.
    min_lines: Option<f64>,
    max_lines: Option<f64>,
    /// Seconds the suite takes.
    min_suite: Option<f64>,
    max_suite: Option<f64>,
    /// `gap`, `tests`, `commits`, `days`, `lines` or `suite`, after a `-` from
    /// the largest down; as the split lists them when absent.
    sort: Option<String>,
}

impl FromQuery for Parameters {
    #[rustfmt::skip]
    const NAMES: &'static [&'static str] = &[
        "split", "q", "repo", "licence", "findings", "state",
        "min_gap", "max_gap", "min_tests", "max_tests", "min_commits", "max_commits",
        "min_days", "max_days", "min_lines", "max_lines", "min_suite", "max_suite",
        "sort", "limit", "after",
    ];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            wanted: TasksWanted {
                split: given.split()?,
                filter: given.task_filter()?,
                order: given.list_order()?,
            },
            page: given.page()?,
        })
    }
}

/// Tasks, of one split or all.
#[utoipa::path(
    get,
    path = "/api/v1/tasks",
    tag = "tasks",
    params(TaskParameters, PageParameters),
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
    let Parameters { wanted, page } = wanted;
    Ok(Json(engine.tasks(&wanted, &page).await?.page))
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
