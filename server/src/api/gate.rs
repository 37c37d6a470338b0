//! A gate between two runs: as JSON, as Markdown and as JUnit XML.

use axum::Json;
use axum::response::Response;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_engine::{Engine, Error};
use swe_ci_views::leaderboard::{GateReport, GateRules};

use super::query::{NoOrYes, Query, QueryString, parameters};
use super::responses::NotComparable;
use super::{Answer, Result, download};
use crate::extract::ActorEngine;
use crate::gate_report::junit;
use crate::problem::Problem;

parameters! {
    /// Two runs, and the rules of the gate.
    struct GateParameters of |query| {
        /// The id of the run to compare with.
        #[param(value_type = String)]
        baseline: String = run(query, "baseline")?,
        /// The id of the run that wants to pass.
        #[param(value_type = String)]
        candidate: String = run(query, "candidate")?,
        /// The least difference in EvoScore, candidate minus baseline.
        #[param(value_type = Option<f64>, minimum = -2, maximum = 2, default = -0.02)]
        min_evoscore_delta: f64 =
            number(query, "min_evoscore_delta")?.unwrap_or(GateRules::default().min_evoscore_delta),
        /// The most that the zero-regression rate may drop; it does not matter
        /// when absent.
        #[param(value_type = Option<f64>, minimum = 0, maximum = 1)]
        max_zero_regression_drop: Option<f64> = number(query, "max_zero_regression_drop")?,
        /// The error rate of each bound.
        #[param(value_type = Option<f64>, minimum = 0.001, maximum = 0.5, default = 0.05)]
        alpha: f64 = number(query, "alpha")?.unwrap_or(GateRules::default().alpha),
        /// `yes`: decide before the runs are over if enough tasks are done.
        #[param(inline, value_type = Option<NoOrYes>, example = "yes")]
        early: bool = query.word("early", [("no", false), ("yes", true)])?,
        /// Weight of later iterations: above 1 they count more, below 1 less.
        #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
        gamma: Gamma = query.gamma()?,
        /// How tests are counted.
        #[param(value_type = Option<Convention>, default = "paper")]
        convention: Convention = query.convention()?,
    }
}

fn run(query: &QueryString, name: &'static str) -> Result<String> {
    let must = "the id of a run";
    let id = query.text(name, must)?;
    id.ok_or_else(|| {
        Problem::about_parameter(name, format!("`{name}` is missing; it must be {must}"))
    })
}

fn number(query: &QueryString, name: &str) -> Result<Option<f64>> {
    query.parse(name, "a number", |text| text.parse().ok())
}

impl GateParameters {
    async fn report(&self, engine: &Engine) -> Result<GateReport> {
        let rules = GateRules {
            min_evoscore_delta: self.min_evoscore_delta,
            max_zero_regression_drop: self.max_zero_regression_drop,
            alpha: self.alpha,
            early: self.early,
        };
        if let Err((name, must)) = rules.check() {
            return Err(Problem::about_parameter(
                name,
                format!("`{name}` must be {must}"),
            ));
        }
        let (baseline, candidate) = (&self.baseline, &self.candidate);
        let report = engine.gate(baseline, candidate, rules, self.gamma, self.convention);
        Ok(report.await?)
    }
}

/// Whether a candidate loses no more against a baseline than the rules allow:
/// the decision `pass`, `fail` or `open`, its reason, and each bound with the
/// paired difference and its interval.
#[utoipa::path(
    get, path = "/api/v1/gate", tag = "results",
    params(GateParameters),
    responses((status = 200, description = "The decision, whatever it is", body = GateReport), NotComparable),
)]
pub(crate) async fn gate(
    engine: ActorEngine,
    Query(parameters): Query<GateParameters>,
) -> Answer<GateReport> {
    Ok(Json(parameters.report(&engine).await?))
}

/// The same as a summary for people.
#[utoipa::path(
    get, path = "/api/v1/gate.md", tag = "results",
    params(GateParameters),
    responses((status = 200, description = "The summary", body = String, content_type = "text/markdown"), NotComparable),
)]
pub(crate) async fn gate_markdown(
    engine: ActorEngine,
    Query(parameters): Query<GateParameters>,
) -> Result<Response> {
    let markdown = parameters.report(&engine).await?.markdown();
    Ok(download(
        "swe-ci-gate.md",
        "text/markdown; charset=utf-8",
        markdown,
    ))
}

/// The same as JUnit XML: a test for each bound, an open one as an error.
#[utoipa::path(
    get, path = "/api/v1/gate.xml", tag = "results",
    params(GateParameters),
    responses((status = 200, description = "The report", body = String, content_type = "application/xml"), NotComparable),
)]
pub(crate) async fn gate_junit(
    engine: ActorEngine,
    Query(parameters): Query<GateParameters>,
) -> Result<Response> {
    let report = parameters.report(&engine).await?;
    let xml = junit(&report).map_err(|e| Error::Internal(e.into()))?;
    Ok(download("swe-ci-gate.xml", "application/xml", xml))
}
