//! Entity tags for the answers of the API that no cache has: a program that asks
//! again with the tag gets 304 and no body where nothing has changed.

use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::problem::Problem;

/// Hashing this much does not hold up others.
const MAX_BYTES: u64 = 1 << 20;

/// Tags what is read from the API, if it is JSON or CSV and has no tag yet.
pub(super) async fn tag(request: Request, next: Next) -> Response {
    let reads = request.method() == Method::GET && request.uri().path().starts_with("/api/v1/");
    if !reads {
        return next.run(request).await;
    }
    let request_headers = request.headers().clone();
    let response = next.run(request).await;
    if !is_taggable(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Ok(body) = to_bytes(body, MAX_BYTES as usize).await else {
        return Problem::internal().into_response();
    };
    let digest = BASE64_STANDARD.encode(&Sha256::digest(&body)[..12]);
    // Weak, because the same answer may be compressed on its way.
    let Ok(etag) = HeaderValue::from_str(&format!("W/\"{digest}\"")) else {
        return Response::from_parts(head, body.into());
    };
    let unchanged = is_known(&request_headers, &etag);
    head.headers.insert(ETAG, etag);
    head.headers
        .insert(VARY, HeaderValue::from_static("cookie, authorization"));
    if unchanged {
        head.status = StatusCode::NOT_MODIFIED;
        head.headers.remove(CONTENT_TYPE);
        head.headers.remove(CONTENT_LENGTH);
        return Response::from_parts(head, Body::empty());
    }
    Response::from_parts(head, body.into())
}

/// Streams have no size.
fn is_taggable(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    response.status() == StatusCode::OK
        && !response.headers().contains_key(ETAG)
        && ["application/json", "text/csv"]
            .iter()
            .any(|it| kind.starts_with(it))
        && response
            .body()
            .size_hint()
            .exact()
            .is_some_and(|size| size <= MAX_BYTES)
}

/// Whether the client names this tag as one it has. Tags are compared weakly, as
/// RFC 9110 says of If-None-Match.
pub(super) fn is_known(request_headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let Ok(etag) = etag.to_str().map(strong) else {
        return false;
    };
    let lists = request_headers.get_all(IF_NONE_MATCH).iter();
    let mut tags = lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','));
    tags.any(|tag| strong(tag) == etag)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::header::CACHE_CONTROL;
    use axum::middleware::from_fn;
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    async fn ask(path: &str, known: Option<&HeaderValue>) -> Response {
        let json = || async { ([(CACHE_CONTROL, "no-store")], axum::Json(["a"])) };
        let large = || async { axum::Json("a".repeat(MAX_BYTES as usize)) };
        let stream = || async {
            let body = Body::from_stream(futures::stream::iter([Ok::<_, std::io::Error>("a")]));
            ([(CONTENT_TYPE, "application/json")], body)
        };
        let failed = || async { (StatusCode::NOT_FOUND, axum::Json(["a"])) };
        let router = Router::new()
            .route("/api/v1/list", get(json))
            .route("/api/v1/large", get(large))
            .route("/api/v1/stream", get(stream))
            .route("/api/v1/failed", get(failed))
            .route("/list", get(json))
            .layer(from_fn(tag));
        let mut request = Request::get(path);
        if let Some(known) = known {
            request = request.header(IF_NONE_MATCH, known);
        }
        let request = request.body(Body::empty()).unwrap();
        router.oneshot(request).await.unwrap()
    }

    #[tokio::test]
    async fn an_unchanged_list_has_no_body() {
        let first = ask("/api/v1/list", None).await;
        let etag = first.headers()[ETAG].clone();
        assert_eq!(first.status(), StatusCode::OK);
        let again = ask("/api/v1/list", Some(&etag)).await;
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(again.headers()[ETAG], etag);
        assert_eq!(again.headers()[CACHE_CONTROL], "no-store");
        assert!(to_bytes(again.into_body(), 10).await.unwrap().is_empty());
        let other = HeaderValue::from_static("W/\"other\", \"and another\"");
        assert_eq!(
            ask("/api/v1/list", Some(&other)).await.status(),
            StatusCode::OK
        );
    }

    #[tokio::test]
    async fn only_small_whole_answers_of_the_api_are_tagged() {
        for path in ["/api/v1/large", "/api/v1/stream", "/api/v1/failed", "/list"] {
            let response = ask(path, None).await;
            assert!(!response.headers().contains_key(ETAG), "{path}");
        }
    }
}
