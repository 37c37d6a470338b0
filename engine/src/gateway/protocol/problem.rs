//! Errors of the gateway in the shapes the protocols give them, and what keeps
//! a harness waiting.

use axum::http::StatusCode;
use swe_ci_core::agent::Protocol;

use super::dialect;

/// Why the gateway gives no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    UnknownPath,
    BadToken,
    /// The model asked for is not the configured one.
    WrongModel,
    BadRequest,
    TooLarge,
    BudgetSpent,
    ProviderFailed,
}

impl Problem {
    /// Most clients ask again after a failed provider, and after nothing else.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::UnknownPath | Self::WrongModel => StatusCode::NOT_FOUND,
            Self::BadToken => StatusCode::UNAUTHORIZED,
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BudgetSpent => StatusCode::PAYMENT_REQUIRED,
            Self::ProviderFailed => StatusCode::BAD_GATEWAY,
        }
    }
}

/// Status and body of an error; where the path did not tell the protocol, in
/// the shape most clients know.
#[must_use]
pub fn error_body(
    protocol: Option<Protocol>,
    problem: Problem,
    message: &str,
) -> (StatusCode, Vec<u8>) {
    let body = dialect(protocol.unwrap_or(Protocol::Chat)).error(problem, message);
    (problem.status(), body.to_string().into_bytes())
}

/// An error for an answer whose header has gone out: the last event of a
/// stream, or the whole of a JSON body. Send it in a piece of its own.
#[must_use]
pub fn error_event(protocol: Protocol, streamed: bool, problem: Problem, message: &str) -> Vec<u8> {
    if streamed {
        dialect(protocol).error_event(problem, message).into_bytes()
    } else {
        error_body(Some(protocol), problem, message).1
    }
}

/// What can be sent, as often as need be, before the first byte of an answer
/// whose header has gone out: white space where JSON is to come.
#[must_use]
pub fn keep_alive(protocol: Protocol, streamed: bool) -> &'static [u8] {
    if streamed {
        dialect(protocol).keep_alive().as_bytes()
    } else {
        b"\n"
    }
}
