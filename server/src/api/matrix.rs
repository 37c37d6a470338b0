use axum::Json;
use axum::response::Response;
use swe_ci_core::leaderboard::{Matrix, TaskOrder};
use swe_ci_engine::Engine;
use utoipa::IntoParams;

use super::Result;
use super::download::{CSV, download};
use super::leaderboard::Ranking;
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, Query};
use crate::auth::As;

/// In which order the tasks stand.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct OrderParameters {
    /// What tasks are sorted by, after a `-` from the largest value down:
    /// mean (the hardest task first), spread, solved, task.
    #[param(value_type = Option<String>, default = "mean", example = "-spread")]
    sort: TaskOrder,
}

/// A matrix and how it is counted.
#[derive(Debug)]
pub(crate) struct Asked {
    ranking: Ranking,
    order: OrderParameters,
}

impl FromQuery for Asked {
    const NAMES: &'static [&'static str] = &["split", "gamma", "convention", "sort"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        let sort = given.task_order()?.unwrap_or_default();
        Ok(Self {
            ranking: Ranking::from_query(given)?,
            order: OrderParameters { sort },
        })
    }
}

impl Asked {
    /// Empty while there is no split at all.
    async fn matrix(&self, engine: &Engine) -> Result<Matrix> {
        let (ranking, order) = (&self.ranking, self.order.sort);
        let Some(split) = ranking.split(engine).await? else {
            return Ok(Matrix::default());
        };
        let found = engine.matrix(&split, ranking.gamma, ranking.convention, order);
        Ok(found.await?)
    }
}

/// Every task of a split against every run: rows are the tasks some run is
/// scored on, the hardest first; columns the runs in the order of the
/// leaderboard.
#[utoipa::path(
    get,
    path = "/api/v1/matrix",
    tag = "results",
    params(Ranking, OrderParameters),
    responses(
        (status = 200, description = "The matrix", body = Matrix),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn matrix(As(engine): As, Query(asked): Query<Asked>) -> Result<Json<Matrix>> {
    Ok(Json(asked.matrix(&engine).await?))
}

/// The same as a table: a line for each task and run (RFC 4180, UTF-8). The
/// last column says why a run has no score on a task.
#[utoipa::path(
    get,
    path = "/api/v1/matrix.csv",
    tag = "results",
    params(Ranking, OrderParameters),
    responses(
        (status = 200, description = "split, gamma, convention, task_id, repo, run_id, model, kind, evoscore, solved, zero_regression, samples, absence", body = String, content_type = "text/csv"),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such split", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn matrix_csv(As(engine): As, Query(asked): Query<Asked>) -> Result<Response> {
    let matrix = asked.matrix(&engine).await?;
    let Ranking {
        gamma, convention, ..
    } = asked.ranking;
    let csv = matrix.csv(gamma, convention);
    Ok(download("swe-ci-matrix.csv", CSV, csv))
}
