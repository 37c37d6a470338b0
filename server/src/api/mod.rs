//! The REST API: JSON under `/api/v1`, and `/health`.
//!
//! A handler reads its request ([`addresses`], [`query`]), calls the engine
//! once, and responds. Its annotation is the documentation:
//! `/api/v1/openapi.json` is generated from the annotations.

mod accounts;
mod addresses;
mod card;
mod comparison;
mod curations;
mod download;
mod events;
mod files;
mod health;
mod keys;
mod leaderboard;
mod matrix;
mod notifications;
mod plots;
mod query;
mod responses;
mod runs;
mod splits;
mod steering;
mod style;
mod submission;
mod tasks;
mod trajectory;

use axum::Router;
use axum::http::header;
use axum::middleware::from_fn;
use axum::routing::get;
use swe_ci_core::metrics::Convention;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi, openapi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use comparison::ComparisonParameters;
pub(crate) use leaderboard::Ranking;
pub(crate) use query::{Query, refuse_parameters};
pub(crate) use runs::SampleParameter;

use crate::app::App;
use crate::problem::{Problem, ProblemBody};

type Result<T, E = Problem> = std::result::Result<T, E>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "swe-ci",
        description = "Results of a SWE-CI server: how well LLM coding agents maintain a codebase.\n\nLists come in pages: `limit` items at a time, and `next` of one page is `after` of the following. Errors are RFC 9457 problem details; an unknown parameter is an error. Times are RFC 3339 in UTC, durations are seconds."
    ),
    // No handler refers to them in a way that utoipa follows.
    components(schemas(Convention, ProblemBody)),
    tags(
        (name = "results", description = "Scores"),
        (name = "runs", description = "Runs, their evolutions and iterations"),
        (name = "tasks", description = "Splits and tasks"),
        (name = "accounts", description = "Accounts, tokens and the audit log"),
        (name = "health", description = "For supervisors and load balancers"),
    ),
    modifiers(&ByToken),
)]
struct Document;

/// How programs authenticate.
struct ByToken;

impl Modify for ByToken {
    fn modify(&self, document: &mut openapi::OpenApi) {
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "An API token from the page of your account; it begins with `sweci_`.",
            ));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme.build()));
    }
}

/// Every address of the API.
pub(crate) fn router() -> Router<App> {
    let (router, mut document) = annotated().split_for_parts();
    responses::complete(&mut document);
    // A document made of plain data always serialises as JSON.
    let json = document.to_pretty_json().unwrap_or_default();
    let openapi = get(move || async move {
        let headers = [(header::CONTENT_TYPE, "application/json")];
        (headers, json)
    });
    router.route("/api/v1/openapi.json", openapi)
}

fn annotated() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(leaderboard::leaderboard))
        .routes(routes!(leaderboard::leaderboard_csv))
        .routes(routes!(comparison::compare))
        .routes(routes!(comparison::compare_csv))
        .routes(routes!(plots::figure))
        .routes(routes!(runs::runs))
        .routes(routes!(runs::scores))
        .routes(routes!(card::card))
        .routes(routes!(runs::evolution))
        .routes(routes!(trajectory::trajectory))
        .routes(routes!(trajectory::messages))
        .routes(routes!(tasks::tasks))
        .routes(routes!(matrix::matrix))
        .routes(routes!(matrix::matrix_csv))
        .routes(routes!(accounts::audit))
        .routes(routes!(keys::remove_key))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .merge(without_parameters())
}

/// The operations that refuse every parameter.
fn without_parameters() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(leaderboard::published))
        .routes(routes!(submission::submit))
        .routes(routes!(runs::run, steering::change))
        .routes(routes!(steering::pause))
        .routes(routes!(steering::resume))
        .routes(routes!(steering::cancel))
        .routes(routes!(steering::retry))
        .routes(routes!(steering::preflight))
        .routes(routes!(steering::begin))
        .routes(routes!(submission::config_toml))
        .routes(routes!(runs::iteration))
        .routes(routes!(runs::steps))
        .routes(routes!(steering::publish))
        .routes(routes!(steering::withdraw))
        .routes(routes!(steering::mark))
        .routes(routes!(steering::unmark))
        .routes(routes!(files::diff))
        .routes(routes!(files::log))
        .routes(routes!(style::style))
        .routes(routes!(style::files))
        .routes(routes!(files::code))
        .routes(routes!(files::report))
        .routes(routes!(files::document))
        .routes(routes!(events::events))
        .routes(routes!(curations::curations, curations::curate))
        .routes(routes!(curations::curation))
        .routes(routes!(curations::cancel))
        .routes(routes!(splits::disk))
        .routes(routes!(splits::splits))
        .routes(routes!(splits::split))
        .routes(routes!(splits::metadata))
        .routes(routes!(splits::datasheet))
        .routes(routes!(tasks::task))
        .routes(routes!(tasks::results))
        .routes(routes!(comparison::model))
        .routes(routes!(accounts::me))
        .routes(routes!(accounts::tokens, accounts::make_token))
        .routes(routes!(accounts::revoke_token))
        .routes(routes!(accounts::accounts))
        .routes(routes!(keys::keys))
        .routes(routes!(keys::set_key))
        .routes(routes!(
            notifications::notifications,
            notifications::add_target
        ))
        .routes(routes!(notifications::remove_target))
        .routes(routes!(notifications::test_target))
        .routes(routes!(notifications::confirm_mailbox))
        .route_layer(from_fn(refuse_parameters))
}
