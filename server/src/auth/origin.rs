//! The origin of a request that changes something. Another site may make a
//! browser send one with this site's cookies; the browser's headers reveal
//! that.

use axum::http::{HeaderMap, HeaderName, header};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether a page of this site sent the request, or no page at all.
///
/// `own` is the site's configured public URL, because a proxy may send another
/// host. A request without these headers is not from a browser; it is trusted
/// as long as it has no cookie that a browser could have been made to send.
pub(super) fn is_ours(headers: &HeaderMap, own: Option<&str>, has_cookie: bool) -> bool {
    if headers.contains_key(SEC_FETCH_SITE) {
        return ["same-origin", "none"].contains(&text(headers, &SEC_FETCH_SITE));
    }
    if !headers.contains_key(header::ORIGIN) {
        return !has_cookie;
    }
    let from = text(headers, &header::ORIGIN);
    let Some((_, host)) = from.split_once("://") else {
        return false;
    };
    let requested_host = text(headers, &header::HOST);
    let is_same_host = !requested_host.is_empty() && host.eq_ignore_ascii_case(requested_host);
    is_same_host || own.is_some_and(|own| own.eq_ignore_ascii_case(from))
}

/// Empty when the header is absent, repeated, or not text.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    let mut values = headers.get_all(name).into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().unwrap_or_default(),
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_form_was_sent_from() {
        let check = |given: &[(&str, &str)], cookie: bool, expect: bool| {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                let name: HeaderName = name.parse().unwrap();
                headers.append(name, value.parse().unwrap());
            }
            let own = Some("https://bench.example.org");
            let found = is_ours(&headers, own, cookie);
            assert_eq!(found, expect, "{given:?} cookie: {cookie}");
        };
        let host = ("host", "localhost:3000");
        for cookie in [false, true] {
            check(&[host, ("sec-fetch-site", "same-origin")], cookie, true);
            check(&[host, ("sec-fetch-site", "none")], cookie, true);
            check(&[host, ("sec-fetch-site", "same-site")], cookie, false);
            check(&[host, ("sec-fetch-site", "cross-site")], cookie, false);
            check(&[host, ("sec-fetch-site", "")], cookie, false);
            // A repeated header is not trusted.
            let twice = [
                ("sec-fetch-site", "same-origin"),
                ("sec-fetch-site", "cross-site"),
            ];
            check(&twice, cookie, false);
            // The browser's statement about the request takes precedence over
            // the origin.
            let both = [
                host,
                ("sec-fetch-site", "cross-site"),
                ("origin", "http://localhost:3000"),
            ];
            check(&both, cookie, false);
            check(&[host, ("origin", "http://localhost:3000")], cookie, true);
            check(&[host, ("origin", "https://LOCALHOST:3000")], cookie, true);
            check(
                &[host, ("origin", "https://bench.example.org")],
                cookie,
                true,
            );
            check(
                &[host, ("origin", "http://bench.example.org")],
                cookie,
                false,
            );
            check(&[host, ("origin", "http://localhost")], cookie, false);
            check(
                &[host, ("origin", "http://localhost:3000.evil.org")],
                cookie,
                false,
            );
            check(&[host, ("origin", "http://evil.org")], cookie, false);
            check(&[host, ("origin", "null")], cookie, false);
            check(&[("origin", "http://")], cookie, false);
        }
        // Not a browser.
        check(&[host], false, true);
        check(&[host], true, false);
    }
}
