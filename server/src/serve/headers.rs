//! Headers that keep browsers from doing what the site never asks for.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;

const SECURE: [(HeaderName, HeaderValue); 6] = [
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("strict-origin-when-cross-origin"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static(
            "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()",
        ),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// For what is not a page: nothing may be loaded from it.
const NOT_A_PAGE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// A picture opened by itself: its own styles, and nothing else.
const PICTURE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// The policy of a page. Its scripts are those of the site, and those inline
/// that carry the nonce made for this one response; `wasm-unsafe-eval` lets
/// the browser compile the site's WebAssembly, and nothing else.
pub(crate) fn page_policy(nonce: &str) -> Option<HeaderValue> {
    let policy = format!(
        "default-src 'none'; \
         script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; \
         style-src 'self' 'nonce-{nonce}'; \
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

/// Gives a response the headers every response has. What changes with the
/// data is asked for again each time, unless the handler said otherwise.
pub(crate) async fn secure(mut response: Response) -> Response {
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
    response
}

fn is_svg(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    content_type.is_some_and(|t| t.as_bytes().starts_with(b"image/svg+xml"))
}
