//! The handlers of the site's forms. Each form posts to the address of its
//! page. After a success the server redirects (303). After an error it renders
//! the page again, with the error at its field and the typed values except
//! secrets.

mod account;
mod accounts;
mod curations;
mod disk;
mod import;
mod invitation;
mod judge;
mod keys;
mod notifications;
mod provider_sign_in;
mod runs;
mod sign_in;
mod snapshots;
mod splits;
mod steering;
mod submitted_form;
mod submitted_runs;

use axum::routing::{get, post};
use axum::{Extension, Router};

use super::rate_limit::Limits;
use crate::app::App;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/sign-in", post(sign_in::sign_in))
        .route("/sign-in/{provider}", post(provider_sign_in::begin))
        .route(
            "/sign-in/{provider}/callback",
            get(provider_sign_in::finish),
        )
        .route("/sign-out", post(sign_in::sign_out))
        .route("/invitation/{secret}", post(invitation::accept))
        .route("/account", post(account::change))
        .route("/accounts", post(accounts::change))
        .route("/keys", post(keys::change))
        .route("/notifications", post(notifications::change))
        .route("/disk", post(disk::change))
        .route("/snapshots", post(snapshots::change))
        .route("/submissions", post(submitted_runs::decide))
        .route("/datasets/import", post(import::begin))
        .route("/datasets/new", post(curations::begin))
        .route("/datasets/curations/{id}", post(curations::change))
        .route("/datasets/{split}", post(splits::change))
        .route("/runs/new", post(runs::submit))
        .route("/runs/{id}", post(steering::steer))
        .route("/runs/{id}/judgements", post(judge::begin))
        .layer(Extension(Limits::new()))
}
