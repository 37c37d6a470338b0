//! Answers that are a function of their address and the data are made once
//! for every state of the data: rendered, compressed, hashed. Everybody else
//! is given the same bytes, or told that nothing has changed.

use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_LENGTH,
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use swe_ci_core::account::Actor;
use swe_ci_engine::Engine;

use super::headers;
use crate::api::Problem;
use crate::auth;

/// Bytes of answers that are kept.
const ROOM: u64 = 128 << 20;
const ANSWERS: usize = 4_096;
/// No answer is larger.
const MAX_BYTES: usize = 64 << 20;

/// Addresses whose answers follow from the data alone. Pages of runs show the
/// steps in between as well and are made for everyone who asks.
const KEPT: &[&str] = &[
    "/figures",
    "/compare",
    "/tasks",
    "/matrix",
    "/models/",
    "/about",
    "/embed/",
    "/feed.xml",
    "/sitemap.xml",
    "/robots.txt",
    "/api/v1/leaderboard",
    "/api/v1/plots/",
    "/api/v1/compare",
    "/og/",
    "/api/v1/matrix",
    "/api/pages/sheet",
    "/api/pages/matrix",
];

/// The answers kept. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    engine: Engine,
    answers: Arc<Cache<Key, Arc<Answer>, Size>>,
}

/// What an answer is a function of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    address: String,
    /// The state of the data.
    changes: i64,
    /// What is cited says when it was looked at.
    day: String,
}

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Key, Arc<Answer>> for Size {
    fn weight(&self, key: &Key, answer: &Arc<Answer>) -> u64 {
        let packed = answer.packed.as_ref();
        let packed = packed.map_or(0, |packed| packed.gzip.len() + packed.brotli.len());
        let bytes = answer.plain.len() + packed;
        (key.address.len() + bytes) as u64
    }
}

impl Kept {
    pub(super) fn new(engine: Engine) -> Self {
        Self {
            engine,
            answers: Arc::new(Cache::with_weighter(ANSWERS, ROOM, Size)),
        }
    }
}

/// Answers from what is kept, or keeps what is answered.
pub(super) async fn keep(State(kept): State<Kept>, request: Request, next: Next) -> Response {
    // What is kept is what visitors are shown.
    let visits = auth::actor(request.extensions()) == Actor::Visitor;
    if !visits || request.method() != Method::GET || !is_kept(request.uri().path()) {
        return next.run(request).await;
    }
    // Without a database there is no state of the data to keep it for; what
    // was asked for says best what is wrong.
    let Ok(changes) = kept.engine.changes().await else {
        return next.run(request).await;
    };
    let asked = request.headers().clone();
    let address = request.uri().path_and_query().map(ToString::to_string);
    let key = Key {
        address: address.unwrap_or_default(),
        changes,
        day: kept.engine.today(),
    };
    match kept.answers.get_value_or_guard_async(&key).await {
        Ok(answer) => answer.to(&asked),
        Err(guard) => match Answer::of(next.run(request).await).await {
            Ok(answer) => {
                let answer = Arc::new(answer);
                // It is not kept when the cache was emptied meanwhile, which
                // changes nothing for this reader.
                let _ = guard.insert(answer.clone());
                answer.to(&asked)
            }
            Err(response) => response,
        },
    }
}

fn is_kept(path: &str) -> bool {
    path == "/" || KEPT.iter().any(|start| path.starts_with(start))
}

/// A whole answer in every encoding.
#[derive(Debug)]
struct Answer {
    content_type: HeaderValue,
    /// What a browser is to call the file.
    disposition: Option<HeaderValue>,
    policy: Option<HeaderValue>,
    /// Digest of the content.
    digest: String,
    plain: Bytes,
    /// None of what is compressed by its nature.
    packed: Option<Packed>,
}

#[derive(Debug)]
struct Packed {
    gzip: Bytes,
    brotli: Bytes,
}

impl Answer {
    /// What can be kept of a response; the response itself when it is not a
    /// plain success.
    async fn of(response: Response) -> Result<Self, Response> {
        let content_type = response.headers().get(CONTENT_TYPE).cloned();
        let (StatusCode::OK, Some(content_type)) = (response.status(), content_type) else {
            return Err(response);
        };
        let policy = response.headers().get(CONTENT_SECURITY_POLICY).cloned();
        let disposition = response.headers().get(CONTENT_DISPOSITION).cloned();
        let Ok(body) = to_bytes(response.into_body(), MAX_BYTES).await else {
            return Err(Problem::internal().into_response());
        };
        let made = tokio::task::spawn_blocking(move || Self::make(content_type, policy, body));
        match made.await {
            Ok(Ok(answer)) => Ok(Self {
                disposition,
                ..answer
            }),
            _ => Err(Problem::internal().into_response()),
        }
    }

    /// Blocks while it compresses.
    fn make(
        content_type: HeaderValue,
        policy: Option<HeaderValue>,
        body: Bytes,
    ) -> std::io::Result<Self> {
        let nonce = policy.as_ref().and_then(nonce_of);
        let (plain, policy) = match nonce {
            Some(nonce) => {
                let (page, hashes) = without_nonce(&String::from_utf8_lossy(&body), &nonce);
                (Bytes::from(page), headers::kept_policy(&hashes))
            }
            None => (body, policy),
        };
        Ok(Self {
            disposition: None,
            policy,
            digest: BASE64_STANDARD.encode(&Sha256::digest(&plain)[..12]),
            packed: match is_packed(&content_type) {
                true => None,
                false => Some(Packed {
                    gzip: gzip(&plain)?,
                    brotli: brotli(&plain)?,
                }),
            },
            content_type,
            plain,
        })
    }

    /// As a client can read it.
    fn to(&self, asked: &HeaderMap) -> Response {
        let (encoding, body) = match (&self.packed, accepted(asked)) {
            (Some(packed), Some("br")) => (Some("br"), &packed.brotli),
            (Some(packed), Some("gzip")) => (Some("gzip"), &packed.gzip),
            _ => (None, &self.plain),
        };
        let etag = format!("\"{}.{}\"", self.digest, encoding.unwrap_or("plain"));
        let known = asked.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok());
        let unchanged = known.is_some_and(|tags| tags.split(',').any(|tag| tag.trim() == etag));
        let mut response = if unchanged {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            Response::new(Body::from(body.clone()))
        };
        let headers = response.headers_mut();
        let vary = match self.packed {
            Some(_) => "accept-encoding, cookie, authorization",
            None => "cookie, authorization",
        };
        headers.insert(VARY, HeaderValue::from_static(vary));
        if let Ok(etag) = HeaderValue::from_str(&etag) {
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
fn is_packed(content_type: &HeaderValue) -> bool {
    content_type.as_bytes().starts_with(b"image/png")
}

/// The best encoding a client says it reads.
fn accepted(asked: &HeaderMap) -> Option<&'static str> {
    let lists = asked.get_all(ACCEPT_ENCODING).iter();
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

/// The nonce a page's policy names.
fn nonce_of(policy: &HeaderValue) -> Option<String> {
    let policy = policy.to_str().ok()?;
    let (_, rest) = policy.split_once("'nonce-")?;
    let (nonce, _) = rest.split_once('\'')?;
    Some(nonce.to_owned())
}

/// A page without the nonce that was made for one response, and what its
/// inline scripts are allowed by instead: their hashes.
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
    let mut packed = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 6,
        ..Default::default()
    };
    brotli::BrotliCompress(&mut &*plain, &mut packed, &parameters)?;
    Ok(packed.into())
}

#[cfg(test)]
mod tests {
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
    fn the_best_encoding_that_is_read() {
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
    async fn every_encoding_says_the_same() {
        let body = "ä page ".repeat(1_000);
        let response = ([(CONTENT_TYPE, "text/html; charset=utf-8")], body.clone());
        let answer = Answer::of(response.into_response()).await.unwrap();
        let mut unpacked = Vec::new();
        let packed = answer.packed.as_ref().unwrap();
        brotli::BrotliDecompress(&mut packed.brotli.as_ref(), &mut unpacked).unwrap();
        assert_eq!(unpacked, body.as_bytes());
        let mut text = String::new();
        let mut decoder = flate2::read::GzDecoder::new(packed.gzip.as_ref());
        std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
        assert_eq!(text, body);

        let mut asked = HeaderMap::new();
        asked.insert(ACCEPT_ENCODING, HeaderValue::from_static("br"));
        let first = answer.to(&asked);
        assert_eq!(first.headers()[CONTENT_ENCODING], "br");
        asked.insert(IF_NONE_MATCH, first.headers()[ETAG].clone());
        assert_eq!(answer.to(&asked).status(), StatusCode::NOT_MODIFIED);
        // Another encoding is another representation.
        asked.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        assert_eq!(answer.to(&asked).status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_png_is_kept_as_it_is() {
        let bytes = b"\x89PNG\r\n\x1a\n\xff\0".repeat(100);
        let response = ([(CONTENT_TYPE, "image/png")], bytes.clone());
        let answer = Answer::of(response.into_response()).await.unwrap();
        let mut asked = HeaderMap::new();
        asked.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br"));
        let given = answer.to(&asked);
        assert!(given.headers().get(CONTENT_ENCODING).is_none());
        assert_eq!(given.headers()[VARY], "cookie, authorization");
        asked.insert(IF_NONE_MATCH, given.headers()[ETAG].clone());
        assert_eq!(to_bytes(given.into_body(), MAX_BYTES).await.unwrap(), bytes);
        assert_eq!(answer.to(&asked).status(), StatusCode::NOT_MODIFIED);
    }

    #[tokio::test]
    async fn errors_are_not_kept() {
        let missing = (StatusCode::NOT_FOUND, [(CONTENT_TYPE, "text/html")], "no");
        let response = Answer::of(missing.into_response()).await.unwrap_err();
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn what_is_kept() {
        for path in [
            "/",
            "/tasks/a",
            "/figures",
            "/api/v1/leaderboard.csv",
            "/og/runs/x.png",
        ] {
            assert!(is_kept(path), "{path}");
        }
        for path in [
            "/runs",
            "/runs/x",
            "/api/v1/runs",
            "/pkg/x.js",
            "/health/ready",
        ] {
            assert!(!is_kept(path), "{path}");
        }
    }
}
