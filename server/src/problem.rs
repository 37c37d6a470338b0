//! Errors of the API as RFC 9457 problem details.
//!
//! Handlers return a [`Problem`]; the one conversion from the engine's error is
//! here too. [`finish`] writes the body as every response passes it on its way
//! out, because only there the request id is known.

use axum::body::Body;
use axum::extract::rejection::PathRejection;
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
    retry_after: Option<u64>,
    /// The invalid fields of a configuration.
    problems: Vec<BadConfig>,
}

/// The kind of a problem; `type` in the body is `urn:swe-ci:problem:` and its
/// name.
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
    /// The invalid parameter, if that is the problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<String>,
    /// Every invalid field of a configuration, if that is the problem.
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

    /// Its name and its title.
    fn named(self) -> [&'static str; 2] {
        match self {
            Self::BadRequest => ["bad-request", "The request is invalid"],
            Self::BadParameter => ["bad-parameter", "A parameter is invalid"],
            Self::Unauthenticated => ["unauthenticated", "Authentication is required"],
            Self::Forbidden => ["forbidden", "The account may not do this"],
            Self::TooMany => ["too-many", "Too many tries"],
            Self::NotFound => ["not-found", "Not found"],
            Self::NoSuchAddress => ["no-such-address", "There is no such address"],
            Self::MethodNotAllowed => {
                let title = "The address does not support this method";
                ["method-not-allowed", title]
            }
            Self::Conflict => ["conflict", "Conflict with the current state"],
            Self::TooLarge => ["too-large", "The request is too large"],
            Self::Internal => ["internal", "Internal server error"],
            Self::Unavailable => ["unavailable", "A dependency of the server does not answer"],
            Self::TimedOut => ["timed-out", "The request timed out"],
        }
    }
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
            ..Self::new(Kind::BadParameter, detail)
        }
    }

    pub(crate) fn no_such_address(path: &str) -> Self {
        let detail = format!("nothing is at `{path}`; /api/v1/openapi.json lists the addresses");
        Self::new(Kind::NoSuchAddress, detail)
    }

    pub(crate) fn method_not_allowed(method: &str) -> Self {
        let detail = format!(
            "this address does not support {method}; the `allow` header names the supported methods"
        );
        Self::new(Kind::MethodNotAllowed, detail)
    }

    pub(crate) fn too_large(limit_bytes: usize) -> Self {
        let detail = format!("a request body may have at most {limit_bytes} bytes");
        Self::new(Kind::TooLarge, detail)
    }

    pub(crate) fn timed_out(seconds: u64) -> Self {
        let detail = format!("no response was ready after {seconds} seconds; try again later");
        Self::new(Kind::TimedOut, detail)
    }

    /// Another site made a browser send the request, with the cookies of this
    /// site.
    pub(crate) fn cross_site() -> Self {
        let detail = "the request does not come from a page of this site; a program must send an API token, and no cookie";
        Self::new(Kind::Forbidden, detail.into())
    }

    /// The operator has closed the site to visitors.
    pub(crate) fn closed() -> Self {
        let detail = "this site is closed to visitors; send an API token";
        Self::new(Kind::Unauthenticated, detail.into())
    }

    /// A body that this address does not accept.
    pub(crate) fn unreadable(detail: String) -> Self {
        Self::new(Kind::BadRequest, detail)
    }

    /// The cause is in the log; the client gets only the request id.
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

    /// A dependency of the server does not answer, whatever kind the engine's
    /// error has.
    pub(crate) fn not_ready(error: Error) -> Self {
        let mut problem = Self::from(error);
        if problem.kind == Kind::Internal {
            problem.detail = "the database does not answer; the server's log has the reason".into();
        }
        problem.kind = Kind::Unavailable;
        problem
    }

    fn body(self, request_id: &str) -> ProblemBody {
        let failed = "the server failed; its log has the reason under request id";
        let detail = match self.kind {
            Kind::Internal => format!("{failed} {request_id}"),
            _ => self.detail,
        };
        let [name, title] = self.kind.named();
        ProblemBody {
            kind: format!("urn:swe-ci:problem:{name}"),
            title,
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
            Error::Internal(_) => {
                tracing::error!(error = chain(&error), "a request failed");
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

/// The error's text lists the figures.
impl From<NoSuchFigure> for Problem {
    fn from(error: NoSuchFigure) -> Self {
        Self::new(Kind::NotFound, error.to_string())
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

/// An error with its causes, for logs and terminals.
pub(crate) fn chain(error: &Error) -> String {
    match error {
        Error::Internal(cause) => format!("{cause:#}"),
        other => other.to_string(),
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
