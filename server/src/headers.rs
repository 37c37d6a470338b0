//! Security headers: they forbid browsers everything the site never uses.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;

const SECURE: [(HeaderName, HeaderValue); 6] = [
    constant("x-content-type-options", "nosniff"),
    constant("referrer-policy", "strict-origin-when-cross-origin"),
    constant("x-frame-options", "DENY"),
    constant(
        "permissions-policy",
        "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
    ),
    constant("cross-origin-opener-policy", "same-origin"),
    constant("cross-origin-resource-policy", "same-origin"),
];

const fn constant(name: &'static str, value: &'static str) -> (HeaderName, HeaderValue) {
    (
        HeaderName::from_static(name),
        HeaderValue::from_static(value),
    )
}

/// Paths that other sites may show in frames.
const FRAMED: &str = "/embed/";

/// Paths whose responses other sites may embed.
const SHOWN: &str = "/social/";

/// Paths that contain a secret.
const SECRET: &str = "/invitation/";

/// For responses that are not pages: they may load nothing.
const NOT_A_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// For a picture opened by itself: it may use its own styles and nothing else.
const PICTURE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The policy of a page. It allows the site's scripts, and inline scripts with
/// the nonce of this response; `wasm-unsafe-eval` lets the browser compile the
/// site's WebAssembly, and nothing else.
pub(crate) fn page_policy(nonce: &str) -> Option<HeaderValue> {
    let nonce = format!("'nonce-{nonce}'");
    policy(&nonce, &nonce)
}

/// The policy of a cached page: it allows inline scripts by their hashes.
pub(crate) fn cached_page_policy(hashes: &[String]) -> Option<HeaderValue> {
    policy(&hashes.join(" "), "")
}

fn policy(scripts: &str, styles: &str) -> Option<HeaderValue> {
    let policy = format!(
        "default-src 'none'; \
         script-src 'self' {scripts} 'wasm-unsafe-eval'; \
         style-src 'self' {styles}; \
         img-src 'self' data:; \
         font-src 'self'; \
         connect-src 'self'; \
         manifest-src 'self'; \
         object-src 'none'; \
         base-uri 'none'; \
         frame-ancestors 'none'; \
         form-action 'self'"
    );
    HeaderValue::from_str(&policy).ok()
}

/// Adds the headers of every response. Browsers revalidate each response unless
/// its handler set a cache policy.
pub(crate) async fn secure(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let (framed, shown) = (path.starts_with(FRAMED), path.starts_with(SHOWN));
    let secret = path.starts_with(SECRET);
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in SECURE {
        headers.insert(name, value);
    }
    let policy = if is_svg(headers) { PICTURE } else { NOT_A_PAGE };
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(policy);
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-cache"));
    if secret {
        let nobody = HeaderValue::from_static("no-referrer");
        headers.insert(header::REFERRER_POLICY, nobody);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if framed {
        allow_frames(headers);
    }
    if shown {
        let anywhere = HeaderValue::from_static("cross-origin");
        headers.insert("cross-origin-resource-policy", anywhere);
    }
    response
}

/// These pages have nothing to click that changes anything, so a frame cannot
/// misuse them.
fn allow_frames(headers: &mut HeaderMap) {
    headers.remove(header::X_FRAME_OPTIONS);
    let policy = headers.get(header::CONTENT_SECURITY_POLICY);
    let open = policy.and_then(|policy| {
        let policy = policy.to_str().ok()?;
        let open = policy.replace("frame-ancestors 'none'", "frame-ancestors *");
        HeaderValue::from_str(&open).ok()
    });
    if let Some(open) = open {
        headers.insert(header::CONTENT_SECURITY_POLICY, open);
    }
}

fn is_svg(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    content_type.is_some_and(|t| t.as_bytes().starts_with(b"image/svg+xml"))
}
