//! Steering a run: pause, resume, cancel, retry, preflight, and its limits;
//! publishing and withdrawing it, and its verified mark.

use std::num::NonZeroU32;

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Deserialize;
use swe_ci_core::step::Ending;
use swe_ci_engine::Engine;
use swe_ci_views::account::AccountRole;
use swe_ci_views::steering::Change;
use swe_ci_views::view::RunDetail;
use utoipa::ToSchema;

use super::addresses::RunPath;
use super::responses::{Admin, NoSuchRun, NotInPreflight, RunOver, RunOwner};
use super::{Answer, Result};
use crate::app::App;
use crate::extract::{ActorEngine, Body, Path};
use crate::problem::Problem;

/// A run, and the engine of a caller with the role to steer runs of their own.
#[derive(Debug)]
pub(crate) struct SteeredRun {
    engine: Engine,
    id: String,
}

impl FromRequestParts<App> for SteeredRun {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Ok(ActorEngine(engine)) = ActorEngine::from_request_parts(parts, app).await;
        let Path(RunPath { id }) = Path::from_request_parts(parts, app).await?;
        engine.require(AccountRole::Submitter)?;
        Ok(Self { engine, id })
    }
}

impl SteeredRun {
    async fn detail(&self) -> Answer<RunDetail> {
        Ok(Json(self.engine.run(&self.id).await?))
    }
}

/// Handlers that do one thing with a run and answer with the run: of each its
/// path, the engine's method, and what it answers: the run or an error.
macro_rules! actions {
    ($(
        $(#[$($about:tt)*])*
        $name:ident at $path:tt: $method:ident, $run:tt, [$($error:tt)+];
    )+) => {$(
        $(#[$($about)*])*
        #[utoipa::path(
            post, path = $path, tag = "runs",
            params(RunPath),
            responses((status = 200, description = $run, body = RunDetail), $($error)+),
        )]
        pub(crate) async fn $name(run: SteeredRun) -> Answer<RunDetail> {
            run.engine.$method(&run.id).await?;
            run.detail().await
        }
    )+};
}

actions! {
    /// Pauses a run: no evolution starts, and running steps stop within seconds and
    /// resume later from where they stood. Pausing twice has the effect of once.
    pause at "/api/v1/runs/{id}/pause": pause, "The run, paused", [RunOwner, RunOver];

    /// Resumes a paused run. Resuming twice has the effect of once.
    resume at "/api/v1/runs/{id}/resume":
        resume, "The run, no longer paused", [RunOwner, RunOver];

    /// Cancels a run irrevocably: running steps stop within seconds and are not
    /// scored. Cancelling twice has the effect of once.
    cancel at "/api/v1/runs/{id}/cancel":
        cancel, "The run, cancelled",
        [RunOwner, (status = 409, description = "The run is finished")];

    /// Returns evolutions to the queue that are blocked, or that stopped at a
    /// budget that has been raised since. They resume where they stood; a finished
    /// run is running again.
    retry at "/api/v1/runs/{id}/retry":
        retry_blocked, "The run, with the retried evolutions queued",
        [RunOwner, (status = 409, description = "The run is over with nothing to retry, or its budget is spent")];

    /// Repeats a failed preflight. Requesting it twice has the effect of once.
    preflight at "/api/v1/runs/{id}/preflight":
        preflight_again, "The run, waiting for its preflight", [RunOwner, NotInPreflight];

    /// Starts a run whose preflight failed or is unfinished. Requesting it twice
    /// has the effect of once.
    begin at "/api/v1/runs/{id}/begin":
        begin_anyway, "The run, free to begin", [RunOwner, NotInPreflight];

    /// Publishes a run. Publishing twice has the effect of once; a withdrawn run
    /// requires an administrator.
    publish at "/api/v1/runs/{id}/publish":
        publish, "The run, public",
        [RunOwner, (status = 403, description = "The run belongs to someone else, or was withdrawn")];
}

/// Raises a run's budget, and sets how many of its evolutions may run at the
/// same time. Absent fields stay unchanged; the submitted configuration stays
/// as it is.
#[utoipa::path(
    patch, path = "/api/v1/runs/{id}", tag = "runs",
    params(RunPath), request_body = Change,
    responses(
        (status = 200, description = "The run, with its current limits", body = RunDetail),
        RunOwner,
        (status = 400, description = "A field is out of range, or a limit would decrease"),
        RunOver,
    ),
)]
pub(crate) async fn change(run: SteeredRun, body: Result<Body<Change>>) -> Answer<RunDetail> {
    let Body(change) = body?;
    run.engine.change(&run.id, change).await?;
    run.detail().await
}

/// The reason for a withdrawal.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Withdrawal {
    /// 1 to 500 characters, for the people who may still see the run.
    reason: String,
}

/// Withdraws a public run: it leaves the rankings and every list, and stays
/// visible to its submitter and to administrators.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/withdraw", tag = "runs",
    params(RunPath), request_body = Withdrawal,
    responses(
        (status = 200, description = "The run, withdrawn", body = RunDetail),
        RunOwner,
        (status = 400, description = "The reason is invalid"),
        (status = 409, description = "The run was never published"),
    ),
)]
pub(crate) async fn withdraw(run: SteeredRun, body: Result<Body<Withdrawal>>) -> Answer<RunDetail> {
    let Body(Withdrawal { reason }) = body?;
    run.engine.unpublish(&run.id, &reason).await?;
    run.detail().await
}

/// The name of what is deleted, against mistakes.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirmed {
    /// The model of a run, or a split.
    pub(super) name: String,
}

/// Deletes a run that is over, for good: its results, transcripts and logs, and the
/// code that no other run has. A submitter deletes private runs of their own;
/// others take an administrator. Snapshots of leaderboards stay.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/delete", tag = "runs",
    params(RunPath), request_body = Confirmed,
    responses(
        (status = 204, description = "It is deleted"),
        RunOwner,
        (status = 400, description = "The name is another one"),
        (status = 409, description = "The run is not over, or others need it or its code"),
    ),
)]
pub(crate) async fn delete(run: SteeredRun, body: Result<Body<Confirmed>>) -> Result<StatusCode> {
    let Body(Confirmed { name }) = body?;
    run.engine.delete_run(&run.id, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which evolutions to put back in the queue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Clearing {
    /// `blocked`, `agent_gave_up` or both; `blocked` when absent.
    endings: Vec<Ending>,
}

impl Default for Clearing {
    fn default() -> Self {
        Self {
            endings: vec![Ending::Blocked],
        }
    }
}

/// Returns evolutions that ended so to the queue. They resume where they stood.
/// Clearing `agent_gave_up` is for administrators: the agents get their attempts
/// again, and the run has no rank from then on (`cleared`).
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/clear", tag = "runs",
    params(RunPath), request_body = Clearing,
    responses(
        (status = 200, description = "The run, with the cleared evolutions queued", body = RunDetail),
        RunOwner,
        (status = 400, description = "An ending cannot be cleared"),
        (status = 409, description = "No evolution ended so, the run is cancelled, or its budget is spent"),
    ),
)]
pub(crate) async fn clear(run: SteeredRun, body: Result<Body<Clearing>>) -> Answer<RunDetail> {
    let Body(Clearing { endings }) = body?;
    run.engine.clear(&run.id, &endings).await?;
    run.detail().await
}

/// Queues a run that grades the stored code of this one again, with the suites,
/// test commands and images of today; for administrators. No agent works in it.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/regrade", tag = "runs",
    params(RunPath),
    responses(
        (status = 202, description = "The new run, queued", body = RunDetail),
        Admin, NoSuchRun,
        (status = 409, description = "The run is not finished, was made elsewhere, was itself graded again, or its tasks have changed"),
    ),
)]
pub(crate) async fn regrade(
    engine: ActorEngine,
    path: Path<RunPath>,
) -> Result<(StatusCode, Json<RunDetail>)> {
    let id = engine.regrade(&path.id).await?;
    Ok((StatusCode::ACCEPTED, Json(engine.run(&id).await?)))
}

/// How many iterations to test again.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Sample {
    /// This many iterations, drawn at random, the same ones each time; all when
    /// absent.
    #[schema(value_type = Option<u32>, minimum = 1)]
    sample: Option<NonZeroU32>,
}

/// Starts to run the tests of a run's iterations again, for administrators; the
/// server compares the outcomes with the recorded ones. `verifying` of the run
/// tells how far it is, `verification` has the result.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/verify", tag = "runs",
    params(RunPath), request_body = Sample,
    responses(
        (status = 202, description = "The run, being verified", body = RunDetail),
        Admin, NoSuchRun,
        (status = 400, description = "The sample is no number from 1"),
        (status = 409, description = "The run is active or being verified, or none of its code is stored"),
    ),
)]
pub(crate) async fn verify(
    engine: ActorEngine,
    path: Path<RunPath>,
    body: Result<Body<Sample>>,
) -> Result<(StatusCode, Json<RunDetail>)> {
    // Before reading the body: a caller without the role learns nothing.
    engine.require(AccountRole::Admin)?;
    let Body(Sample { sample }) = body?;
    let most = sample.map(NonZeroU32::get);
    engine.start_verification(&path.id, most).await?;
    Ok((StatusCode::ACCEPTED, Json(engine.run(&path.id).await?)))
}

/// Marks a run as verified, for administrators: its tests gave the recorded
/// outcomes when they ran again.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/mark", tag = "runs",
    params(RunPath),
    responses(
        (status = 200, description = "The run, marked", body = RunDetail),
        Admin, NoSuchRun,
        (status = 409, description = "The run was never checked, or its last check found differences"),
    ),
)]
pub(crate) async fn mark(engine: ActorEngine, path: Path<RunPath>) -> Answer<RunDetail> {
    engine.mark_verified(&path.id).await?;
    Ok(Json(engine.run(&path.id).await?))
}

/// Removes the mark, for administrators; no effect if there is none.
#[utoipa::path(
    post, path = "/api/v1/runs/{id}/unmark", tag = "runs",
    params(RunPath),
    responses((status = 200, description = "The run, without the mark", body = RunDetail), Admin, NoSuchRun),
)]
pub(crate) async fn unmark(engine: ActorEngine, path: Path<RunPath>) -> Answer<RunDetail> {
    engine.unmark(&path.id).await?;
    Ok(Json(engine.run(&path.id).await?))
}
