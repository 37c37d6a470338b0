//! The address to open after signing in: the previous page, if it is on this
//! site.

use axum::http::Uri;

/// No page of this site has a longer address.
const MAX_BYTES: usize = 2_000;

/// The address to open after signing in, from the page's query. Anyone can
/// write a link to that page, so it must not lead to another site.
pub(super) fn after_sign_in(next: &str) -> &str {
    let is_path = next.starts_with('/') && !next.starts_with("//");
    // A browser reads `\\` as `/`, and drops some control characters.
    let is_plain = next.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    // A signed-in account has nothing to do there.
    let is_elsewhere = !next.starts_with("/sign-in");
    if is_path && is_plain && is_elsewhere && next.len() <= MAX_BYTES {
        next
    } else {
        "/"
    }
}

/// The sign-in page that leads back to the requested address.
pub(super) fn sign_in_before(requested: &Uri) -> String {
    let requested = requested
        .path_and_query()
        .map_or("/", |requested| requested.as_str());
    format!("/sign-in?next={}", swe_ci_app::encode(requested))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_leads_to_another_site() {
        let check = |next: &str, expect: &str| assert_eq!(after_sign_in(next), expect, "{next:?}");
        for here in ["/", "/runs", "/runs?after=x&y=%2F", "/tasks/a#b", "/a//b"] {
            check(here, here);
        }
        for elsewhere in [
            "",
            "runs",
            "//evil.org",
            "///evil.org",
            "/\\evil.org",
            "\\\\evil.org",
            "/a\\..",
            "https://evil.org",
            "http:evil.org",
            "javascript:alert(1)",
            "/\t/evil.org",
            "/\n/evil.org",
            "/\r\nset-cookie: a=b",
            " /runs",
            "/ä",
            "/sign-in?next=/runs",
        ] {
            check(elsewhere, "/");
        }
        let long = format!("/{}", "a".repeat(MAX_BYTES));
        check(&long, "/");
    }
}
