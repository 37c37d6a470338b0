//! The pages and the "not found" page, rendered by `swe_ci_app` with the engine in
//! their context.

use std::sync::OnceLock;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use leptos::nonce::use_nonce;
use leptos::prelude::{IntoAny, provide_context, use_context};
use leptos_axum::{
    AxumRouteListing, ResponseOptions, generate_route_list, render_app_async_with_context,
};
use swe_ci_app::{FormAnswer, shell};
use swe_ci_views::account::Actor;

use crate::app::App;
use crate::extract::actor;
use crate::headers;
use crate::shown_once;

/// Adds the routes of the pages. Not by `LeptosRoutes`: it compiles every way to
/// stream a page, and pages here are sent whole.
pub(crate) fn routes(router: Router<App>) -> Router<App> {
    paths().fold(router, |router, path| router.route(path, get(page)))
}

/// The paths of the pages, in axum's syntax.
pub fn paths() -> impl Iterator<Item = &'static str> {
    listed().iter().map(AxumRouteListing::path)
}

/// Listed once per process: listing renders the whole frame, and pages of
/// another router that render at the same time may wait for ever.
fn listed() -> &'static [AxumRouteListing] {
    static LISTED: OnceLock<Vec<AxumRouteListing>> = OnceLock::new();
    LISTED.get_or_init(|| generate_route_list(swe_ci_app::App))
}

async fn page(State(app): State<App>, request: Request) -> Response {
    let Some(answer) = shown_once::read(request.headers()) else {
        return render(&app, request, None).await;
    };
    let path = request.uri().path().to_owned();
    let secure = app.is_secure();
    let mut response = render_form_answer(app, request, 200, answer).await;
    shown_once::end(&mut response, &path, secure);
    response
}

/// Renders a page with the result of a form that was sent to its address.
pub(crate) async fn render_form_answer(
    app: App,
    request: Request,
    status: u16,
    answer: FormAnswer,
) -> Response {
    let mut response = render(&app, request, Some(answer)).await;
    if let Ok(status) = StatusCode::from_u16(status)
        && response.status() == StatusCode::OK
    {
        *response.status_mut() = status;
    }
    // It may show a secret, only this once.
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The site's own "not found" page.
pub(crate) async fn not_found(app: App, request: Request) -> Response {
    let mut response = render(&app, request, None).await;
    if response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

async fn render(app: &App, request: Request, answer: Option<FormAnswer>) -> Response {
    let shared = context(app);
    let all = move || {
        shared();
        if let Some(answer) = answer.clone() {
            provide_context(answer);
        }
    };
    let site = app.site.clone();
    let document = move || shell(site.leptos(), site.scripts()).into_any();
    let render = render_app_async_with_context(all, document);
    render(request).await.into_response()
}

/// The context of pages, and their policy with the nonce that leptos made for
/// this response.
fn context(app: &App) -> impl Fn() + Clone + Send + Sync + 'static + use<> {
    let engine = app.engine.clone();
    let public_url = app.public_url.clone();
    let providers = app.providers.shown();
    move || {
        let by = use_context::<Parts>().map_or(Actor::Visitor, |p| actor(&p.extensions));
        provide_context(engine.acting_for(by.clone()));
        provide_context(by);
        provide_context(public_url.clone());
        provide_context(providers.clone());
        provide_context(crate::api::areas());
        let policy = use_nonce().and_then(|nonce| headers::page_policy(&nonce));
        if let (Some(policy), Some(response)) = (policy, use_context::<ResponseOptions>()) {
            response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
        }
    }
}
