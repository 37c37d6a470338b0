//! The conversation between an agent and its model in a step.

use axum::Json;
use axum::body::Body;
use axum::response::Response;
use swe_ci_core::step::Role;
use swe_ci_engine::{Engine, Error};
use swe_ci_views::conversation::{MessagesPage, Window};
use swe_ci_views::view::StepView;

use super::addresses::TrajectoryPath;
use super::query::{Query, parameters, words};
use super::responses::{Invalid, NoTrajectory};
use super::{Answer, Result, download};
use crate::extract::{ActorEngine, Path};

words! {
    /// The formats of a trajectory.
    TrajectoryFormat = ["jsonl", "atif"], Some("jsonl");
}

parameters! {
    /// The attempt and the format.
    struct TrajectoryParameters of |query| {
        /// The attempt at the step, from 1; the latest recorded one when absent.
        #[param(value_type = Option<u32>, minimum = 1)]
        attempt: Option<u32> = query.count("attempt")?,
        /// `jsonl`: as recorded, an object with each request and its answer per
        /// line. `atif`: the Agent Trajectory Interchange Format.
        #[param(rename = "format", inline, value_type = Option<TrajectoryFormat>, example = "atif")]
        atif: bool = query.word("format", [("jsonl", false), ("atif", true)])?,
    }
}

/// The conversation between the architect or programmer and the model in an
/// iteration, as a file. It contains no key.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/{role}/trajectory", tag = "runs",
    params(TrajectoryPath, TrajectoryParameters),
    responses(
        (status = 200, description = "The trajectory", content(
            (String = "application/jsonl"),
            (serde_json::Value = "application/json"),
        )),
        Invalid, NoTrajectory,
    ),
)]
pub(crate) async fn trajectory(
    engine: ActorEngine,
    path: Path<TrajectoryPath>,
    Query(wanted): Query<TrajectoryParameters>,
) -> Result<Response> {
    let role = path.role()?;
    let TrajectoryPath { id, n, .. } = path.0;
    let attempt = match wanted.attempt {
        Some(attempt) => attempt,
        None => last_recorded(&engine, &id, n, role).await?,
    };
    let (body, media_type, ending) = match wanted.atif {
        false => {
            let lines = engine.recording_file(&id, n, role, attempt).await?;
            (lines, "application/jsonl", "jsonl")
        }
        true => {
            let trajectory = engine.trajectory_file(&id, n, role, attempt).await?;
            (trajectory, "application/json", "atif.json")
        }
    };
    let name = format!("{id}-{n}-{}-{attempt}.{ending}", role.name());
    Ok(download(&name, media_type, Body::from_stream(body)))
}

parameters! {
    /// A range of messages, and a search text.
    struct MessageParameters of |query| {
        /// The attempt at the step, from 1; the latest recorded one when absent.
        #[param(value_type = Option<u32>, minimum = 1)]
        attempt: Option<u32> = query.count("attempt")?,
        /// Number of the first message; when absent, the first one with `q`.
        #[param(value_type = Option<u32>, minimum = 1)]
        from: Option<u32> = query.count("from")?,
        /// The largest number of messages; long messages reduce it.
        #[param(value_type = Option<u32>, minimum = 1, maximum = 500, default = 50)]
        limit: Option<u32> = query.limit()?,
        /// A search text of at most 200 bytes; case does not matter.
        #[param(value_type = Option<String>)]
        q: String = query.text("q", "at most 200 bytes of text")?.unwrap_or_default(),
    }
}

/// The conversation between the architect or programmer and the model, as
/// messages of one shape for every protocol. Long texts are cut; the trajectory
/// has them complete.
#[utoipa::path(
    get, path = "/api/v1/evolutions/{id}/iterations/{n}/{role}/messages", tag = "runs",
    params(TrajectoryPath, MessageParameters),
    responses(
        (status = 200, description = "Some of the messages", body = MessagesPage),
        Invalid, NoTrajectory,
    ),
)]
pub(crate) async fn messages(
    engine: ActorEngine,
    path: Path<TrajectoryPath>,
    Query(MessageParameters {
        attempt,
        from,
        limit,
        q,
    }): Query<MessageParameters>,
) -> Answer<MessagesPage> {
    let role = path.role()?;
    let window = Window { from, limit, q };
    let page = engine.messages(&path.id, path.n, role, attempt, window);
    Ok(Json(page.await?))
}

async fn last_recorded(engine: &Engine, id: &str, iteration: u32, role: Role) -> Result<u32> {
    let steps = engine.steps(id).await?;
    let mut latest = steps.iter().rev();
    let wanted = |step: &&StepView| {
        (step.iteration, step.role) == (iteration, role) && step.recording.is_some()
    };
    let step = latest.find(wanted).ok_or_else(|| {
        let what = format!("the {} of iteration {iteration}", role.name());
        Error::not_found("recording of", what)
    })?;
    Ok(step.attempt)
}
