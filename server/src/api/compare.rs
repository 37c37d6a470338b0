use axum::Json;
use axum::response::Response;
use swe_ci_core::csv;
use swe_ci_core::leaderboard::{StyleRates, Versus, WinRates};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::style::StyleMetric;
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
        (status = 200, description = "task_id, repo, run_id, model, evoscore, turns, solved, regressions, and of the code beside the oracle's, where it is solved and measured: mi_win_rate, mi_tie_rate, mi_loss_rate, pylint_win_rate, pylint_tie_rate, pylint_loss_rate, lines_ratio", body = String, content_type = "text/csv"),
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

const COLUMNS: [&str; 15] = [
    "task_id",
    "repo",
    "run_id",
    "model",
    "evoscore",
    "turns",
    "solved",
    "regressions",
    "mi_win_rate",
    "mi_tie_rate",
    "mi_loss_rate",
    "pylint_win_rate",
    "pylint_tie_rate",
    "pylint_loss_rate",
    "lines_ratio",
];

/// RFC 4180, numbers as precise as they are.
fn table(versus: &Versus) -> String {
    let mut text = String::new();
    csv::line(&mut text, COLUMNS.map(str::to_owned));
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
            let style = style(result.style.unwrap_or_default());
            csv::line(&mut text, fields.into_iter().chain(style));
        }
    }
    text
}

/// As many as [`COLUMNS`] has of it; empty where it is not known.
fn style(rates: StyleRates) -> impl Iterator<Item = String> {
    let shares = move |metric| {
        let rates = rates.of(metric);
        let shares: [fn(WinRates) -> f64; 3] = [|r| r.win, |r| r.tie, |r| r.loss];
        shares.map(|share| rates.map(share))
    };
    let all = StyleMetric::ALL.into_iter().flat_map(shares);
    let all = all.chain([rates.lines_ratio]);
    all.map(|value| value.map_or_else(String::new, |value| value.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_in_columns() {
        let rates = StyleRates {
            mi: Some(WinRates {
                tasks: 1,
                win: 0.25,
                tie: 0.5,
                loss: 0.25,
            }),
            pylint: None,
            lines_ratio: Some(1.5),
        };
        let told: Vec<String> = style(rates).collect();
        assert_eq!(told, ["0.25", "0.5", "0.25", "", "", "", "1.5"]);
    }
}
