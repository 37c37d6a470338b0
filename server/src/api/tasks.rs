//! Tasks, filtered and ordered, and their results.

use axum::Json;
use swe_ci_engine::TasksWanted;
use swe_ci_views::browse::{ListOrder, Size, TaskFilter};
use swe_ci_views::leaderboard::TaskResult;
use swe_ci_views::view::{Page, TaskDetail, TaskSummary};
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::{IntoParams, PartialSchema};

use super::Result;
use super::addresses::TaskPath;
use super::query::{PageParameters, Query, QueryParameters, QueryString};
use super::responses::{Invalid, NoSuchSplit, NoSuchTask};
use crate::extract::{ActorEngine, Path};
use crate::problem::Problem;

/// Which tasks, in which order.
#[derive(Debug)]
pub(crate) struct TaskParameters(TasksWanted);

impl IntoParams for TaskParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let words = "Words that all occur in the name of the task or of its repository.";
        let findings = "`some`: tasks whose preparation had findings; `none`: the others.";
        let texts = [
            ("q", words),
            ("repo", "Only tasks of this repository."),
            ("licence", "Only tasks with this licence, an SPDX name."),
            ("findings", findings),
            ("state", "`ready` or `unusable`."),
        ];
        let texts = texts.map(|(name, text)| parameter::<String>(name, Some(text)));
        let sizes = Size::ALL.into_iter().flat_map(|size| {
            let [min, max] = ["min", "max"].map(|end| format!("{end}_{}", size.name()));
            let text = match size {
                Size::Gap => "Tests of the gap.",
                Size::Tests => "Tests the target passes.",
                Size::Commits => "Commits between base and target.",
                Size::Days => "Days between base and target.",
                Size::Lines => "Lines added and deleted between base and target.",
                Size::Suite => "Seconds the suite takes.",
            };
            [
                parameter::<f64>(&min, Some(text)),
                parameter::<f64>(&max, None),
            ]
        });
        let sort = "`gap`, `tests`, `commits`, `days`, `lines` or `suite`, after a `-` from \
                    the largest down; in the order of the split when absent.";
        let split = "Only tasks of this split; all when absent.";
        let split = parameter::<String>("split", Some(split)).example(Some("demo".into()));
        let sort = parameter::<String>("sort", Some(sort));
        let parameters = std::iter::once(split).chain(texts).chain(sizes);
        let parameters = parameters.chain([sort]);
        parameters.map(ParameterBuilder::build).collect()
    }
}

/// An optional parameter.
fn parameter<T: PartialSchema>(name: &str, description: Option<&str>) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(description)
        .schema(Some(T::schema()))
}

impl QueryParameters for TaskParameters {
    fn read(query: &QueryString) -> Result<Self> {
        let split = query.split()?;
        let (filter, invalid) = TaskFilter::read(|name| query.value(name).map(str::to_owned));
        if let Some(wrong) = invalid.first() {
            return Err(Problem::parameter(&wrong.name, &wrong.value, wrong.must));
        }
        let must =
            "gap, tests, commits, days, lines or suite, with a leading `-` for descending order";
        let order = query.parse("sort", must, ListOrder::from_name)?;
        let order = order.unwrap_or_default();
        Ok(Self(TasksWanted {
            split,
            filter,
            order,
        }))
    }
}

/// Tasks, of one split or all.
#[utoipa::path(
    get, path = "/api/v1/tasks", tag = "tasks",
    params(TaskParameters, PageParameters),
    responses(
        (status = 200, description = "A page of tasks", body = Page<TaskSummary>),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn tasks(
    engine: ActorEngine,
    Query((TaskParameters(wanted), page)): Query<(TaskParameters, PageParameters)>,
) -> Result<Json<Page<TaskSummary>>> {
    Ok(Json(engine.tasks(&wanted, &page.into()).await?.page))
}

/// A task with its history and tests.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}", tag = "tasks",
    params(TaskPath),
    responses((status = 200, description = "The task", body = TaskDetail), Invalid, NoSuchTask),
)]
pub(crate) async fn task(engine: ActorEngine, path: Path<TaskPath>) -> Result<Json<TaskDetail>> {
    Ok(Json(engine.task(&path.task_id()?).await?))
}

/// The result of every run that is scored on a task, at γ = 1.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}/results", tag = "results",
    params(TaskPath),
    responses(
        (status = 200, description = "A result for each run, over all splits the task is in", body = Vec<TaskResult>),
        Invalid, NoSuchTask,
    ),
)]
pub(crate) async fn results(
    engine: ActorEngine,
    path: Path<TaskPath>,
) -> Result<Json<Vec<TaskResult>>> {
    Ok(Json(engine.results_of_task(&path.task_id()?).await?))
}
