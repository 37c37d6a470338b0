//! The pages: routes, server functions and the page about what is not there,
//! all rendered by `swe_ci_app` with the engine at hand.

use std::sync::OnceLock;

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use leptos::nonce::use_nonce;
use leptos::prelude::{provide_context, use_context};
use leptos_axum::{
    AxumRouteListing, LeptosRoutes, ResponseOptions, generate_route_list,
    render_app_async_with_context,
};
use swe_ci_app::shell;

use super::{App, headers};

/// Adds the routes of the pages and of their server functions.
pub(super) fn routes(router: Router<App>, app: &App) -> Router<App> {
    // Listed once in a process: listing renders the whole frame, and pages of
    // another router that are rendered meanwhile may wait for ever.
    static LISTED: OnceLock<Vec<AxumRouteListing>> = OnceLock::new();
    let listed = LISTED.get_or_init(|| generate_route_list(swe_ci_app::App));
    router.leptos_routes_with_context(app, listed.clone(), context(app), page(app))
}

/// The site's own "not found" page.
pub(super) async fn not_found(app: App, request: Request) -> Response {
    let render = render_app_async_with_context(context(&app), page(&app));
    let mut response = render(request).await.into_response();
    if response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

fn page(
    app: &App,
) -> impl Fn() -> leptos::prelude::AnyView + Clone + Send + Sync + 'static + use<> {
    use leptos::prelude::IntoAny;
    let options = app.site.leptos().clone();
    move || shell(options.clone()).into_any()
}

/// What pages and server functions find in their context, and the policy of
/// the page, which carries the nonce leptos made for this response. A server
/// function has no nonce, and the policy of what is not a page.
fn context(app: &App) -> impl Fn() + Clone + Send + Sync + 'static + use<> {
    let engine = app.engine.clone();
    let public_url = app.public_url.clone();
    move || {
        provide_context(engine.clone());
        provide_context(public_url.clone());
        let policy = use_nonce().and_then(|nonce| headers::page_policy(&nonce));
        if let (Some(policy), Some(response)) = (policy, use_context::<ResponseOptions>()) {
            response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
        }
    }
}
