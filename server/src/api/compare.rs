use axum::Json;
use axum::response::Response;
use swe_ci_core::csv;
use swe_ci_core::leaderboard::Versus;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::task::TaskId;
use swe_ci_engine::Engine;
use utoipa::IntoParams;

use super::Result;
use super::download::{CSV, download};
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, Query};
use crate::auth::As;

/// Which runs, and how tests and iterations count.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Comparing {
    /// 2 to 6 ids of runs of one split, with commas between them.
    #[param(value_type = String)]
    runs: Vec<String>,
    /// Weight of later iterations: above 1 they count more, below 1 less.
    #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
    gamma: Gamma,
    /// How tests are counted.
    #[param(value_type = Option<Convention>, default = "paper")]
    convention: Convention,
    /// A shared task whose evolutions are wanted too.
    #[param(value_type = Option<String>)]
    task: Option<TaskId>,
}

impl FromQuery for Comparing {
    const NAMES: &'static [&'static str] = &["runs", "gamma", "convention", "task"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            runs: given.runs()?,
            gamma: given.gamma()?.unwrap_or(Gamma::ONE),
            convention: given.convention()?.unwrap_or_default(),
            task: given.task()?,
        })
    }
}

impl Comparing {
    pub(crate) async fn versus(&self, engine: &Engine) -> Result<Versus> {
        let Self {
            runs,
            gamma,
            convention,
            task,
        } = self;
        let found = engine.compare(runs, *gamma, *convention, task.as_ref());
        Ok(found.await?)
    }
}

/// Runs of one split side by side: their rows, the difference of each pair
/// with a paired 95 % interval and a p-value, and every task all of them were
/// scored on.
#[utoipa::path(
    get,
    path = "/api/v1/compare",
    tag = "results",
    params(Comparing),
    responses(
        (status = 200, description = "The comparison", body = Versus),
        (status = 400, description = "A parameter cannot be used, or these runs cannot be compared", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run, or they do not share such a task", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn compare(
    As(engine): As,
    Query(comparing): Query<Comparing>,
) -> Result<Json<Versus>> {
    Ok(Json(comparing.versus(&engine).await?))
}

/// The tasks of a comparison as a table: a line for each task and run.
#[utoipa::path(
    get,
    path = "/api/v1/compare.csv",
    tag = "results",
    params(Comparing),
    responses(
        (status = 200, description = "task_id, repo, run_id, model, evoscore, turns, solved, regressions", body = String, content_type = "text/csv"),
        (status = 400, description = "A parameter cannot be used, or these runs cannot be compared", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such run, or they do not share such a task", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn compare_csv(
    As(engine): As,
    Query(comparing): Query<Comparing>,
) -> Result<Response> {
    let versus = comparing.versus(&engine).await?;
    Ok(download("swe-ci-compare.csv", CSV, table(&versus)))
}

/// RFC 4180, numbers as precise as they are.
fn table(versus: &Versus) -> String {
    let mut text = "task_id,repo,run_id,model,evoscore,turns,solved,regressions\r\n".to_owned();
    for task in &versus.tasks {
        for (row, result) in versus.runs.iter().zip(&task.results) {
            let fields = [
                csv::text(task.task_id.as_str()),
                csv::text(&task.repo),
                csv::text(&row.run_id),
                csv::text(&row.model),
                result.evoscore.to_string(),
                result.turns.to_string(),
                result.solved.to_string(),
                result.regressions.to_string(),
            ];
            csv::line(&mut text, fields);
        }
    }
    text
}
