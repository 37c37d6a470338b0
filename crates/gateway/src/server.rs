//! The HTTP server on a session's socket: it checks each request and answers
//! or refuses it in the protocol's format.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use axum::{Router, body};
use swe_ci_core::agent::Protocol;

use super::active_exchange;
use super::protocol::{self, Call, Problem};
use super::session_state::SessionState;

/// Maximum bytes of a request.
const MAX_REQUEST: usize = 32 << 20;
/// Maximum kibibytes of all concurrent requests of a session; further requests
/// wait.
pub(super) const REQUEST_MEMORY_KIB: usize = 128 << 10;

pub(super) fn router(session: Arc<SessionState>) -> Router {
    // `protocol::call` matches the paths: some contain colons, and a 404 needs
    // the format of a protocol as well.
    Router::new().fallback(handle).with_state(session)
}

async fn handle(State(session): State<Arc<SessionState>>, request: Request) -> Response {
    match checked_answer(&session, request).await {
        Ok(response) => response,
        Err(refusal) => {
            tracing::debug!(problem = ?refusal.problem, "refused a request: {}", refusal.message);
            refusal.response()
        }
    }
}

/// Why the gateway refuses a request.
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

/// Answers a request that passes all checks.
async fn checked_answer(
    session: &Arc<SessionState>,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    let call = protocol::call(&parts.method, path);
    let protocol = match &call {
        Some(Call::Ask(route) | Call::CountTokens(route)) => Some(route.protocol),
        Some(Call::Models) | None => None,
    };
    let refuse = |problem, message: String| Refusal {
        protocol,
        problem,
        message,
    };
    // Read the body even if the request is refused: closing the connection on
    // an unread body resets it, and the harness may not see the reason.
    let memory = session
        .request_memory
        .clone()
        .acquire_many_owned(kibibytes(&parts.headers));
    let memory = memory
        .await
        .map_err(|_| refuse(Problem::BadToken, "the step is over".into()))?;
    let bytes = body::to_bytes(body, MAX_REQUEST).await.map_err(|_| {
        refuse(
            Problem::TooLarge,
            format!("a request may have at most {MAX_REQUEST} bytes"),
        )
    })?;
    let token = protocol::token(&parts.headers, parts.uri.query());
    if token != Some(session.token.as_str()) || session.exchanges.is_closed() {
        return Err(refuse(
            Problem::BadToken,
            "this gateway accepts only the token of the current step".into(),
        ));
    }
    let Some(call) = call else {
        return Err(refuse(
            Problem::UnknownPath,
            format!("the gateway has no {} {}", parts.method, parts.uri.path()),
        ));
    };
    if matches!(call, Call::Models) {
        let body = protocol::models_body(parts.uri.path(), &session.endpoint.model);
        return Ok(json(StatusCode::OK, body));
    }
    let agent_request =
        protocol::parse_request(&call, &bytes).map_err(|why| refuse(Problem::BadRequest, why))?;
    if agent_request.protocol != session.endpoint.protocol {
        let (actual, expected) = (agent_request.protocol, session.endpoint.protocol);
        return Err(refuse(
            Problem::UnknownPath,
            format!("this step's model uses the protocol `{expected}`, not `{actual}`"),
        ));
    }
    if agent_request.model != session.endpoint.model {
        let expected = &session.endpoint.model;
        return Err(refuse(
            Problem::WrongModel,
            format!(
                "this step may use the model `{expected}`, not `{}`",
                agent_request.model
            ),
        ));
    }
    if let Some(reached) = session.ledger.reached() {
        return Err(refuse(Problem::BudgetSpent, reached));
    }
    Ok(active_exchange::respond(
        session.clone(),
        agent_request,
        parts.headers,
        &bytes,
        memory,
    )
    .await)
}

/// The memory reserved for a request before it is read.
fn kibibytes(headers: &HeaderMap) -> u32 {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|text| text.to_str().ok()?.parse::<usize>().ok());
    let bytes = length.unwrap_or(MAX_REQUEST).min(MAX_REQUEST);
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
