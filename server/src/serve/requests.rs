//! The layers of every request: its id, its log line, limits on time and size,
//! the headers of its response, and the conversion of a panic.

use std::any::Any;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use http_body_util::Limited;
use swe_ci_engine::MOST_ARCHIVE_BYTES;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::trace::TraceLayer;
use tracing::Span;
use uuid::Uuid;

use crate::headers;
use crate::problem::{self, Problem};

/// The time limit until the response's head; streams may last longer.
const MAX_SECONDS: u64 = 30;
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// The address that takes archives, and its limits.
const UPLOADS: &str = "/api/v1/submissions";
const UPLOAD_PATIENCE: Duration = Duration::from_hours(1);

const INVITATION: &str = "/invitation/";

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a connection may ask for, by the limit on connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Admission {
    Everything,
    /// It is one too many.
    ProbesOnly,
}

/// Identifies a request in its response and in the log.
#[derive(Debug, Clone)]
struct RequestId(String);

pub(crate) fn layers(router: Router) -> Router {
    layers_within(router, Duration::from_secs(MAX_SECONDS))
}

/// The innermost layer comes first.
fn layers_within(router: Router, patience: Duration) -> Router {
    let trace = TraceLayer::new_for_http()
        .make_span_with(span)
        .on_request(())
        .on_response(log_response)
        .on_failure(());
    router
        .layer(from_fn(limit_body))
        .layer(from_fn(move |request: Request, next| {
            let patience = match is_upload(&request) {
                true => UPLOAD_PATIENCE,
                false => patience,
            };
            within(patience, request, next)
        }))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(refuse_beyond_limit))
        .layer(CompressionLayer::new().compress_when(worth_compressing()))
        .layer(from_fn(headers::secure))
        .layer(trace)
        .layer(from_fn(identify))
}

/// Leaves alone small responses, compressed ones, pictures and event streams.
fn worth_compressing() -> impl Predicate {
    DefaultPredicate::new().and(NotForContentType::const_new("application/gzip"))
}

/// Assigns the request's id, and writes it to the response.
async fn identify(mut request: Request, next: Next) -> Response {
    let id = RequestId::from_headers(request.headers());
    let most = most_bytes(&request);
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    if response.status() == StatusCode::PAYLOAD_TOO_LARGE {
        response.extensions_mut().insert(Problem::too_large(most));
    }
    let mut response = problem::finish(response, &id.0);
    if let Ok(value) = HeaderValue::from_str(&id.0) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
}

impl RequestId {
    /// The proxy's id, if it is short and plain enough to repeat in logs; else
    /// a new one.
    fn from_headers(headers: &HeaderMap) -> Self {
        let given = headers.get(X_REQUEST_ID).and_then(|id| id.to_str().ok());
        let plain = |id: &&str| {
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
            (1..=128).contains(&id.len()) && id.bytes().all(is_plain)
        };
        let given = given.filter(plain).map(str::to_owned);
        Self(given.unwrap_or_else(|| Uuid::now_v7().to_string()))
    }
}

/// At level `error`, so that with any filter a log line names its request.
/// Probes have no span: see [`log_response`].
fn span<B>(request: &axum::http::Request<B>) -> Span {
    let path = request.uri().path();
    if is_probe(path) {
        return Span::none();
    }
    let id = request.extensions().get::<RequestId>();
    tracing::error_span!(
        "request",
        id = id.map(|id| id.0.as_str()),
        method = %request.method(),
        path = without_secret(path),
    )
}

fn is_probe(path: &str) -> bool {
    path.starts_with("/health/")
}

/// The path of an invitation is itself a secret.
fn without_secret(path: &str) -> &str {
    match path.starts_with(INVITATION) {
        true => INVITATION,
        false => path,
    }
}

fn log_response<B>(response: &axum::http::Response<B>, latency: Duration, span: &Span) {
    let status = response.status().as_u16();
    let ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
    if span.is_none() {
        tracing::debug!(status, ms, "answered a probe");
    } else if status >= 500 {
        tracing::warn!(status, ms, "answered");
    } else {
        tracing::info!(status, ms, "answered");
    }
}

fn is_upload(request: &Request) -> bool {
    request.method() == Method::POST && request.uri().path() == UPLOADS
}

fn most_bytes(request: &Request) -> usize {
    match is_upload(request) {
        true => usize::try_from(MOST_ARCHIVE_BYTES).unwrap_or(usize::MAX),
        false => MAX_BODY_BYTES,
    }
}

async fn limit_body(request: Request, next: Next) -> Response {
    let most = most_bytes(&request);
    let announced = request.headers().get(CONTENT_LENGTH);
    let announced = announced.and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > most) {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    }
    let limited = request.map(|body| Body::new(Limited::new(body, most)));
    next.run(limited).await
}

async fn within(patience: Duration, request: Request, next: Next) -> Response {
    match tokio::time::timeout(patience, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Problem::timed_out(patience.as_secs()).into_response(),
    }
}

async fn refuse_beyond_limit(request: Request, next: Next) -> Response {
    let beyond = request.extensions().get() == Some(&Admission::ProbesOnly);
    match beyond && !is_probe(request.uri().path()) {
        true => Problem::too_many_connections().into_response(),
        false => next.run(request).await,
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tower-http requires this signature"
)]
fn panicked(cause: Box<dyn Any + Send>) -> Response {
    let text = cause.downcast_ref::<&str>().copied();
    let text = text.or_else(|| cause.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("?"), "a request failed");
    Problem::internal().into_response()
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::routing::{get, post};
    use tower::ServiceExt;

    use super::*;

    async fn ask(request: Request) -> (StatusCode, HeaderMap, serde_json::Value) {
        let router = Router::new()
            .route("/panic", get(|| async { panic!("a secret") as () }))
            .route("/slow", get(std::future::pending::<()>))
            .route("/echo", post(|body: String| async { body }));
        let router = layers_within(router, Duration::from_millis(20));
        let response = router.oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let json = serde_json::from_slice(&bytes).unwrap_or_default();
        (parts.status, parts.headers, json)
    }

    fn at(path: &str) -> axum::http::request::Builder {
        Request::builder().uri(path)
    }

    #[tokio::test]
    async fn a_panic_is_a_problem_without_its_text() {
        let request = at("/panic").header("x-request-id", "from-proxy.1");
        let (status, headers, problem) = ask(request.body(Body::empty()).unwrap()).await;
        assert_eq!(status, 500);
        assert_eq!(headers["x-request-id"], "from-proxy.1");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(problem["instance"], "from-proxy.1");
        assert_eq!(problem["type"], "urn:swe-ci:problem:internal");
        assert!(!problem.to_string().contains("secret"));
    }

    #[tokio::test]
    async fn slow_requests_time_out() {
        let (status, headers, problem) = ask(at("/slow").body(Body::empty()).unwrap()).await;
        assert_eq!(
            (status.as_u16(), &headers["retry-after"]),
            (503, &"5".parse().unwrap())
        );
        assert_eq!(problem["type"], "urn:swe-ci:problem:timed-out");
    }

    #[tokio::test]
    async fn a_large_body_is_refused() {
        let send = |bytes: usize| {
            let request = at("/echo").method("POST").header("content-length", bytes);
            ask(request.body(Body::from("x".repeat(bytes))).unwrap())
        };
        assert_eq!(send(MAX_BODY_BYTES).await.0, 200);
        let (status, _, problem) = send(MAX_BODY_BYTES + 1).await;
        assert_eq!((status.as_u16(), &problem["status"]), (413, &413.into()));
    }

    #[test]
    fn invitations_are_not_logged() {
        assert_eq!(without_secret("/invitation/abc"), "/invitation/");
        assert_eq!(without_secret("/invitations"), "/invitations");
        assert_eq!(without_secret("/"), "/");
    }

    #[test]
    fn only_plain_request_ids_are_accepted() {
        let check = |given: &str, taken: bool| {
            let mut headers = HeaderMap::new();
            headers.insert(X_REQUEST_ID, given.parse().unwrap());
            let id = RequestId::from_headers(&headers).0;
            assert_eq!(id == given, taken, "{given}");
            assert!(taken || Uuid::parse_str(&id).is_ok_and(|id| id.get_version_num() == 7));
        };
        check("0192-ab_C.9", true);
        check("", false);
        check("a b", false);
        check("a\"b", false);
        check(&"x".repeat(129), false);
    }
}
