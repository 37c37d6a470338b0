//! What a client is told when something goes wrong: RFC 9457 problem details.
//!
//! Handlers return a [`Problem`]; the one conversion from the engine's error
//! is here too. The body is written by [`finish`], which every response passes
//! on its way out, because only there the request id is at hand.

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use swe_ci_core::figures::NoSuchFigure;
use swe_ci_core::run::BadConfig;
use swe_ci_engine::Error;
use utoipa::ToSchema;

/// Media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// A problem before it is given its request id.
#[derive(Debug, Clone)]
pub struct Problem {
    kind: Kind,
    detail: String,
    parameter: Option<String>,
    /// Seconds until it is worth another try.
    retry_after: Option<u64>,
    /// The fields of a configuration that cannot be used.
    problems: Vec<BadConfig>,
}

/// What kind of problem it is; `type` in the body is
/// `urn:swe-ci:problem:` and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    BadRequest,
    BadParameter,
    Unauthenticated,
    Forbidden,
    TooMany,
    NotFound,
    NoSuchAddress,
    MethodNotAllowed,
    Conflict,
    TooLarge,
    Internal,
    Unavailable,
    TimedOut,
}

/// The body of an error (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Names the kind of problem; programs branch on it.
    #[serde(rename = "type")]
    #[schema(example = "urn:swe-ci:problem:bad-parameter")]
    kind: String,
    /// The kind in words.
    #[schema(example = "A parameter cannot be used")]
    title: &'static str,
    /// The HTTP status.
    #[schema(example = 400)]
    status: u16,
    /// What is wrong with this request, and what would be right.
    #[schema(example = "`limit` is `0`; it must be a whole number from 1 to 500")]
    detail: String,
    /// Request id: the `x-request-id` of the response, and what the server's
    /// log has it under.
    instance: String,
    /// The parameter that cannot be used, if that is the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// Every field of a configuration that cannot be used, if that is the
    /// problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<BadConfig>,
}

impl Kind {
    fn status(self) -> StatusCode {
        match self {
            Self::BadRequest | Self::BadParameter => StatusCode::BAD_REQUEST,
            Self::Unauthenticated => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::NotFound | Self::NoSuchAddress => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable | Self::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::BadRequest => "bad-request",
            Self::BadParameter => "bad-parameter",
            Self::Unauthenticated => "unauthenticated",
            Self::Forbidden => "forbidden",
            Self::TooMany => "too-many",
            Self::NotFound => "not-found",
            Self::NoSuchAddress => "no-such-address",
            Self::MethodNotAllowed => "method-not-allowed",
            Self::Conflict => "conflict",
            Self::TooLarge => "too-large",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::TimedOut => "timed-out",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::BadRequest => "The request cannot be carried out as it is",
            Self::BadParameter => "A parameter cannot be used",
            Self::Unauthenticated => "It takes somebody known",
            Self::Forbidden => "Not for this account",
            Self::TooMany => "Too many tries",
            Self::NotFound => "There is no such thing",
            Self::NoSuchAddress => "There is no such address",
            Self::MethodNotAllowed => "The address does not answer this method",
            Self::Conflict => "It contradicts the present state",
            Self::TooLarge => "The request is too large",
            Self::Internal => "Something is wrong with the server",
            Self::Unavailable => "Something the server needs does not answer",
            Self::TimedOut => "It took too long",
        }
    }
}

impl Problem {
    /// A parameter that cannot be used; `must` completes "it must be …".
    pub(crate) fn parameter(name: impl Into<String>, given: &str, must: &str) -> Self {
        let name = name.into();
        let shown: String = given.chars().take(100).collect();
        let detail = format!("`{name}` is `{shown}`; it must be {must}");
        Self::about_parameter(name, detail)
    }

    pub(crate) fn about_parameter(name: impl Into<String>, detail: String) -> Self {
        Self {
            kind: Kind::BadParameter,
            detail,
            parameter: Some(name.into()),
            retry_after: None,
            problems: Vec::new(),
        }
    }

    pub(crate) fn no_such_address(path: &str) -> Self {
        Self::new(
            Kind::NoSuchAddress,
            format!("nothing is at `{path}`; /api/v1/openapi.json lists what there is"),
        )
    }

    /// Its text names those there are.
    pub(crate) fn no_such_figure(error: &NoSuchFigure) -> Self {
        Self::new(Kind::NotFound, error.to_string())
    }

    pub(crate) fn method_not_allowed(method: &str) -> Self {
        Self::new(
            Kind::MethodNotAllowed,
            format!(
                "this address does not answer {method}; the `allow` header names what it answers"
            ),
        )
    }

    pub(crate) fn too_large(limit_bytes: usize) -> Self {
        Self::new(
            Kind::TooLarge,
            format!("a request body may have at most {limit_bytes} bytes"),
        )
    }

    pub(crate) fn timed_out(seconds: u64) -> Self {
        Self::new(
            Kind::TimedOut,
            format!("no answer was ready after {seconds} seconds; try again later"),
        )
    }

    /// Another site made a browser send it, with the cookies of this one.
    pub(crate) fn from_elsewhere() -> Self {
        Self::new(
            Kind::Forbidden,
            "it was not sent by a page of this site; a program sends an API token, and no cookie"
                .into(),
        )
    }

    /// The operator has closed the site to visitors.
    pub(crate) fn closed() -> Self {
        Self::new(
            Kind::Unauthenticated,
            "this site answers those who are signed in; send an API token".into(),
        )
    }

    /// A body that is not what this address takes.
    pub(crate) fn unreadable(detail: String) -> Self {
        Self::new(Kind::BadRequest, detail)
    }

    /// Its cause has been logged; the client learns the request id only.
    pub(crate) fn internal() -> Self {
        Self::new(Kind::Internal, String::new())
    }

    fn new(kind: Kind, detail: String) -> Self {
        Self {
            kind,
            detail,
            parameter: None,
            retry_after: None,
            problems: Vec::new(),
        }
    }

    /// A thing the server needs does not answer, whatever the engine calls it.
    pub(crate) fn unready(error: Error) -> Self {
        let mut problem = Self::from(error);
        if problem.kind == Kind::Internal {
            problem.detail = "the database does not answer; the server's log has the reason".into();
        }
        problem.kind = Kind::Unavailable;
        problem
    }

    fn body(self, request_id: &str) -> ProblemBody {
        let detail = match self.kind {
            Kind::Internal => format!(
                "the server could not do this through a fault of its own; its log has the reason under request id {request_id}"
            ),
            _ => self.detail,
        };
        ProblemBody {
            kind: format!("urn:swe-ci:problem:{}", self.kind.name()),
            title: self.kind.title(),
            status: self.kind.status().as_u16(),
            detail,
            instance: request_id.to_owned(),
            parameter: self.parameter,
            problems: self.problems,
        }
    }
}

/// The one conversion from the engine's error, and the boundary at which an
/// internal one is logged with its whole chain.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let kind = match &error {
            Error::NotFound { .. } => Kind::NotFound,
            Error::Invalid(_) | Error::Rejected(_) => Kind::BadRequest,
            Error::Unauthenticated(_) => Kind::Unauthenticated,
            Error::Forbidden(_) => Kind::Forbidden,
            Error::TooMany { .. } => Kind::TooMany,
            Error::Conflict(_) => Kind::Conflict,
            Error::Unavailable(_) => Kind::Unavailable,
            Error::Internal(cause) => {
                tracing::error!(error = format!("{cause:#}"), "a request failed");
                return Self::internal();
            }
        };
        let mut problem = Self::new(kind, error.to_string());
        match error {
            Error::TooMany { retry_after } => {
                problem.retry_after = Some(retry_after.as_secs().max(1));
            }
            Error::Rejected(problems) => problem.problems = problems,
            _ => {}
        }
        problem
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        use axum::extract::path::ErrorKind;
        let PathRejection::FailedToDeserializePathParams(failure) = rejection else {
            tracing::error!(error = %rejection, "a route lacks its path parameters");
            return Self::internal();
        };
        match failure.into_kind() {
            ErrorKind::ParseErrorAtKey {
                key,
                value,
                expected_type,
            } => {
                let must = match expected_type {
                    "u32" => "a whole number from 0 to 4294967295",
                    other => other,
                };
                Self::parameter(key, &value, must)
            }
            ErrorKind::InvalidUtf8InPathParam { key } => {
                let detail = format!("`{key}` is not UTF-8 once it is decoded");
                Self::about_parameter(key, detail)
            }
            other => Self::new(Kind::BadRequest, other.to_string()),
        }
    }
}

/// Status and headers; [`finish`] writes the body.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.kind.status().into_response();
        let headers = response.headers_mut();
        let soon = match self.kind {
            Kind::Unavailable | Kind::TimedOut => Some(5),
            _ => self.retry_after,
        };
        if let Some(seconds) = soon {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.kind == Kind::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Gives a response that carries a problem its body.
pub(crate) fn finish(mut response: Response, request_id: &str) -> Response {
    let Some(problem) = response.extensions_mut().remove::<Problem>() else {
        return response;
    };
    let body = serde_json::to_vec(&problem.body(request_id)).unwrap_or_default();
    let (mut parts, _) = response.into_parts();
    parts.headers.remove(header::CONTENT_LENGTH);
    let media_type = HeaderValue::from_static(MEDIA_TYPE);
    parts.headers.insert(header::CONTENT_TYPE, media_type);
    Response::from_parts(parts, Body::from(body))
}
