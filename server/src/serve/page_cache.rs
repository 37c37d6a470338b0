//! Caches responses that depend only on their address and the data: the server
//! renders, compresses and hashes each once for every state of the data. Later
//! requests get the same bytes, or 304.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use swe_ci_engine::Engine;
use swe_ci_views::account::Actor;

use super::etags::is_known;
use crate::extract::actor;
use crate::headers;
use crate::problem::Problem;
use crate::site::Site;

/// The cache's capacity in bytes.
const CAPACITY: u64 = 128 << 20;
const MAX_RESPONSES: usize = 4_096;
/// The largest response to cache.
const MAX_BYTES: usize = 64 << 20;

/// Beginnings of paths whose responses depend only on the data. Those of runs do
/// when the run is over: see [`run_of`].
const CACHED_PATHS: &[&str] = &[
    "/figures",
    "/compare",
    "/tasks",
    "/matrix",
    "/handover",
    "/snapshots",
    "/models/",
    "/about",
    "/embed/",
    "/feed.xml",
    "/sitemap.xml",
    "/robots.txt",
    "/api/v1/leaderboard",
    "/api/v1/plots/",
    "/api/v1/compare",
    "/api/v1/matrix",
    "/api/v1/handovers",
    "/api/v1/snapshots",
];

/// The cached responses. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct PageCache {
    engine: Engine,
    site: Site,
    responses: Arc<Cache<Key, Arc<CachedResponse>, Size>>,
}

/// Everything a response depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    address: String,
    /// The state of the data.
    changes: i64,
    /// Citations contain the date of access.
    day: String,
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Key, Arc<CachedResponse>> for Size {
    fn weight(&self, key: &Key, answer: &Arc<CachedResponse>) -> u64 {
        let compressed = answer.compressed.as_ref();
        let compressed = compressed.map_or(0, |both| both.gzip.len() + both.brotli.len());
        let bytes = answer.plain.len() + compressed;
        (key.address.len() + bytes) as u64
    }
}

impl PageCache {
    pub(super) fn new(engine: Engine, site: Site) -> Self {
        Self {
            engine,
            site,
            responses: Arc::new(Cache::with_weighter(MAX_RESPONSES, CAPACITY, Size)),
        }
    }

    /// The state of the data if the response at this path depends on nothing else.
    /// `None` also without a database: the handler's own error is the most useful.
    async fn state_of_data(&self, path: &str) -> Option<i64> {
        let is_cached = match run_of(path) {
            // Asked for each request, before the cache: a run that is hidden now
            // never comes from it.
            Some(run) => self.engine.is_settled(run).await.ok()?,
            None => is_cached(path),
        };
        // Runs and models show the losses that were read of reports.
        let has_losses = path.starts_with("/runs/") || path.starts_with("/models/");
        match (is_cached, has_losses) {
            (false, _) => None,
            (true, true) => self.engine.changes_and_digests().await.ok(),
            (true, false) => self.engine.changes().await.ok(),
        }
    }
}

/// Returns a cached response, or caches the handler's.
pub(super) async fn serve_cached(
    State(cache): State<PageCache>,
    request: Request,
    next: Next,
) -> Response {
    // The cache has only what visitors see.
    let visits = actor(request.extensions()) == Actor::Visitor;
    // Pages without their scripts are for the minutes of a first build.
    let visits = visits && cache.site.has_scripts();
    if !visits || request.method() != Method::GET {
        return next.run(request).await;
    }
    let Some(changes) = cache.state_of_data(request.uri().path()).await else {
        return next.run(request).await;
    };
    let request_headers = request.headers().clone();
    let address = request.uri().path_and_query().map(ToString::to_string);
    let key = Key {
        address: address.unwrap_or_default(),
        changes,
        day: cache.engine.today(),
    };
    match cache.responses.get_value_or_guard_async(&key).await {
        Ok(answer) => answer.to(&request_headers),
        Err(guard) => match CachedResponse::from_response(next.run(request).await).await {
            Ok(answer) => {
                let answer = Arc::new(answer);
                // The insertion fails if the cache was emptied meanwhile; this
                // reader gets the response anyway.
                let _ = guard.insert(answer.clone());
                answer.to(&request_headers)
            }
            Err(response) => response,
        },
    }
}

/// The run that a page shows. The server reads recordings when somebody first
/// asks for trajectories, and judges answer one by one, so these pages change
/// without the data.
fn run_of(path: &str) -> Option<&str> {
    let mut parts = path.strip_prefix("/runs/")?.split('/');
    let run = parts.next()?;
    let grows = matches!(parts.next(), Some("trajectories" | "search" | "judgements"));
    (!grows).then_some(run)
}

fn is_cached(path: &str) -> bool {
    // The content of a snapshot is long, seldom asked for, and compressed best as it goes.
    let is_content = path.starts_with("/api/v1/snapshots/") && path.ends_with("/content");
    let is_listed = || CACHED_PATHS.iter().any(|start| path.starts_with(start));
    matches!(path, "/" | "/runs") || (!is_content && is_listed())
}

/// A complete response in every encoding.
#[derive(Debug)]
struct CachedResponse {
    content_type: HeaderValue,
    /// The file name for downloads.
    disposition: Option<HeaderValue>,
    policy: Option<HeaderValue>,
    digest: String,
    plain: Bytes,
    /// `None` for content that is compressed by nature.
    compressed: Option<Compressed>,
}

#[derive(Debug)]
struct Compressed {
    gzip: Bytes,
    brotli: Bytes,
}

impl CachedResponse {
    /// The cacheable parts of a response; the response itself if it is not a
    /// plain success.
    async fn from_response(response: Response) -> Result<Self, Response> {
        let content_type = response.headers().get(CONTENT_TYPE).cloned();
        let (StatusCode::OK, Some(content_type)) = (response.status(), content_type) else {
            return Err(response);
        };
        let (head, body) = response.into_parts();
        let Ok(body) = to_bytes(body, MAX_BYTES).await else {
            return Err(Problem::internal().into_response());
        };
        let make = move || Self::make(content_type, &head.headers, body);
        match tokio::task::spawn_blocking(make).await {
            Ok(Ok(answer)) => Ok(answer),
            _ => Err(Problem::internal().into_response()),
        }
    }

    /// Blocks while it compresses.
    fn make(content_type: HeaderValue, head: &HeaderMap, body: Bytes) -> std::io::Result<Self> {
        let policy = head.get(CONTENT_SECURITY_POLICY).cloned();
        let nonce = policy.as_ref().and_then(nonce_of);
        let (plain, policy) = match nonce {
            Some(nonce) => {
                let (page, hashes) = without_nonce(&String::from_utf8_lossy(&body), &nonce);
                (Bytes::from(page), headers::cached_page_policy(&hashes))
            }
            None => (body, policy),
        };
        Ok(Self {
            disposition: head.get(CONTENT_DISPOSITION).cloned(),
            policy,
            digest: BASE64_STANDARD.encode(&Sha256::digest(&plain)[..12]),
            compressed: match is_compressed(&content_type) {
                true => None,
                false => Some(Compressed {
                    gzip: gzip(&plain)?,
                    brotli: brotli(&plain)?,
                }),
            },
            content_type,
            plain,
        })
    }

    /// The response in the best encoding the client accepts.
    fn to(&self, request_headers: &HeaderMap) -> Response {
        let (encoding, body) = match (&self.compressed, accepted(request_headers)) {
            (Some(compressed), Some("br")) => (Some("br"), &compressed.brotli),
            (Some(compressed), Some("gzip")) => (Some("gzip"), &compressed.gzip),
            _ => (None, &self.plain),
        };
        let etag = format!("\"{}.{}\"", self.digest, encoding.unwrap_or("plain"));
        let etag = HeaderValue::from_str(&etag).ok();
        let unchanged = etag
            .as_ref()
            .is_some_and(|etag| is_known(request_headers, etag));
        let mut response = match unchanged {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => Response::new(Body::from(body.clone())),
        };
        let headers = response.headers_mut();
        let vary = match self.compressed {
            Some(_) => "accept-encoding, cookie, authorization",
            None => "cookie, authorization",
        };
        headers.insert(VARY, HeaderValue::from_static(vary));
        if let Some(etag) = etag {
            headers.insert(ETAG, etag);
        }
        if let Some(policy) = &self.policy {
            headers.insert(CONTENT_SECURITY_POLICY, policy.clone());
        }
        if unchanged {
            return response;
        }
        headers.insert(CONTENT_TYPE, self.content_type.clone());
        if let Some(disposition) = &self.disposition {
            headers.insert(CONTENT_DISPOSITION, disposition.clone());
        }
        headers.insert(CONTENT_LENGTH, body.len().into());
        if let Some(encoding) = encoding {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

/// Whether another compression would only make it larger.
fn is_compressed(content_type: &HeaderValue) -> bool {
    content_type.as_bytes().starts_with(b"image/png")
}

/// The best encoding a client accepts.
fn accepted(request_headers: &HeaderMap) -> Option<&'static str> {
    let lists = request_headers.get_all(ACCEPT_ENCODING).iter();
    let names: Vec<&str> = lists
        .filter_map(|list| list.to_str().ok())
        .flat_map(|list| list.split(','))
        .filter_map(|item| {
            let (name, weight) = item.split_once(';').unwrap_or((item, ""));
            let refused = ["q=0", "q=0.0", "q=0.00", "q=0.000"].contains(&weight.trim());
            (!refused).then(|| name.trim())
        })
        .collect();
    ["br", "gzip"].into_iter().find(|e| names.contains(e))
}

/// The nonce in a page's policy.
fn nonce_of(policy: &HeaderValue) -> Option<String> {
    let policy = policy.to_str().ok()?;
    let (_, rest) = policy.split_once("'nonce-")?;
    let (nonce, _) = rest.split_once('\'')?;
    Some(nonce.to_owned())
}

/// The page without the nonce of one response, and the hashes that allow its
/// inline scripts instead.
fn without_nonce(page: &str, nonce: &str) -> (String, Vec<String>) {
    let page = page.replace(&format!(" nonce=\"{nonce}\""), "");
    let mut hashes = Vec::new();
    let mut rest = page.as_str();
    while let Some((_, tag)) = rest.split_once("<script") {
        let Some((attributes, inside)) = tag.split_once('>') else {
            break;
        };
        let Some((script, after)) = inside.split_once("</script>") else {
            break;
        };
        if !attributes.contains(" src=") {
            let hash = BASE64_STANDARD.encode(Sha256::digest(script.as_bytes()));
            hashes.push(format!("'sha256-{hash}'"));
        }
        rest = after;
    }
    hashes.sort_unstable();
    hashes.dedup();
    (page, hashes)
}

fn gzip(plain: &[u8]) -> std::io::Result<Bytes> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(plain)?;
    Ok(encoder.finish()?.into())
}

fn brotli(plain: &[u8]) -> std::io::Result<Bytes> {
    let mut compressed = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 6,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*plain, &mut compressed, &parameters)?;
    Ok(compressed.into())
}

#[cfg(test)]
mod tests {
    use axum::http::header::IF_NONE_MATCH;

    use super::*;

    #[test]
    fn nonces_give_way_to_hashes() {
        let page = r#"<script nonce="n1">let a = 1;</script><script type="module" nonce="n1" src="/x.js"></script>
            <link nonce="n1"><script nonce="n1">let a = 1;</script><script nonce="n1">b()</script>"#;
        let (page, hashes) = without_nonce(page, "n1");
        assert!(!page.contains("nonce"));
        assert_eq!(hashes.len(), 2);
        assert!(hashes.contains(&format!("'sha256-{HASH_A}'")));
    }

    /// `printf 'let a = 1;' | openssl dgst -sha256 -binary | base64`
    const HASH_A: &str = "xY6QKfH9PRsQnLz56nj6MBwiK5oHg+im1Jkpdp1x/Ck=";

    #[test]
    fn the_best_accepted_encoding() {
        let check = |given: &str, expect: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, given.parse().unwrap());
            assert_eq!(accepted(&headers), expect, "{given}");
        };
        check("gzip, deflate, br", Some("br"));
        check("gzip;q=1.0, br;q=0", Some("gzip"));
        check("deflate", None);
        check("", None);
        assert_eq!(accepted(&HeaderMap::new()), None);
    }

    #[tokio::test]
    async fn every_encoding_has_the_same_content() {
        let body = "ä page ".repeat(1_000);
        let response = ([(CONTENT_TYPE, "text/html; charset=utf-8")], body.clone());
        let answer = CachedResponse::from_response(response.into_response())
            .await
            .unwrap();
        let mut unpacked = Vec::new();
        let compressed = answer.compressed.as_ref().unwrap();
        brotli::BrotliDecompress(&mut compressed.brotli.as_ref(), &mut unpacked).unwrap();
        assert_eq!(unpacked, body.as_bytes());
        let mut text = String::new();
        let mut decoder = flate2::read::GzDecoder::new(compressed.gzip.as_ref());
        std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
        assert_eq!(text, body);

        let mut request_headers = HeaderMap::new();
        request_headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("br"));
        let first = answer.to(&request_headers);
        assert_eq!(first.headers()[CONTENT_ENCODING], "br");
        request_headers.insert(IF_NONE_MATCH, first.headers()[ETAG].clone());
        assert_eq!(
            answer.to(&request_headers).status(),
            StatusCode::NOT_MODIFIED
        );
        // Another encoding is another representation.
        request_headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        assert_eq!(answer.to(&request_headers).status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_png_is_cached_uncompressed() {
        let bytes = b"\x89PNG\r\n\x1a\n\xff\0".repeat(100);
        let response = ([(CONTENT_TYPE, "image/png")], bytes.clone());
        let answer = CachedResponse::from_response(response.into_response())
            .await
            .unwrap();
        let mut request_headers = HeaderMap::new();
        request_headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br"));
        let given = answer.to(&request_headers);
        assert!(given.headers().get(CONTENT_ENCODING).is_none());
        assert_eq!(given.headers()[VARY], "cookie, authorization");
        request_headers.insert(IF_NONE_MATCH, given.headers()[ETAG].clone());
        assert_eq!(to_bytes(given.into_body(), MAX_BYTES).await.unwrap(), bytes);
        assert_eq!(
            answer.to(&request_headers).status(),
            StatusCode::NOT_MODIFIED
        );
    }

    #[tokio::test]
    async fn errors_are_not_cached() {
        let missing = (StatusCode::NOT_FOUND, [(CONTENT_TYPE, "text/html")], "no");
        let response = CachedResponse::from_response(missing.into_response())
            .await
            .unwrap_err();
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn cached_paths() {
        for path in [
            "/",
            "/runs",
            "/tasks/a",
            "/figures",
            "/api/v1/leaderboard.csv",
            "/api/v1/plots/solved.png",
        ] {
            assert!(is_cached(path), "{path}");
        }
        for path in ["/runs/x", "/api/v1/runs", "/pkg/x.js", "/health/ready"] {
            assert!(!is_cached(path), "{path}");
        }
        for path in ["/runs/x", "/runs/x/tasks/t", "/runs/x/e/1/architect"] {
            assert_eq!(run_of(path), Some("x"), "{path}");
        }
        for path in [
            "/runs",
            "/runs/x/trajectories",
            "/runs/x/judgements",
            "/runs/x/search/",
            "/tasks/x",
        ] {
            assert_eq!(run_of(path), None, "{path}");
        }
    }
}
