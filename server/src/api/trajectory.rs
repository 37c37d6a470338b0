//! What was said between an agent and its model in a step.

use axum::Json;
use axum::response::Response;
use swe_ci_core::conversation::{MessagesPage, Window};
use swe_ci_core::step::Role;
use swe_ci_core::view::StepView;
use swe_ci_engine::{Engine, Error};
use utoipa::IntoParams;

use super::Result;
use super::download::download;
use super::path::{Path, TrajectoryPath};
use super::problem::{Problem, ProblemBody};
use super::query::{FromQuery, Given, Query};
use crate::auth::As;

/// How it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// As it was kept: an exchange a line.
    #[default]
    Jsonl,
    /// The Agent Trajectory Interchange Format.
    Atif,
}

impl Format {
    pub(super) fn of_text(text: &str) -> Option<Self> {
        match text {
            "jsonl" => Some(Self::Jsonl),
            "atif" => Some(Self::Atif),
            _ => None,
        }
    }
}

/// Which attempt, and how it is written.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The attempt at the step, from 1; the last that was recorded when
    /// absent.
    #[param(value_type = Option<u32>, minimum = 1)]
    attempt: Option<u32>,
    /// `jsonl`: what was kept, an object for each request and its answer, a
    /// line each. `atif`: the Agent Trajectory Interchange Format.
    #[param(value_type = Option<String>, default = "jsonl", example = "atif")]
    format: Format,
}

impl FromQuery for Wanted {
    const NAMES: &'static [&'static str] = &["attempt", "format"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        Ok(Self {
            attempt: given.attempt()?,
            format: given.format()?.unwrap_or_default(),
        })
    }
}

/// What architect or programmer and their model said to each other in an
/// iteration, as a file. It holds no key.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}/{role}/trajectory",
    tag = "runs",
    params(TrajectoryPath, Wanted),
    responses(
        (status = 200, description = "The trajectory", content(
            (String = "application/jsonl"),
            (serde_json::Value = "application/json"),
        )),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such step, or it asked no model", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn trajectory(
    As(engine): As,
    Path(path): Path<TrajectoryPath>,
    Query(wanted): Query<Wanted>,
) -> Result<Response> {
    let role = path.role()?;
    let TrajectoryPath { id, n, .. } = path;
    let attempt = match wanted.attempt {
        Some(attempt) => attempt,
        None => last_recorded(&engine, &id, n, role).await?,
    };
    let (body, media_type, ending) = match wanted.format {
        Format::Jsonl => {
            let lines = engine.recording(&id, n, role, attempt).await?;
            (lines, "application/jsonl", "jsonl")
        }
        Format::Atif => {
            let told = engine.trajectory(&id, n, role, attempt).await?;
            (
                told.to_string().into_bytes(),
                "application/json",
                "atif.json",
            )
        }
    };
    let name = format!("{id}-{n}-{}-{attempt}.{ending}", role.name());
    Ok(download(&name, media_type, body))
}

/// Which messages, and what is looked for.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Reading {
    /// The attempt at the step, from 1; the last that was recorded when
    /// absent.
    #[param(value_type = Option<u32>, minimum = 1)]
    attempt: Option<u32>,
    /// Number of the first message; when absent, of the first that has `q`.
    #[param(value_type = Option<u32>, minimum = 1)]
    from: Option<u32>,
    /// How many messages at most; fewer come where they are long.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 500, default = 50)]
    limit: Option<u32>,
    /// A text to look for, whatever its case; at most 200 bytes.
    #[param(value_type = Option<String>)]
    q: String,
}

impl FromQuery for Reading {
    const NAMES: &'static [&'static str] = &["attempt", "from", "limit", "q"];

    fn from_query(given: &Given) -> Result<Self, Problem> {
        let attempt = given.attempt()?;
        let Window { from, limit, q } = given.window()?;
        Ok(Self {
            attempt,
            from,
            limit,
            q,
        })
    }
}

/// What architect or programmer and their model said to each other, as
/// messages of one shape whatever the protocol was. Long texts are cut; the
/// trajectory has all of them.
#[utoipa::path(
    get,
    path = "/api/v1/evolutions/{id}/iterations/{n}/{role}/messages",
    tag = "runs",
    params(TrajectoryPath, Reading),
    responses(
        (status = 200, description = "Some of the messages", body = MessagesPage),
        (status = 400, description = "A parameter cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no such step, or it asked no model", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn messages(
    As(engine): As,
    Path(path): Path<TrajectoryPath>,
    Query(Reading {
        attempt,
        from,
        limit,
        q,
    }): Query<Reading>,
) -> Result<Json<MessagesPage>> {
    let role = path.role()?;
    let window = Window { from, limit, q };
    let page = engine.messages(&path.id, path.n, role, attempt, window);
    Ok(Json(page.await?))
}

async fn last_recorded(engine: &Engine, id: &str, iteration: u32, role: Role) -> Result<u32> {
    let steps = engine.steps(id).await?;
    let mut latest = steps.iter().rev();
    let wanted =
        |step: &&StepView| (step.iteration, step.role) == (iteration, role) && step.is_recorded();
    let step = latest.find(wanted).ok_or_else(|| Error::NotFound {
        what: "recording of",
        id: format!("the {} of iteration {iteration}", role.name()),
    })?;
    Ok(step.attempt)
}
