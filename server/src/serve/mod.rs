//! The web server: one [`App`], one [`router`], one [`run`].

mod site;

mod pages;

mod feeds;

mod headers;

mod kept;

mod requests;

mod worker;

mod demo;

mod first_start;

mod sweep;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::{FromRef, Request, State};
use axum::http::Method;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::serve::ListenerExt;
use leptos::config::LeptosOptions;
use swe_ci_app::PublicUrl;
use swe_ci_core::account::Actor;
use swe_ci_engine::{Engine, Error, Result};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::api::{self, Problem};
use crate::auth;
use crate::pictures;

pub use crate::auth::{ProviderConfig, Providers, read_providers};
pub(crate) use first_start::{first_link, invitation_link};
use kept::Kept;
pub(crate) use pages::answer;
pub use pages::paths as page_paths;
pub use site::{Site, SiteError};

/// What may still be at work this long after the server was told to stop is
/// cut off. A second is left of the ten that supervisors commonly wait.
const GRACE: Duration = Duration::from_secs(9);

/// What every request handler may use. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    /// Handlers ask it in the hands of whoever asks them: [`crate::auth::As`].
    pub engine: Engine,
    pub site: Site,
    /// Where readers reach the site, if that is known.
    pub public_url: Option<PublicUrl>,
    /// The other sites at which people may prove who they are.
    pub providers: Providers,
    /// Whether visitors see nothing but the page to sign in.
    pub closed: bool,
    /// Cancelled when the server is to stop: streams end by it.
    pub shutdown: CancellationToken,
}

impl FromRef<App> for LeptosOptions {
    fn from_ref(app: &App) -> Self {
        app.site.leptos().clone()
    }
}

/// What goes on beside the answering of requests.
#[derive(Debug, Clone, Copy)]
pub struct Background {
    /// Execute queued evolutions.
    pub work: bool,
    /// Import the demo split and queue the human baseline, once.
    pub demo: bool,
}

/// Everything the server answers.
pub fn router(mut app: App) -> Router {
    // What forgets to ask who asks shows what everybody may see.
    app.engine = app.engine.acting_for(Actor::Visitor);
    let kept = Kept::new(app.engine.clone());
    let router = Router::new()
        .merge(api::router())
        .merge(auth::routes())
        .merge(feeds::routes())
        .merge(pictures::routes());
    let router = pages::routes(router, &app)
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(elsewhere)
        .layer(from_fn_with_state(kept, kept::keep))
        .with_state(app.clone());
    requests::layers(auth::layers(router, &app))
}

/// Answers requests on `listener` until `app.shutdown` is cancelled, and
/// returns within [`GRACE`] of that.
///
/// # Errors
/// `Conflict` when another process works on the same data folder, `Internal`
/// when the listener or the worker breaks; the rest is stopped first.
pub async fn run(listener: TcpListener, app: App, background: Background) -> Result<()> {
    let shutdown = app.shutdown.clone();
    let engine = app.engine.clone();
    // Without it a streamed page waits for the client's delayed
    // acknowledgements: 44 ms instead of 3 ms.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let router = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let server =
        axum::serve(listener, router).with_graceful_shutdown(shutdown.clone().cancelled_owned());
    let mut server = tokio::spawn(server.into_future());
    let mut worker = tokio::spawn(worker::run(
        engine.clone(),
        background.work,
        shutdown.clone(),
    ));
    let sweep = tokio::spawn(sweep::run(engine.clone()));
    let demo = background.demo.then(|| tokio::spawn(demo::run(engine)));

    let outcome = tokio::select! {
        () = shutdown.cancelled() => Ok(()),
        ended = &mut worker => ended.unwrap_or_else(broken),
        ended = &mut server => ended.map_or_else(broken, |served| served.map_err(internal)),
    };
    shutdown.cancel();
    sweep.abort();
    if let Some(demo) = demo {
        demo.abort();
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
        tracing::warn!("some connections or steps did not end in time and are cut off");
    }
    outcome
}

fn broken(error: tokio::task::JoinError) -> Result<()> {
    Err(internal(error))
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Internal(error.into())
}

/// What is no route: a file of the site, or nothing. Programs get a problem,
/// people the site's page about it.
async fn elsewhere(State(app): State<App>, request: Request) -> Response {
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
