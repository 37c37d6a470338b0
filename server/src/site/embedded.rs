//! The site inside the program, so that one file is the whole installation.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// The encodings that the build has made, best first, and the ends of their
/// files' names.
const ENCODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// Finds the content of the file at a path.
pub(super) type Find = fn(&str) -> Option<Cow<'static, [u8]>>;

/// The folder that `make dist` builds before the program.
#[cfg(feature = "embedded-site")]
#[derive(rust_embed::Embed)]
#[folder = "../dist/site"]
struct Folder;

#[cfg(feature = "embedded-site")]
pub(super) fn find(path: &str) -> Option<Cow<'static, [u8]>> {
    Folder::get(path).map(|file| file.data)
}

/// Answers as `ServeDir` does for a folder, without ranges and validators: each
/// file is either kept for ever by its hashed path, or a few hundred bytes.
pub(super) fn response(find: Find, request: &Parts) -> Response {
    if ![Method::GET, Method::HEAD].contains(&request.method) {
        let allow = [(header::ALLOW, HeaderValue::from_static("GET,HEAD"))];
        return (StatusCode::METHOD_NOT_ALLOWED, allow).into_response();
    }
    let path = request.uri.path().trim_start_matches('/');
    let compressed = ENCODINGS
        .into_iter()
        .filter(|(encoding, _)| accepts(&request.headers, encoding))
        .find_map(|(encoding, end)| Some((find(&format!("{path}{end}"))?, Some(encoding))));
    let Some((content, encoding)) = compressed.or_else(|| Some((find(path)?, None))) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = mime_guess::from_path(path).first_or_octet_stream();
    let kind = [(header::CONTENT_TYPE, kind.to_string())];
    let encoding = encoding.map(|encoding| [(header::CONTENT_ENCODING, encoding)]);
    let length = [(header::CONTENT_LENGTH, content.len().to_string())];
    let body = match request.method {
        Method::HEAD => Body::empty(),
        _ => Body::from(content),
    };
    (kind, encoding, length, body).into_response()
}

/// Whether the client takes this encoding; a weight of zero refuses it.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let given = headers.get_all(header::ACCEPT_ENCODING).into_iter();
    let lists = given.filter_map(|value| value.to_str().ok());
    let mut offers = lists.flat_map(|list| list.split(','));
    offers.any(|offer| {
        let (name, weight) = offer.split_once(';').unwrap_or((offer, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        name.trim().eq_ignore_ascii_case(encoding)
            && weight.trim().parse().is_ok_and(|weight: f32| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::http::Request;

    use super::*;

    fn files(path: &str) -> Option<Cow<'static, [u8]>> {
        let content: &[u8] = match path {
            "pkg/0123abcd/swe-ci.css" => b"plain",
            "pkg/0123abcd/swe-ci.css.br" => b"brotli",
            "pkg/0123abcd/swe-ci.css.gz" => b"gzip",
            "robots.txt" => b"robots",
            _ => return None,
        };
        Some(content.into())
    }

    async fn answer(method: Method, path: &str, accepted: &str) -> (Response<()>, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::ACCEPT_ENCODING, accepted)
            .body(())
            .unwrap();
        let (response, body) = response(files, &request.into_parts().0).into_parts();
        let body = to_bytes(body, 100).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        (Response::from_parts(response, ()), body)
    }

    #[tokio::test]
    async fn a_client_gets_the_smallest_variant_that_it_accepts() {
        for (accepted, expect) in [
            ("gzip, deflate, br, zstd", "brotli"),
            ("gzip, br;q=0", "gzip"),
            ("GZIP;q=0.5", "gzip"),
            ("gzip;q=0", "plain"),
            ("", "plain"),
        ] {
            let path = "/pkg/0123abcd/swe-ci.css";
            let (response, body) = answer(Method::GET, path, accepted).await;
            assert_eq!(body, expect, "{accepted}");
            assert_eq!(response.headers()[header::CONTENT_TYPE], "text/css");
            let encoding = response.headers().get(header::CONTENT_ENCODING);
            assert_eq!(encoding.is_none(), expect == "plain", "{accepted}");
        }
    }

    #[tokio::test]
    async fn other_requests_are_answered_as_for_a_folder() {
        let (response, body) = answer(Method::HEAD, "/robots.txt", "br").await;
        assert_eq!((response.status(), &*body), (StatusCode::OK, ""));
        assert_eq!(response.headers()[header::CONTENT_LENGTH], "6");
        let (response, _) = answer(Method::GET, "/../robots.txt", "").await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        let (response, _) = answer(Method::POST, "/robots.txt", "").await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(response.headers()[header::ALLOW], "GET,HEAD");
    }
}
