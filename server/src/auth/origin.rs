//! Where a request that changes something comes from. Another site may make a
//! browser send one, with its cookies; the browser says from where.

use axum::http::{HeaderMap, HeaderName, header};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Whether it was sent by a page of this site, or by no page at all.
///
/// `own` is the site's public URL, where it is configured: a proxy in front
/// may ask for another host. What says nothing is no browser; it is believed
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
    let asked = text(headers, &header::HOST);
    let is_asked = !asked.is_empty() && host.eq_ignore_ascii_case(asked);
    is_asked || own.is_some_and(|own| own.eq_ignore_ascii_case(from))
}

/// Empty when it is not there, given twice, or no text.
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
            // The first is not to be believed when there is another one.
            let twice = [
                ("sec-fetch-site", "same-origin"),
                ("sec-fetch-site", "cross-site"),
            ];
            check(&twice, cookie, false);
            // What the browser says itself wins over what it says of the page.
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
        // No browser.
        check(&[host], false, true);
        check(&[host], true, false);
    }
}
