//! What comes in over a step's socket: understood or refused, each in the
//! protocol's own words.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::{Router, body};
use swe_ci_core::agent::Protocol;

use super::ask;
use super::protocol::{self, Call, Problem};
use super::step::Step;

/// The most bytes of a request.
const MAX_REQUEST: usize = 32 << 20;
/// The most kibibytes of all requests of a step that are under way; the next
/// one waits.
pub(super) const ROOM: usize = 128 << 10;

pub(super) fn router(step: Arc<Step>) -> Router {
    // Paths are matched by `protocol::call`: some hold colons, and what is
    // unknown must be told in a protocol's shape anyway.
    Router::new().fallback(answer).with_state(step)
}

async fn answer(State(step): State<Arc<Step>>, request: Request) -> Response {
    match understood(&step, request).await {
        Ok(response) => response,
        Err(refusal) => {
            tracing::debug!(problem = ?refusal.problem, "a harness was refused: {}", refusal.message);
            refusal.response()
        }
    }
}

/// Why a request is not passed on.
#[derive(Debug)]
pub(super) struct Refusal {
    pub protocol: Option<Protocol>,
    pub problem: Problem,
    pub message: String,
}

impl Refusal {
    pub fn response(&self) -> Response {
        let (status, body) = protocol::error_body(self.protocol, self.problem, &self.message);
        json(status, body)
    }
}

async fn understood(step: &Arc<Step>, request: Request) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let call = protocol::call(&parts.method, path);
    let spoken = match &call {
        Some(Call::Ask(route) | Call::CountTokens(route)) => Some(route.protocol),
        Some(Call::Models) | None => None,
    };
    let refuse = |problem, message: String| Refusal {
        protocol: spoken,
        problem,
        message,
    };
    // Read in any case: a connection closed on a request that was not read is
    // reset, and the harness may never see why it was refused.
    let room = step
        .room
        .clone()
        .acquire_many_owned(kibibytes(&parts.headers));
    let room = room
        .await
        .map_err(|_| refuse(Problem::BadToken, "the step is over".into()))?;
    let bytes = body::to_bytes(body, MAX_REQUEST).await.map_err(|_| {
        refuse(
            Problem::TooLarge,
            format!("a request may have {MAX_REQUEST} bytes"),
        )
    })?;
    let given = protocol::token(&parts.headers, parts.uri.query());
    if given != Some(step.token.as_str()) || step.exchanges.is_closed() {
        return Err(refuse(
            Problem::BadToken,
            "this gateway takes the token of the step that is at work, and no other".into(),
        ));
    }
    let Some(call) = call else {
        return Err(refuse(
            Problem::UnknownPath,
            format!("the gateway has no {} {}", parts.method, parts.uri.path()),
        ));
    };
    if matches!(call, Call::Models) {
        let body = protocol::models_body(parts.uri.path(), &step.endpoint.model);
        return Ok(json(StatusCode::OK, body));
    }
    let asked = protocol::read(&call, &bytes).map_err(|why| refuse(Problem::BadRequest, why))?;
    if asked.protocol != step.endpoint.protocol {
        let (spoken, wanted) = (asked.protocol, step.endpoint.protocol);
        return Err(refuse(
            Problem::UnknownPath,
            format!("this step's model is spoken to by the protocol `{wanted}`, not `{spoken}`"),
        ));
    }
    if asked.model != step.endpoint.model {
        let wanted = &step.endpoint.model;
        return Err(refuse(
            Problem::WrongModel,
            format!("this step may ask `{wanted}`, not `{}`", asked.model),
        ));
    }
    if let Some(reached) = step.ledger.reached() {
        return Err(refuse(Problem::BudgetSpent, reached));
    }
    Ok(ask::ask(step.clone(), asked, parts.headers, &bytes, room).await)
}

/// What a request takes of the step's room, before it is read.
fn kibibytes(headers: &HeaderMap) -> u32 {
    let announced = headers.get(header::CONTENT_LENGTH);
    let announced = announced.and_then(|text| text.to_str().ok()?.parse::<usize>().ok());
    let bytes = announced.unwrap_or(MAX_REQUEST).min(MAX_REQUEST);
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX)
}

fn json(status: StatusCode, body: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    response
}
