//! The gateway's errors in the format of each protocol, and the keep-alive
//! bytes that stop a harness from timing out.

use axum::http::StatusCode;
use swe_ci_core::agent::Protocol;

use super::dialect;

/// Why the gateway refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    UnknownPath,
    BadToken,
    /// The request names another model than the configured one.
    WrongModel,
    BadRequest,
    /// The request asks for a tool that the provider would execute.
    HostedTool,
    TooLarge,
    BudgetSpent,
    ProviderFailed,
}

impl Problem {
    /// Most clients retry after [`Problem::ProviderFailed`], and after no other.
    pub fn status(self) -> StatusCode {
        match self {
            Self::UnknownPath | Self::WrongModel => StatusCode::NOT_FOUND,
            Self::BadToken => StatusCode::UNAUTHORIZED,
            Self::BadRequest | Self::HostedTool => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BudgetSpent => StatusCode::PAYMENT_REQUIRED,
            Self::ProviderFailed => StatusCode::BAD_GATEWAY,
        }
    }
}

/// Status and body of an error. If the path does not show the protocol, the
/// body has the format most clients know.
pub fn error_body(
    protocol: Option<Protocol>,
    problem: Problem,
    message: &str,
) -> (StatusCode, Vec<u8>) {
    let body = dialect(protocol.unwrap_or(Protocol::Chat)).error(problem, message);
    (problem.status(), body.to_string().into_bytes())
}

/// An error for an answer whose head is already sent: the last event of a
/// stream, or a whole JSON body. Send it as a separate piece.
pub fn error_event(protocol: Protocol, streamed: bool, problem: Problem, message: &str) -> Vec<u8> {
    if streamed {
        dialect(protocol).error_event(problem, message).into_bytes()
    } else {
        error_body(Some(protocol), problem, message).1
    }
}

/// Bytes to send, as often as needed, between the head of an answer and its
/// first byte: white space before JSON.
pub fn keep_alive(protocol: Protocol, streamed: bool) -> &'static [u8] {
    if streamed {
        dialect(protocol).keep_alive().as_bytes()
    } else {
        b"\n"
    }
}
