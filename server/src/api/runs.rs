//! Runs: their submission, configuration, card, scores, evolutions, iterations
//! and steps.

use axum::Json;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::{Kind, Progress, RunConfig};
use swe_ci_engine::{Error, experiments, run_configuration};
use swe_ci_views::account::{AccountRole, Visibility};
use swe_ci_views::card::Card;
use swe_ci_views::leaderboard::Scores;
use swe_ci_views::regrade::Regrade;
use swe_ci_views::run_list::{ListedRun, RunFilter};
use swe_ci_views::submission::{ExperimentEstimate, Submission};
use swe_ci_views::view::{EvolutionDetail, IterationDetail, Page, RunDetail, StepView};
use utoipa::ToSchema;

use super::addresses::{EvolutionPath, IterationPath, RunPath};
use super::query::{NoOrYes, PageParameters, Query, parameters, words};
use super::responses::{Invalid, NoSuchRun, NoSuchSplit, Submitter};
use super::{Answer, CSV, Result, download};
use crate::extract::{ActorEngine, Path};
use crate::json_body;

parameters! {
    /// How tests and iterations count.
    struct CountingParameters of |query| {
        /// Weight of later iterations: above 1 they count more, below 1 less.
        #[param(value_type = Option<f64>, minimum = 0.1, maximum = 10, default = 1)]
        gamma: Gamma = query.gamma()?,
        /// How tests are counted.
        #[param(value_type = Option<Convention>, default = "paper")]
        convention: Convention = query.convention()?,
    }
}

parameters! {
    /// Which runs.
    struct RunParameters of |query| {
        /// `yes`: only the caller's own, which takes an account.
        #[param(inline, value_type = Option<NoOrYes>, example = "yes")]
        mine: bool = query.word("mine", [("no", false), ("yes", true)])?,
        /// Only runs of this progress: `queued`, `running`, `finished` or `cancelled`.
        #[param(value_type = Option<Progress>)]
        progress: Option<Progress> = query.parse(
            "progress",
            "`queued`, `running`, `finished` or `cancelled`",
            Progress::from_name,
        )?,
        /// Only runs over this split.
        #[param(example = "demo")]
        split: Option<String> = query.split()?,
        /// Kinds of runs, separated by commas; all when absent.
        #[param(value_type = Option<String>, example = "measured,imported")]
        kind: Vec<Kind> = query.kinds()?,
        /// Words that all occur in the name of the model, its provider or the harness.
        #[param(value_type = Option<String>)]
        text: String = query.text("text", "at most 200 bytes of text")?.unwrap_or_default(),
    }
}

impl From<RunParameters> for RunFilter {
    fn from(parameters: RunParameters) -> Self {
        let RunParameters {
            mine,
            progress,
            split,
            kind: kinds,
            text,
        } = parameters;
        Self {
            mine,
            progress,
            split,
            kinds,
            text,
        }
    }
}

/// The runs, newest first.
#[utoipa::path(
    get, path = "/api/v1/runs", tag = "runs",
    security((), ("token" = [])),
    params(RunParameters, PageParameters),
    responses(
        (status = 200, description = "A page of runs", body = Page<ListedRun>),
        Invalid,
        (status = 401, description = "Only an account has runs of its own"),
        NoSuchSplit,
    ),
)]
pub(crate) async fn runs(
    engine: ActorEngine,
    Query((wanted, page)): Query<(RunParameters, PageParameters)>,
) -> Answer<Page<ListedRun>> {
    Ok(Json(engine.runs(&wanted.into(), &page.into()).await?))
}

/// A run with its evolutions.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}", tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The run", body = RunDetail), NoSuchRun),
)]
pub(crate) async fn run(engine: ActorEngine, path: Path<RunPath>) -> Answer<RunDetail> {
    Ok(Json(engine.run(&path.id).await?))
}

/// The verdicts of a run that moved against the run whose code it graded again.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/moved", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The verdicts that moved", body = Regrade),
        (status = 404, description = "There is no such run, or it graded no other run's code"),
    ),
)]
pub(crate) async fn moved(engine: ActorEngine, path: Path<RunPath>) -> Answer<Regrade> {
    Ok(Json(engine.moved_verdicts(&path.id).await?))
}

/// The same as a table: a line for each verdict that moved.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/moved.csv", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "task_id, sample, iteration, verdict_before, in_target_before, target_before, verdict_now, in_target_now, target_now, tests_moved, why, tests (at most fifty, each on a line of the cell)", body = String, content_type = "text/csv"),
        (status = 404, description = "There is no such run, or it graded no other run's code"),
    ),
)]
pub(crate) async fn moved_csv(engine: ActorEngine, path: Path<RunPath>) -> Result<Response> {
    let moved = engine.moved_verdicts(&path.id).await?;
    Ok(download("swe-ci-moved.csv", CSV, moved.to_csv()))
}

/// Every number of a run, down to its evolutions and iterations. The means are
/// null without any scored evolution.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/scores", tag = "runs",
    params(RunPath, CountingParameters),
    responses((status = 200, description = "The scores", body = Scores), Invalid, NoSuchRun),
)]
pub(crate) async fn scores(
    engine: ActorEngine,
    path: Path<RunPath>,
    Query(counting): Query<CountingParameters>,
) -> Answer<Scores> {
    let CountingParameters { gamma, convention } = counting;
    Ok(Json(engine.scores(&path.id, gamma, convention).await?))
}

parameters! {
    /// A sample of a task.
    struct SampleParameter of |query| {
        /// The sample, from 1.
        #[param(value_type = Option<u32>, minimum = 1, default = 1)]
        sample: u32 = query.count("sample")?.unwrap_or(1),
    }
}

/// One evolution of a run, with the outcome of every test after each iteration.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/tasks/{task}", tag = "runs",
    params(EvolutionPath, SampleParameter),
    responses(
        (status = 200, description = "The evolution", body = EvolutionDetail),
        Invalid,
        (status = 404, description = "There is no such run, or it has no such sample of the task"),
    ),
)]
pub(crate) async fn evolution(
    engine: ActorEngine,
    path: Path<EvolutionPath>,
    Query(SampleParameter { sample }): Query<SampleParameter>,
) -> Answer<EvolutionDetail> {
    let task = path.task_id()?;
    Ok(Json(engine.evolution(&path.id, &task, sample).await?))
}

/// Every completed attempt at a step, in order, including those of an iteration
/// that was never tested: its outcome, the reason, and its model usage.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/steps", tag = "runs",
    params(("id" = String, Path, description = "The evolution's id.")),
    responses(
        (status = 200, description = "The attempts", body = Vec<StepView>),
        (status = 404, description = "There is no such evolution"),
    ),
)]
pub(crate) async fn steps(engine: ActorEngine, Path(id): Path<String>) -> Answer<Vec<StepView>> {
    Ok(Json(engine.steps(&id).await?))
}

/// One iteration of an evolution: its requirement, its work, and the tests
/// gained and lost.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}", tag = "runs",
    params(IterationPath),
    responses(
        (status = 200, description = "The iteration", body = IterationDetail),
        Invalid,
        (status = 404, description = "There is no such evolution, or it has not reached this iteration"),
    ),
)]
pub(crate) async fn iteration(
    engine: ActorEngine,
    path: Path<IterationPath>,
) -> Answer<IterationDetail> {
    Ok(Json(engine.iteration(&path.id, path.n).await?))
}

words! {
    /// The formats of a card.
    CardFormat = ["json", "text"], Some("json");
}

parameters! {
    /// The format of the card.
    struct CardParameters of |query| {
        /// `json`, or `text`: one fact per line, to paste into a paper.
        #[param(rename = "format", inline, value_type = Option<CardFormat>, example = "text")]
        as_text: bool = query.word("format", [("json", false), ("text", true)])?,
    }
}

/// The reproducibility card of a run: models, harnesses, prompts, tasks,
/// images, limits, versions, seeds and dates. It contains neither a key nor a
/// key's name.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/card", tag = "runs",
    params(RunPath, CardParameters),
    responses(
        (status = 200, description = "The card", content(
            (Card = "application/json"),
            (String = "text/plain"),
        )),
        Invalid, NoSuchRun,
    ),
)]
pub(crate) async fn card(
    engine: ActorEngine,
    path: Path<RunPath>,
    Query(CardParameters { as_text }): Query<CardParameters>,
) -> Result<Response> {
    let card = engine.card(&path.id).await?;
    Ok(match as_text {
        true => card.to_text().into_response(),
        false => Json(card).into_response(),
    })
}

/// Queues a run. If its configuration is invalid, `problems` names every
/// invalid field, not only the first.
#[utoipa::path(
    post, path = "/api/v1/runs", tag = "runs",
    request_body = Submission,
    responses(
        (status = 201, description = "The run, queued", body = RunDetail, headers(("location" = String, description = "The address of the run"))),
        Submitter,
        (status = 400, description = "The configuration is invalid"),
    ),
)]
pub(crate) async fn submit(engine: ActorEngine, body: Bytes) -> Result<Response> {
    // Before reading the configuration: a caller without the role learns
    // nothing.
    engine.require(AccountRole::Submitter)?;
    let id = engine.queue(read(&body)?).await?;
    let location = [(header::LOCATION, format!("/api/v1/runs/{id}"))];
    let run = Json(engine.run(&id).await?);
    Ok((StatusCode::CREATED, location, run).into_response())
}

/// Queues the runs of an experiment: a configuration whose `vary` has lists of what
/// varies stands for one run for each combination. If one of them is invalid, none is
/// queued.
#[utoipa::path(
    post, path = "/api/v1/experiments", tag = "runs",
    request_body = Experiment,
    responses(
        (status = 201, description = "The ids of the runs, in the order of the combinations", body = Vec<String>),
        Submitter,
        (status = 400, description = "A configuration is invalid"),
    ),
)]
pub(crate) async fn experiment(engine: ActorEngine, body: Bytes) -> Result<Response> {
    engine.require(AccountRole::Submitter)?;
    let given: Experiment = json_body::read(&body)?;
    let configs = experiments::from_value(given.config.clone()).map_err(Error::Rejected)?;
    let submissions = configs.into_iter().map(|config| given.submission(config));
    let ids = engine.queue_experiment(submissions.collect()).await?;
    Ok((StatusCode::CREATED, Json(ids)).into_response())
}

/// Estimates an experiment before it is queued: each of its runs, and all of them.
#[utoipa::path(
    post, path = "/api/v1/experiments/estimate", tag = "runs",
    request_body = Experiment,
    responses(
        (status = 200, description = "The estimate", body = ExperimentEstimate),
        Submitter,
        (status = 400, description = "A configuration is invalid"),
    ),
)]
pub(crate) async fn estimate_experiment(
    engine: ActorEngine,
    body: Bytes,
) -> Answer<ExperimentEstimate> {
    engine.require(AccountRole::Submitter)?;
    let given: Experiment = json_body::read(&body)?;
    let configs = experiments::from_value(given.config).map_err(Error::Rejected)?;
    Ok(Json(engine.estimate_experiment(configs).await?))
}

/// A run's configuration as a file for `swe-ci run submit`, without the names
/// of its keys.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/config.toml", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The configuration", body = String, content_type = "application/toml"),
        NoSuchRun,
    ),
)]
pub(crate) async fn config_toml(engine: ActorEngine, path: Path<RunPath>) -> Result<Response> {
    let media_type = [(header::CONTENT_TYPE, "application/toml")];
    Ok((media_type, engine.configuration(&path.id).await?).into_response())
}

/// A run, or several to be queued together, whose configuration is not understood yet.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// As of a run, and `vary`: a table whose lists have what varies. Tables in a list are
    /// laid over the configuration; other values are those of the field of its name.
    config: serde_json::Value,
    /// `public` or `private`; only its owner sees a private one.
    #[serde(default)]
    visibility: Visibility,
    /// Whether each run starts only after a preflight; it does when absent.
    preflight: Option<bool>,
    /// Whether the server deletes the keys when each is over.
    #[serde(default)]
    forget_keys: bool,
}

fn read(body: &[u8]) -> Result<Submission> {
    let given: Experiment = json_body::read(body)?;
    let config = run_configuration::from_value(given.config.clone()).map_err(Error::Rejected)?;
    Ok(given.submission(config))
}

impl Experiment {
    fn submission(&self, config: RunConfig) -> Submission {
        Submission {
            config,
            visibility: self.visibility,
            preflight: self.preflight.unwrap_or(true),
            forget_keys: self.forget_keys,
        }
    }
}
