//! A new secret on its way from the form that made it to the page that shows it
//! once: in a cookie for that page alone, which ends when the page is read. So
//! reloading makes no other secret, and this one is in no address, log or row.

use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Redirect, Response};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_app::FormAnswer;
use tower_sessions::cookie::time::Duration;
use tower_sessions::cookie::{Cookie, SameSite};
use url::form_urlencoded;

const NAME: &str = "swe_ci_shown_once";
/// A browser that follows the redirect needs seconds.
const LASTS: Duration = Duration::minutes(2);

/// Leads to the page at this path, which shows the secret of this form.
pub(crate) fn redirect(path: &str, form: &str, secret: &SecretString, secure: bool) -> Response {
    let value: String = form_urlencoded::Serializer::new(String::new())
        .append_pair(form, secret.expose_secret())
        .finish();
    let mut response = Redirect::to(path).into_response();
    set(&mut response, path, value, LASTS, secure);
    response
}

/// The answer that a page shows, if a form has just made a secret.
pub(crate) fn read(headers: &HeaderMap) -> Option<FormAnswer> {
    let cookies = headers.get_all(COOKIE).into_iter();
    let mut pairs = cookies
        .filter_map(|cookies| cookies.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == NAME)?;
    let (form, secret) = form_urlencoded::parse(value.as_bytes()).next()?;
    Some(FormAnswer {
        form: form.into_owned(),
        made: Some(secret.into_owned()),
        ..FormAnswer::default()
    })
}

/// Ends the cookie of this page.
pub(crate) fn end(response: &mut Response, path: &str, secure: bool) {
    set(response, path, String::new(), Duration::ZERO, secure);
}

fn set(response: &mut Response, path: &str, value: String, lasts: Duration, secure: bool) {
    let cookie = Cookie::build((NAME, value))
        .path(path.to_owned())
        .max_age(lasts)
        .http_only(true)
        .secure(secure)
        .same_site(SameSite::Strict)
        .build();
    if let Ok(mut cookie) = HeaderValue::from_str(&cookie.to_string()) {
        cookie.set_sensitive(true);
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}
