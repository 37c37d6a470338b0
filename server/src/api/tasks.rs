//! Tasks, filtered and ordered, and their results; the splits, their files for
//! download, and disk use.

use axum::Json;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;
use swe_ci_engine::TasksWanted;
use swe_ci_views::account::AccountRole;
use swe_ci_views::browse::{ListOrder, Size, TaskFilter};
use swe_ci_views::dataset::{SplitDetail, SplitListed};
use swe_ci_views::disk::DiskUse;
use swe_ci_views::leaderboard::TaskResult;
use swe_ci_views::view::{Page, TaskDetail, TaskSummary};
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::{IntoParams, PartialSchema};

use super::addresses::{SplitPath, TaskPath};
use super::query::{
    PageParameters, Query, QueryParameters, QueryString, in_both_directions, one_of, parameters,
};
use super::responses::{Admin, Invalid, NoSuchSplit, NoSuchTask};
use super::steering::Confirmed;
use super::{Answer, CSV, Result, download};
use crate::extract::{ActorEngine, Body, Path};
use crate::problem::Problem;

/// Which tasks, in which order.
#[derive(Debug)]
pub(crate) struct TaskParameters(TasksWanted);

impl IntoParams for TaskParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let words = "Words that all occur in the name of the task or of its repository.";
        let texts = [
            ("q", words),
            ("repo", "Only tasks of this repository."),
            ("licence", "Only tasks with this licence, an SPDX name."),
        ];
        let texts = texts.map(|(name, text)| parameter::<String>(name, Some(text)));
        let findings = "`some`: tasks whose preparation had findings; `none`: the others.";
        let findings = one_word("findings", findings, ["some", "none"]);
        let state = "Only tasks whose preparation ended like this.";
        let state = one_word("state", state, ["ready", "unusable"]);
        let sizes = Size::ALL.into_iter().flat_map(|size| {
            let [min, max] = ["min", "max"].map(|end| format!("{end}_{}", size.name()));
            let text = match size {
                Size::Gap => "Tests of the gap.",
                Size::Tests => "Tests the target passes.",
                Size::Commits => "Commits between base and target.",
                Size::Days => "Days between base and target.",
                Size::Lines => "Lines added and deleted between base and target.",
                Size::Suite => "Seconds the suite takes.",
                Size::Solved => "Share of the runs that solved it, 0 to 1.",
                Size::Score => "Mean EvoScore of the runs, -1 to 1.",
                Size::Contradicted => "Share of its tests that can be contradicted, 0 to 1.",
            };
            [
                parameter::<f64>(&min, Some(text)),
                parameter::<f64>(&max, None),
            ]
        });
        let sort = "After a `-` from the largest down; in the order of the split when absent.";
        let split = "Only tasks of this split; all when absent.";
        let split = parameter::<String>("split", Some(split)).example(Some("demo".into()));
        let sort = one_word("sort", sort, in_both_directions(Size::ALL.map(Size::name)));
        let parameters = std::iter::once(split).chain(texts);
        let parameters = parameters.chain([findings, state]).chain(sizes);
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

/// An optional parameter that has one of some words.
fn one_word<W: Into<Value>>(
    name: &str,
    description: &str,
    words: impl IntoIterator<Item = W>,
) -> ParameterBuilder {
    parameter::<String>(name, Some(description)).schema(Some(one_of(words, None)))
}

impl QueryParameters for TaskParameters {
    fn read(query: &QueryString) -> Result<Self> {
        let split = query.split()?;
        let (filter, invalid) = TaskFilter::read(|name| query.value(name).map(str::to_owned));
        if let Some(wrong) = invalid.first() {
            return Err(Problem::parameter(&wrong.name, &wrong.value, wrong.must));
        }
        let names = Size::ALL.map(Size::name).join(", ");
        let must = format!("one of {names}, with a leading `-` for descending order");
        let order = query.parse("sort", &must, ListOrder::from_name)?;
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
) -> Answer<Page<TaskSummary>> {
    Ok(Json(engine.tasks(&wanted, &page.into()).await?.page))
}

parameters! {
    struct OfSplit of |query| {
        /// Shows the revision that this split lists; without it, the one that was
        /// imported last.
        split: Option<String> = query.split()?,
    }
}

/// A task with its history and tests.
#[utoipa::path(
    get, path = "/api/v1/tasks/{id}", tag = "tasks",
    params(TaskPath, OfSplit),
    responses((status = 200, description = "The task", body = TaskDetail), Invalid, NoSuchTask),
)]
pub(crate) async fn task(
    engine: ActorEngine,
    path: Path<TaskPath>,
    Query(query): Query<OfSplit>,
) -> Answer<TaskDetail> {
    let split = query.split.as_deref();
    Ok(Json(engine.task_in(&path.task_id()?, split).await?))
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
pub(crate) async fn results(engine: ActorEngine, path: Path<TaskPath>) -> Answer<Vec<TaskResult>> {
    Ok(Json(engine.results_of_task(&path.task_id()?, None).await?))
}

/// The splits.
#[utoipa::path(
    get, path = "/api/v1/splits", tag = "tasks",
    responses((status = 200, description = "All splits", body = Vec<SplitListed>)),
)]
pub(crate) async fn splits(engine: ActorEngine) -> Answer<Vec<SplitListed>> {
    Ok(Json(engine.listed_splits().await?))
}

/// A split as a whole: its origin and the properties of its tasks.
#[utoipa::path(
    get, path = "/api/v1/splits/{split}", tag = "tasks",
    params(SplitPath),
    responses((status = 200, description = "The split", body = SplitDetail), Invalid, NoSuchSplit),
)]
pub(crate) async fn split(engine: ActorEngine, path: Path<SplitPath>) -> Answer<SplitDetail> {
    Ok(Json(engine.split(path.name()?).await?))
}

/// The split's metadata file, in the official layout.
#[utoipa::path(
    get, path = "/api/v1/splits/{split}/metadata.csv", tag = "tasks",
    params(SplitPath),
    responses(
        (status = 200, description = "One line for each task", content_type = "text/csv"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn metadata(engine: ActorEngine, path: Path<SplitPath>) -> Result<Response> {
    let name = path.name()?;
    let table = engine.split_metadata(name).await?;
    Ok(download(&format!("{name}.csv"), CSV, table))
}

/// The split's datasheet: its purpose, its sources and how it was made.
#[utoipa::path(
    get, path = "/api/v1/splits/{split}/datasheet.md", tag = "tasks",
    params(SplitPath),
    responses(
        (status = 200, description = "The datasheet", content_type = "text/markdown"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn datasheet(engine: ActorEngine, path: Path<SplitPath>) -> Result<Response> {
    let name = path.name()?;
    let sheet = engine.split(name).await?.datasheet();
    let file = format!("{name}-datasheet.md");
    Ok(download(&file, "text/markdown; charset=utf-8", sheet))
}

/// Deletes a split for good, with its runs and the tasks that no other split has; for
/// administrators. Its snapshots stay.
#[utoipa::path(
    post, path = "/api/v1/splits/{split}/delete", tag = "tasks",
    params(SplitPath), request_body = Confirmed,
    responses(
        (status = 204, description = "It is deleted"),
        Admin, NoSuchSplit,
        (status = 400, description = "The name is another one"),
        (status = 409, description = "A run of it is not over, or others need it or its code"),
    ),
)]
pub(crate) async fn delete_split(
    engine: ActorEngine,
    path: Path<SplitPath>,
    body: Result<Body<Confirmed>>,
) -> Result<StatusCode> {
    // Before reading the body: a caller without the role learns nothing.
    engine.require(AccountRole::Admin)?;
    let Body(Confirmed { name }) = body?;
    engine.delete_split(path.name()?, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Disk use in bytes; for administrators.
#[utoipa::path(
    get, path = "/api/v1/disk", tag = "tasks",
    responses((status = 200, description = "Disk use by content", body = DiskUse), Admin),
)]
pub(crate) async fn disk(engine: ActorEngine) -> Answer<DiskUse> {
    Ok(Json(engine.disk_use().await?))
}
