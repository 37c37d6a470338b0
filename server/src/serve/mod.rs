//! The web server: one [`router`] over the [`api`], the [`pages`] and the forms of
//! `auth`, and one [`run`].
//!
//! This module is the root of the request handlers: it imports all of them and
//! none of them imports it.

mod background;
mod connections;
mod demo;
mod etags;
mod feeds;
mod idle_timeout;
mod open_files;
mod page_cache;
mod requests;

use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use swe_ci_engine::{Error, Result, SnapshotEvery, WorkLock};
use swe_ci_views::account::Actor;
use tokio::net::TcpListener;

use crate::app::App;
use crate::problem::Problem;
use crate::{api, auth, pages};

use page_cache::PageCache;

/// How long a stopping server waits for its connections and steps. It leaves a
/// second of the ten that supervisors commonly wait.
const GRACE: Duration = Duration::from_secs(9);

/// The background tasks of the server.
#[derive(Debug)]
pub struct Background {
    /// Execute queued evolutions.
    pub work: Option<WorkLock>,
    /// Import the demo split and queue the human baseline, once.
    pub demo: bool,
    /// Make snapshots.
    pub snapshot_every: Option<SnapshotEvery>,
}

pub fn router(mut app: App) -> Router {
    // A handler that does not bind the engine to its actor shows only public
    // data.
    app.engine = app.engine.acting_for(Actor::Visitor);
    let page_cache = PageCache::new(app.engine.clone(), app.site.clone());
    let router = Router::new()
        .merge(api::router())
        .merge(auth::routes())
        .merge(feeds::routes());
    let router = pages::routes(router)
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(file_or_not_found)
        .layer(from_fn_with_state(page_cache, page_cache::serve_cached))
        .layer(from_fn(etags::tag))
        .with_state(app.clone());
    requests::layers(auth::layers(router, &app))
}

/// Answers requests on `listener` until `app.shutdown` is cancelled, and
/// returns within [`GRACE`] of that.
///
/// # Errors
/// `Conflict` when the database gets another schema, `Internal` when the
/// listener or the worker breaks; the rest is stopped first.
pub async fn run(listener: TcpListener, app: App, background: Background) -> Result<()> {
    let shutdown = app.shutdown.clone();
    let engine = app.engine.clone();
    let limits = connections::Limits::of_open_files(open_files::raise_limit());
    let server = connections::serve(listener, router(app), limits, shutdown.clone());
    let mut server = tokio::spawn(server);
    let mut worker = tokio::spawn(background::run(
        engine.clone(),
        background.work,
        shutdown.clone(),
    ));
    let sweep = tokio::spawn(background::sweep(engine.clone()));
    let snapshots = background
        .snapshot_every
        .map(|every| tokio::spawn(background::make_snapshots(engine.clone(), every)));
    let demo = background.demo.then(|| tokio::spawn(demo::run(engine)));

    let outcome = tokio::select! {
        () = shutdown.cancelled() => Ok(()),
        ended = &mut worker => ended.unwrap_or_else(broken),
        ended = &mut server => ended.or_else(broken),
    };
    shutdown.cancel();
    sweep.abort();
    for task in [snapshots, demo].into_iter().flatten() {
        task.abort();
    }
    let rest = async {
        if !server.is_finished() {
            let _ = server.await;
        }
        if !worker.is_finished() {
            let _ = worker.await;
        }
    };
    if tokio::time::timeout(GRACE, rest).await.is_err() {
        tracing::warn!("some connections or steps did not end in time; the server closes them");
    }
    outcome
}

fn broken(error: tokio::task::JoinError) -> Result<()> {
    Err(internal(error))
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Internal(error.into())
}

/// Serves a file of the site. Without one, programs get a problem and people
/// the "not found" page.
async fn file_or_not_found(State(app): State<App>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    if ["/api/", "/health/", "/og/"]
        .iter()
        .any(|p| path.starts_with(p))
    {
        return Problem::no_such_address(&path).into_response();
    }
    let (parts, body) = request.into_parts();
    match app.site.file(&parts).await {
        Some(file) => file,
        None if path.starts_with("/pkg/") => Problem::no_such_address(&path).into_response(),
        None => pages::not_found(app, Request::from_parts(parts, body)).await,
    }
}

async fn method_not_allowed(method: Method) -> Problem {
    Problem::method_not_allowed(method.as_str())
}
