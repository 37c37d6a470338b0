//! Where somebody goes who has signed in: back to where they came from, if
//! that is a page of this site.

use axum::http::Uri;

/// Longer addresses nobody comes from.
const MAX_BYTES: usize = 2_000;

/// Where signing in leads, from what the address of its page says. Whoever
/// makes a link to that page writes it: nothing in it may lead elsewhere.
pub(super) fn after_sign_in(next: &str) -> &str {
    let is_path = next.starts_with('/') && !next.starts_with("//");
    // A browser reads `\\` as `/`, and drops some control characters.
    let is_plain = next.bytes().all(|b| b.is_ascii_graphic() && b != b'\\');
    // Signed in, there is nothing to do there.
    let is_elsewhere = !next.starts_with("/sign-in");
    if is_path && is_plain && is_elsewhere && next.len() <= MAX_BYTES {
        next
    } else {
        "/"
    }
}

/// The page to sign in that leads back to what was asked for.
pub(super) fn sign_in_before(asked: &Uri) -> String {
    let asked = asked.path_and_query().map_or("/", |asked| asked.as_str());
    format!("/sign-in?next={}", swe_ci_app::encode(asked))
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
