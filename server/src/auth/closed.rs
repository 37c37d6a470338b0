//! A site that its operator has closed: visitors may sign in, and that is all.

use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};

use super::next;
use crate::api::Problem;

/// What visitors need to sign in, and what tells whether the server lives.
const OPEN: [&str; 7] = [
    "/sign-in",
    "/sign-in/",
    "/invitation/",
    "/pkg/",
    "/health/",
    "/favicon.svg",
    "/robots.txt",
];

/// Read by programs, which a page to sign in would not help.
const OF_PROGRAMS: [&str; 4] = ["/api/", "/og/", "/feed.xml", "/sitemap.xml"];

/// What a visitor is told instead of an answer, unless this is for everybody.
pub(super) fn refuses(asked: &Uri) -> Option<Response> {
    let path = asked.path();
    let is_one_of = |starts: &[&str]| {
        let mut starts = starts.iter();
        starts.any(|start| path == *start || (start.ends_with('/') && path.starts_with(start)))
    };
    if is_one_of(&OPEN) {
        return None;
    }
    Some(match is_one_of(&OF_PROGRAMS) {
        true => Problem::closed().into_response(),
        false => Redirect::to(&next::sign_in_before(asked)).into_response(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_visitors_of_a_closed_site_are_told() {
        let check = |path: &'static str, expect: Option<(u16, &str)>| {
            let refused = refuses(&Uri::from_static(path));
            let told = refused.map(|response| {
                let location = response.headers().get("location");
                let location = location.map(|to| to.to_str().unwrap().to_owned());
                (response.status().as_u16(), location.unwrap_or_default())
            });
            let told = told.as_ref().map(|(status, to)| (*status, to.as_str()));
            assert_eq!(told, expect, "{path}");
        };
        for open in OPEN {
            check(open, None);
        }
        check("/health/ready", None);
        check("/invitation/x", None);
        check("/", Some((303, "/sign-in?next=%2F")));
        check(
            "/runs?after=a&b",
            Some((303, "/sign-in?next=%2Fruns%3Fafter%3Da%26b")),
        );
        check("/sign-in/corp/callback", None);
        check("/sign-ins", Some((303, "/sign-in?next=%2Fsign-ins")));
        check("/api/v1/runs", Some((401, "")));
        check("/api/pages/runs", Some((401, "")));
        check("/feed.xml", Some((401, "")));
        check("/og/x.png", Some((401, "")));
    }
}
