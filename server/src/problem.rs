//! Errors of the API as RFC 9457 problem details.
//!
//! Handlers return a [`Problem`]; the one conversion from the engine's error is
//! here too. [`finish`] writes the body as every response passes it on its way
//! out, because only there the request id is known.

use std::num::NonZeroU64;

use axum::body::Body;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use swe_ci_core::run::BadConfig;
use swe_ci_engine::Error;
use swe_ci_views::figures::NoSuchFigure;
use utoipa::ToSchema;

/// Media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// A problem without its request id.
#[derive(Debug, Clone)]
pub struct Problem {
    kind: Kind,
    detail: String,
    parameter: Option<String>,
    /// Seconds until a retry is useful.
    retry_after: Option<NonZeroU64>,
    /// The invalid fields of a configuration.
    problems: Vec<BadConfig>,
}

/// The kind of a problem: its status, its name (`type` in the body is
/// `urn:swe-ci:problem:` and the name) and its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind(u16, &'static str, &'static str);

impl Kind {
    const BAD_REQUEST: Self = Self(400, "bad-request", "The request is invalid");
    const BAD_PARAMETER: Self = Self(400, "bad-parameter", "A parameter is invalid");
    const UNAUTHENTICATED: Self = Self(401, "unauthenticated", "Authentication is required");
    const FORBIDDEN: Self = Self(403, "forbidden", "The account may not do this");
    const TOO_MANY: Self = Self(429, "too-many", "Too many tries");
    const NOT_FOUND: Self = Self(404, "not-found", "Not found");
    const NO_SUCH_ADDRESS: Self = Self(404, "no-such-address", "There is no such address");
    const METHOD_NOT_ALLOWED: Self = Self(
        405,
        "method-not-allowed",
        "The address does not support this method",
    );
    const CONFLICT: Self = Self(409, "conflict", "Conflict with the current state");
    const TOO_LARGE: Self = Self(413, "too-large", "The request is too large");
    const INTERNAL: Self = Self(500, "internal", "Internal server error");
    const UNAVAILABLE: Self = Self(
        503,
        "unavailable",
        "A dependency of the server does not answer",
    );
    const BUSY: Self = Self(503, "busy", "The server is busy");
    const TIMED_OUT: Self = Self(503, "timed-out", "The request timed out");

    fn status(self) -> StatusCode {
        StatusCode::from_u16(self.0).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// The body of an error (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Identifies the kind of problem for programs.
    #[serde(rename = "type")]
    #[schema(example = "urn:swe-ci:problem:bad-parameter")]
    kind: String,
    /// The kind in words.
    #[schema(example = "A parameter is invalid")]
    title: &'static str,
    /// The HTTP status.
    #[schema(example = 400)]
    status: u16,
    /// The error of this request, and a valid alternative.
    #[schema(example = "`limit` is `0`; it must be a whole number from 1 to 500")]
    detail: String,
    /// Request id: the `x-request-id` of the response and of the server's log.
    instance: String,
    /// The invalid parameter, or field of the body, if that is the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// Every invalid field of a configuration, if that is the problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<BadConfig>,
}

impl Problem {
    /// An invalid parameter; `must` completes "it must be …".
    pub(crate) fn parameter(name: impl Into<String>, given: &str, must: &str) -> Self {
        let name = name.into();
        let shown: String = given.chars().take(100).collect();
        let detail = format!("`{name}` is `{shown}`; it must be {must}");
        Self::about_parameter(name, detail)
    }

    pub(crate) fn about_parameter(name: impl Into<String>, detail: String) -> Self {
        Self {
            parameter: Some(name.into()),
            ..Self::new(Kind::BAD_PARAMETER, detail)
        }
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn no_such_address(path: &str) -> Self {
        let detail = format!("nothing is at `{path}`; /api/v1/openapi.json lists the addresses");
        Self::new(Kind::NO_SUCH_ADDRESS, detail)
    }

    pub(crate) fn method_not_allowed(method: &str) -> Self {
        let detail = format!(
            "this address does not support {method}; the `allow` header names the supported methods"
        );
        Self::new(Kind::METHOD_NOT_ALLOWED, detail)
    }

    pub(crate) fn too_large(limit_bytes: usize) -> Self {
        let detail = format!("a request body may have at most {limit_bytes} bytes");
        Self::new(Kind::TOO_LARGE, detail)
    }

    pub(crate) fn timed_out(seconds: u64) -> Self {
        let detail = format!("no response was ready after {seconds} seconds; try again later");
        Self::new(Kind::TIMED_OUT, detail)
    }

    pub(crate) fn too_many_connections() -> Self {
        let detail = "all connections of the server are in use; try again in a few seconds";
        Self::new(Kind::BUSY, detail.into())
    }

    /// Another site made a browser send the request, with the cookies of this
    /// site.
    pub(crate) fn cross_site() -> Self {
        let detail = "the request does not come from a page of this site; a program must send an API token, and no cookie";
        Self::new(Kind::FORBIDDEN, detail.into())
    }

    /// The header `Authorization` has something else than a token. What it has may be
    /// a secret.
    pub(crate) fn unusable_credentials() -> Self {
        let detail = "the header `Authorization` has no API token; it must be `Bearer sweci_…`, or absent for a visitor";
        Self::new(Kind::UNAUTHENTICATED, detail.into())
    }

    /// The operator has closed the site to visitors.
    pub(crate) fn closed() -> Self {
        let detail = "this site is closed to visitors; send an API token";
        Self::new(Kind::UNAUTHENTICATED, detail.into())
    }

    /// A body that this address does not accept.
    pub(crate) fn unreadable(detail: String) -> Self {
        Self::new(Kind::BAD_REQUEST, detail)
    }

    /// A field of a body is invalid.
    pub(crate) fn in_body(field: &str, problem: &str) -> Self {
        Self {
            parameter: Some(field.to_owned()),
            ..Self::new(Kind::BAD_REQUEST, format!("`{field}`: {problem}"))
        }
    }

    /// The cause is in the log; the client gets only the request id.
    pub(crate) fn internal() -> Self {
        Self::new(Kind::INTERNAL, String::new())
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

    /// A dependency of the server does not answer, whatever kind the engine's
    /// error has.
    pub(crate) fn not_ready(error: Error) -> Self {
        let mut problem = Self::from(error);
        if problem.kind == Kind::INTERNAL {
            problem.detail = "the database does not answer; the server's log has the reason".into();
        }
        problem.kind = Kind::UNAVAILABLE;
        problem
    }

    /// The invalid parameter, and the detail.
    #[cfg(test)]
    pub(crate) fn named(&self) -> (Option<&str>, &str) {
        (self.parameter.as_deref(), &self.detail)
    }

    fn body(self, request_id: &str) -> ProblemBody {
        let failed = "the server failed; its log has the reason under request id";
        let detail = match self.kind {
            Kind::INTERNAL => format!("{failed} {request_id}"),
            _ => self.detail,
        };
        let Kind(status, name, title) = self.kind;
        ProblemBody {
            kind: format!("urn:swe-ci:problem:{name}"),
            title,
            status,
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
            Error::NotFound { .. } => Kind::NOT_FOUND,
            Error::NoSuchPage(_) => Kind::BAD_PARAMETER,
            Error::Invalid(_) | Error::Rejected(_) => Kind::BAD_REQUEST,
            Error::Unauthenticated(_) => Kind::UNAUTHENTICATED,
            Error::Forbidden(_) => Kind::FORBIDDEN,
            Error::TooMany { .. } => Kind::TOO_MANY,
            Error::Conflict(_) => Kind::CONFLICT,
            Error::Unavailable(_) => Kind::UNAVAILABLE,
            Error::Busy => Kind::BUSY,
            Error::Internal(_) => {
                tracing::error!(error = error.chain(), "a request failed");
                return Self::internal();
            }
        };
        let mut problem = Self::new(kind, error.to_string());
        match error {
            Error::TooMany { retry_after } => {
                problem.retry_after =
                    NonZeroU64::new(retry_after.as_secs()).or(Some(NonZeroU64::MIN));
            }
            Error::NoSuchPage(_) => problem.parameter = Some("after".to_owned()),
            Error::Rejected(problems) => problem.problems = problems,
            _ => {}
        }
        problem
    }
}

/// The error's text lists the figures.
impl From<NoSuchFigure> for Problem {
    fn from(error: NoSuchFigure) -> Self {
        Self::new(Kind::NOT_FOUND, error.to_string())
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
                let detail = format!("`{key}` does not decode to UTF-8");
                Self::about_parameter(key, detail)
            }
            other => Self::new(Kind::BAD_REQUEST, other.to_string()),
        }
    }
}

/// The layer that limits bodies words the one about their size.
impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        let kind = match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Kind::TOO_LARGE,
            _ => Kind::BAD_REQUEST,
        };
        Self::new(kind, rejection.body_text())
    }
}

/// Status and headers; [`finish`] writes the body.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.kind.status().into_response();
        let headers = response.headers_mut();
        let soon = match self.kind {
            Kind::UNAVAILABLE | Kind::BUSY | Kind::TIMED_OUT => Some(5),
            _ => self.retry_after.map(NonZeroU64::get),
        };
        if let Some(seconds) = soon {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.kind == Kind::UNAUTHENTICATED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the body of a response that carries a problem.
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
