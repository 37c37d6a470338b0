//! Keys and tokens in headers, and the headers the gateway passes on.

use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use swe_ci_core::agent::Protocol;

use super::dialect;

/// Request headers passed on to the provider. The others describe the harness,
/// or would make the answer unreadable here (`accept-encoding`).
const REQUEST: &str = "\
    accept content-type user-agent anthropic-version anthropic-beta openai-beta";

/// Response headers passed on to the harness. The others describe the account.
const RESPONSE: &str = "\
    content-type retry-after retry-after-ms x-should-retry x-request-id \
    request-id openai-processing-ms";

/// The session's token, from any header or query field a harness may use.
pub fn token<'a>(headers: &'a HeaderMap, query: Option<&'a str>) -> Option<&'a str> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let bearer = || {
        let (scheme, token) = text("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    };
    let in_query = || {
        let parts = query.unwrap_or_default().split('&');
        parts.into_iter().find_map(|part| part.strip_prefix("key="))
    };
    bearer()
        .or_else(|| text("x-api-key"))
        .or_else(|| text("x-goog-api-key"))
        .or_else(in_query)
        .filter(|token| !token.is_empty())
}

/// The header that carries the provider's key, marked as sensitive.
///
/// # Errors
/// The key has characters that no header can hold; the error does not show them.
pub fn key_header(
    protocol: Protocol,
    key: &str,
) -> Result<(HeaderName, HeaderValue), InvalidHeaderValue> {
    let (name, before) = dialect(protocol).key_header();
    let mut value = HeaderValue::from_str(&format!("{before}{key}"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

pub fn passed_on_request(name: &HeaderName) -> bool {
    REQUEST.split(' ').any(|passed| name == passed)
}

pub fn passed_on_response(name: &HeaderName) -> bool {
    RESPONSE.split(' ').any(|passed| name == passed)
}
