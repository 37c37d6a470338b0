//! The HTTP server on a session's socket: it checks each request and answers
//! or refuses it in the protocol's format.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Router, body};

use swe_ci_core::hosted_tools;

use super::active_exchange;
use super::protocol::{self, Call, Problem};
use super::reply::content_type;
use super::session_state::SessionState;

const MAX_REQUEST: usize = 32 << 20;
/// Maximum time from a request's head to the end of its body.
const BODY_TIMEOUT: Duration = Duration::from_mins(2);
/// Maximum kibibytes of all concurrent requests of a session; further requests
/// wait.
pub(super) const REQUEST_MEMORY_KIB: usize = 128 << 10;

/// Marks a request that comes from this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct InProcess {
    pub streamed: bool,
}

pub(super) fn router(session: Arc<SessionState>) -> Router {
    // `protocol::call` matches the paths: some contain colons, and a 404 needs
    // the format of a protocol as well.
    Router::new().fallback(handle).with_state(session)
}

async fn handle(State(session): State<Arc<SessionState>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let call = protocol::call(&parts.method, path);
    let protocol = match &call {
        Some(Call::Ask(route) | Call::CountTokens(route)) => Some(route.protocol),
        Some(Call::Models) | None => None,
    };
    let answer = checked_answer(&session, call, parts, body).await;
    answer.unwrap_or_else(|(problem, message)| {
        tracing::debug!(?problem, "refused a request: {message}");
        let (status, body) = protocol::error_body(protocol, problem, &message);
        json(status, body)
    })
}

/// Answers a request that passes all checks. An error says why the gateway
/// refuses it.
async fn checked_answer(
    session: &Arc<SessionState>,
    call: Option<Call>,
    parts: Parts,
    body: Body,
) -> Result<Response, (Problem, String)> {
    // Read the body even if the request is refused: closing the connection on
    // an unread body resets it, and the harness may not see the reason.
    let memory = session.request_memory.clone();
    let memory = memory.acquire_many_owned(kibibytes(&parts.headers)).await;
    let memory = memory.map_err(|_| (Problem::BadToken, "the step is over".into()))?;
    let bytes = read_body(body).await?;
    let token = protocol::token(&parts.headers, parts.uri.query());
    if token != Some(session.token.as_str()) || session.tasks.is_closed() {
        let why = "this gateway accepts only the token of the current step";
        return Err((Problem::BadToken, why.into()));
    }
    let call = call.ok_or_else(|| {
        let why = format!("the gateway has no {} {}", parts.method, parts.uri.path());
        (Problem::UnknownPath, why)
    })?;
    let endpoint = &session.config.endpoint;
    if matches!(call, Call::Models) {
        let body = protocol::models_body(parts.uri.path(), &endpoint.model);
        return Ok(json(StatusCode::OK, body));
    }
    let mut agent_request =
        protocol::parse_request(&call, &bytes).map_err(|why| (Problem::BadRequest, why))?;
    if let Some(InProcess { streamed }) = parts.extensions.get() {
        agent_request.in_process = true;
        agent_request.streamed = *streamed;
    }
    let (actual, expected) = (agent_request.protocol, endpoint.protocol);
    if actual != expected {
        let why = format!("this step's model uses the protocol `{expected}`, not `{actual}`");
        return Err((Problem::UnknownPath, why));
    }
    let (actual, expected) = (&agent_request.model, &endpoint.model);
    if actual != expected {
        let why = format!("this step may use the model `{expected}`, not `{actual}`");
        return Err((Problem::WrongModel, why));
    }
    if !session.config.allow_hosted_tools {
        let hosted = agent_request.hosted_tools(endpoint);
        if !hosted.is_empty() {
            session.count_refused_tools(&hosted);
            return Err((Problem::HostedTool, hosted_tools::refusal(&hosted)));
        }
    }
    session.config.ledger.settle().await;
    let own = session.config.evolution_ledger.as_ref();
    let reached = session.config.ledger.reached();
    if let Some(reached) = reached.or_else(|| own?.reached()) {
        return Err((Problem::BudgetSpent, reached));
    }
    let session = session.clone();
    Ok(active_exchange::respond(session, agent_request, parts.headers, &bytes, memory).await)
}

async fn read_body(body: Body) -> Result<body::Bytes, (Problem, String)> {
    let read = tokio::time::timeout(BODY_TIMEOUT, body::to_bytes(body, MAX_REQUEST));
    let read = read.await.map_err(|_| {
        let seconds = BODY_TIMEOUT.as_secs();
        let why = format!("the body of the request did not arrive within {seconds} s");
        (Problem::BadRequest, why)
    })?;
    read.map_err(|_| {
        let why = format!("a request may have at most {MAX_REQUEST} bytes");
        (Problem::TooLarge, why)
    })
}

/// The memory reserved for a request before it is read.
fn kibibytes(headers: &HeaderMap) -> u32 {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|text| text.to_str().ok()?.parse::<usize>().ok());
    let bytes = length.unwrap_or(MAX_REQUEST).min(MAX_REQUEST);
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX)
}

fn json(status: StatusCode, body: Vec<u8>) -> Response {
    (status, content_type(false), body).into_response()
}
