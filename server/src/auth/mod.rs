//! Authentication of requests, and the forms of the pages.
//!
//! [`layers`] wrap every handler: the client's address is found, which counts
//! its tries to sign in ([`client_address`]); a request that changes something must come
//! from this site ([`origin`]); a token or the session in a cookie
//! ([`session`]) identifies its actor ([`authentication`]); a closed site
//! refuses visitors ([`closed_site`]). In [`forms`] people sign in and submit
//! the forms of their pages.

mod authentication;
mod closed_site;
mod forms;
mod origin;
mod pending_sign_in;
mod rate_limit;
mod return_path;
mod session;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};

pub(crate) use forms::routes;

use crate::app::App;
use crate::client_address;

/// The innermost layer comes first.
pub(crate) fn layers(router: Router, app: &App) -> Router {
    let router = router
        .layer(from_fn_with_state(
            app.clone(),
            authentication::authenticate,
        ))
        .layer(session::layer(app))
        .layer(from_fn_with_state(
            app.trusted_proxies.clone(),
            client_address::identify,
        ));
    match app.is_secure() {
        true => router.layer(from_fn(session::secure_removed_cookies)),
        false => router,
    }
}
