//! A site closed by its operator: visitors may sign in and nothing else.

use axum::http::Uri;
use axum::response::{IntoResponse, Redirect, Response};

use super::return_path;
use crate::problem::Problem;

/// The paths visitors need to sign in, and the health checks.
const OPEN: [&str; 8] = [
    "/sign-in",
    "/sign-in/",
    "/invitation/",
    "/pkg/",
    "/health/",
    "/social/",
    "/favicon.svg",
    "/robots.txt",
];

/// Paths for programs, for which a redirect to the sign-in page is useless.
const OF_PROGRAMS: [&str; 3] = ["/api/", "/feed.xml", "/sitemap.xml"];

/// The response that refuses a visitor, unless the path is open to everybody.
pub(super) fn refusal(uri: &Uri) -> Option<Response> {
    let path = uri.path();
    let is_one_of = |starts: &[&str]| {
        let mut starts = starts.iter();
        starts.any(|start| path == *start || (start.ends_with('/') && path.starts_with(start)))
    };
    if is_one_of(&OPEN) {
        return None;
    }
    Some(match is_one_of(&OF_PROGRAMS) {
        true => Problem::closed().into_response(),
        false => Redirect::to(&return_path::sign_in_before(uri)).into_response(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_a_closed_site() {
        let check = |path: &'static str, expect: Option<(u16, &str)>| {
            let response = refusal(&Uri::from_static(path));
            let refused = response.map(|response| {
                let location = response.headers().get("location");
                let location = location.map(|to| to.to_str().unwrap().to_owned());
                (response.status().as_u16(), location.unwrap_or_default())
            });
            let refused = refused.as_ref().map(|(status, to)| (*status, to.as_str()));
            assert_eq!(refused, expect, "{path}");
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
        check("/feed.xml", Some((401, "")));
        check("/social/x.png", None);
    }
}
