//! The REST API: JSON under `/api/v1`, and `/health`.
//!
//! A handler reads its request ([`addresses`], [`query`]), calls the engine
//! once, and responds. Its annotation is the documentation:
//! `/api/v1/openapi.json` is generated from the annotations.

mod accounts;
mod addresses;
mod areas;
mod comparison;
mod curations;
mod events;
mod files;
mod findings;
mod gate;
mod handovers;
mod health;
mod judgements;
mod leaderboard;
mod notifications;
mod plots;
mod query;
mod responses;
mod runs;
mod snapshots;
mod steering;
mod submitted_runs;
mod tasks;
mod trajectories;
mod trajectory;
mod webhooks;
mod workers;

use axum::body::Body;
use axum::http::{Request, Uri, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use swe_ci_core::metrics::Convention;
use swe_ci_engine::Engine;
use swe_ci_views::account::Actor;
use swe_ci_views::notification::WebhookMessage;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use areas::areas;
use query::refuse_parameters;

use crate::app::App;
use crate::client_address::TrustedProxies;
use crate::identity_providers::Providers;
use crate::problem::{Problem, ProblemBody};
use crate::site::Site;

type Result<T, E = Problem> = std::result::Result<T, E>;
type Answer<T> = Result<Json<T>>;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "swe-ci",
        description = "Results of a SWE-CI server: how well LLM coding agents maintain a codebase.\n\nLists come in pages: `limit` items at a time, and `next` of one page is `after` of the following. Errors are RFC 9457 problem details; an unknown parameter is an error, an empty one counts as absent. A method that an address lacks is a 405. Times are RFC 3339 in UTC, durations are seconds."
    ),
    // No handler refers to them in a way that utoipa follows.
    components(schemas(Convention, ProblemBody, WebhookMessage)),
    tags(
        (name = "results", description = "Scores"),
        (name = "runs", description = "Runs, their evolutions and iterations"),
        (name = "tasks", description = "Splits and tasks"),
        (name = "accounts", description = "Accounts, tokens and the audit log"),
        (name = "health", description = "For supervisors and load balancers"),
    ),
)]
struct Document;

/// Every address of the API.
pub(crate) fn router() -> Router<App> {
    let (router, json) = described();
    let openapi = get(move || async move {
        let headers = [(header::CONTENT_TYPE, "application/json")];
        (headers, json)
    });
    router.route("/api/v1/openapi.json", openapi)
}

/// Answers the command line at an address, without a server around the router.
///
/// # Errors
/// The address is none.
pub(crate) async fn read(engine: Engine, address: &str) -> Result<Response, axum::http::Error> {
    let app = App {
        engine,
        site: Site::empty(),
        public_url: None,
        providers: Providers::default(),
        trusted_proxies: TrustedProxies::default(),
        closed: false,
        shutdown: CancellationToken::new(),
    };
    let request = Request::get(address).extension(Actor::Operator);
    let request = request.body(Body::empty())?;
    let not_found = |uri: Uri| async move { Problem::no_such_address(uri.path()) };
    let router: Router = router().fallback(not_found).with_state(app);
    let Ok(answer) = router.oneshot(request).await;
    Ok(answer)
}

/// The description of the API in OpenAPI 3.1, as JSON.
pub(crate) fn description() -> String {
    described().1
}

fn document() -> (Router<App>, utoipa::openapi::OpenApi) {
    let (router, mut document) = annotated().split_for_parts();
    responses::complete(&mut document);
    document.webhooks = Some(webhooks::described());
    (router, document)
}

fn described() -> (Router<App>, String) {
    let (router, document) = document();
    // A document made of plain data always serialises as JSON.
    let json = document.to_pretty_json().unwrap_or_default();
    // The names of the OpenAPI registry; utoipa 6.0 has a hyphen in them.
    (
        router,
        json.replace("\"format\": \"u-int", "\"format\": \"uint"),
    )
}

/// Adds the operations of each module to a router.
macro_rules! operations {
    ($router:expr, $($module:ident: $($operation:ident),+;)+) => {
        $router$($(.routes(routes!($module::$operation)))+)+
    };
}

fn annotated() -> OpenApiRouter<App> {
    let router = operations!(
        OpenApiRouter::with_openapi(Document::openapi()),
        leaderboard: leaderboard, leaderboard_csv, unranked, matrix, matrix_csv;
        comparison: compare, compare_csv, model;
        gate: gate, gate_markdown, gate_junit;
        handovers: handovers, handovers_csv;
        plots: figure;
        snapshots: snapshot, snapshot_content;
        runs: runs, scores, evolution, card;
        trajectory: trajectory, messages;
        findings: findings, open_findings;
        trajectories: places, search;
        tasks: tasks, task;
        accounts: audit, remove_key;
        health: live, ready;
    );
    router.merge(without_parameters())
}

/// The operations that refuse every parameter.
fn without_parameters() -> OpenApiRouter<App> {
    let router = operations!(
        OpenApiRouter::default(),
        leaderboard: published;
        snapshots: snapshots, make_snapshot;
        trajectories: trajectories;
        runs: submit, experiment, estimate_experiment, config_toml, run, moved, moved_csv, iteration, steps;
        steering: pause, resume, cancel, retry, preflight, begin, change;
        submitted_runs: submit_archive, submissions, submission, publish_submission, refuse_submission;
        steering: publish, withdraw, verify, mark, unmark, clear, regrade, delete;
        findings: review;
        judgements: judgements, judge;
        files: code, report, document, diff, log, evolution_audit, style, files;
        events: events;
        curations: curations, curate, curation, publish, cancel;
        tasks: results, splits, split, metadata, datasheet, delete_split, disk;
        accounts: me, tokens, make_token, revoke_token, accounts, keys, set_key;
        workers: workers, metrics;
        notifications: notifications, add_target, remove_target, test_target, confirm_mailbox;
    );
    router.route_layer(from_fn(refuse_parameters))
}

const CSV: &str = "text/csv; charset=utf-8";

/// A response that a browser saves as a file and never renders, whoever wrote
/// the content. `name` has only characters that need no quoting.
fn download(name: &str, media_type: &'static str, content: impl IntoResponse) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, content).into_response()
}
