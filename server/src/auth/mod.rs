//! Who sends a request, and what the engine does in their hands.
//!
//! [`layers`] stand around everything that is answered: a request that changes
//! something must come from this site ([`origin`]), whoever sends it is
//! recognised ([`recognise`]) by a token or by the session in a cookie
//! ([`session`]), and a closed site answers nobody else ([`closed`]). [`forms`]
//! are where people sign in, and do what their pages offer; [`providers`] are the
//! other sites at which they may prove who they are.

mod closed;
mod forms;
mod limits;
mod next;
mod origin;
mod providers;
mod recognise;
mod session;
mod who;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};

pub(crate) use forms::routes;
pub use providers::{ProviderConfig, Providers, read as read_providers};
pub(crate) use who::{As, actor};

use crate::serve::App;

/// The innermost first.
pub(crate) fn layers(router: Router, app: &App) -> Router {
    let doors = recognise::Doors::new(app);
    let router = router
        .layer(from_fn_with_state(doors, recognise::recognise))
        .layer(session::layer(app));
    match session::is_secure(app) {
        true => router.layer(from_fn(session::removed_as_it_was_set)),
        false => router,
    }
}
