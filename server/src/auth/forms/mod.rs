//! The forms of the pages about accounts. Each is sent to the address of its
//! page: done, the browser is sent on (303); refused, the page is made again
//! with what is wrong at the field, and what was typed but secrets.

mod account;

mod accounts;

mod curations;

mod elsewhere;

mod invitation;

mod keys;

mod notifications;

mod runs;

mod sent;

mod sign_in;

mod steer;

mod wrong;

use axum::routing::{get, post};
use axum::{Extension, Router};

use super::limits::Limits;
use crate::serve::App;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/sign-in", post(sign_in::sign_in))
        .route("/sign-in/{provider}", post(elsewhere::begin))
        .route("/sign-in/{provider}/callback", get(elsewhere::finish))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/invitation/{secret}", post(invitation::accept))
        .route("/account", post(account::change))
        .route("/accounts", post(accounts::change))
        .route("/keys", post(keys::change))
        .route("/notifications", post(notifications::change))
        .route("/datasets/new", post(curations::begin))
        .route("/datasets/curations/{id}", post(curations::change))
        .route("/runs/new", post(runs::submit))
        .route("/runs/{id}", post(steer::steer))
        .layer(Extension(Limits::new()))
}
