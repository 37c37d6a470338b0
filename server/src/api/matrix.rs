//! The matrix of tasks and runs, as JSON and as CSV.

use axum::Json;
use axum::response::Response;
use swe_ci_engine::Engine;
use swe_ci_views::leaderboard::{Matrix, TaskOrder};
use utoipa::IntoParams;

use super::Result;
use super::download::{CSV, download};
use super::leaderboard::Ranking;
use super::query::{Query, QueryParameters, QueryString};
use super::responses::{Invalid, NoSuchSplit};
use crate::extract::ActorEngine;

/// The order of the tasks.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OrderParameters {
    /// The sort key of the tasks, with a leading `-` for descending order: mean
    /// (the hardest task first), spread, solved, task.
    #[param(value_type = Option<String>, default = "mean", example = "-spread")]
    sort: TaskOrder,
}

impl QueryParameters for OrderParameters {
    fn read(query: &QueryString) -> Result<Self> {
        let must = "mean, spread, solved or task, with a leading `-` for descending order";
        let sort = query.parse("sort", must, |text| text.parse().ok())?;
        let sort = sort.unwrap_or_default();
        Ok(Self { sort })
    }
}

/// The matrix; empty while there is no split at all.
async fn matrix_of(engine: &Engine, ranking: &Ranking, order: TaskOrder) -> Result<Matrix> {
    let Some(split) = ranking.split(engine).await? else {
        return Ok(Matrix::default());
    };
    let matrix = engine.matrix(&split, ranking.gamma, ranking.convention, order);
    Ok(matrix.await?)
}

/// Every task of a split against every run: rows are the tasks that some run is
/// scored on, the hardest first; columns are the runs in the order of the
/// leaderboard.
#[utoipa::path(
    get, path = "/api/v1/matrix", tag = "results",
    params(Ranking, OrderParameters),
    responses((status = 200, description = "The matrix", body = Matrix), Invalid, NoSuchSplit),
)]
pub(crate) async fn matrix(
    engine: ActorEngine,
    Query((ranking, order)): Query<(Ranking, OrderParameters)>,
) -> Result<Json<Matrix>> {
    Ok(Json(matrix_of(&engine, &ranking, order.sort).await?))
}

/// The same as a table: a line for each task and run (RFC 4180, UTF-8). The
/// last column says why a run has no score on a task.
#[utoipa::path(
    get, path = "/api/v1/matrix.csv", tag = "results",
    params(Ranking, OrderParameters),
    responses(
        (status = 200, description = "split, gamma, convention, task_id, repo, run_id, model, kind, evoscore, solved, zero_regression, samples, absence", body = String, content_type = "text/csv"),
        Invalid, NoSuchSplit,
    ),
)]
pub(crate) async fn matrix_csv(
    engine: ActorEngine,
    Query((ranking, order)): Query<(Ranking, OrderParameters)>,
) -> Result<Response> {
    let matrix = matrix_of(&engine, &ranking, order.sort).await?;
    let csv = matrix.csv(ranking.gamma, ranking.convention);
    Ok(download("swe-ci-matrix.csv", CSV, csv))
}
