//! The files of the site for programs: `/robots.txt`, `/sitemap.xml` and the
//! feed of new results, `/feed.xml`.
//!
//! Addresses in them are absolute and begin with the configured public URL.
//! Without one there is no sitemap, which requires it, and the feed has
//! relative addresses.

mod atom;
mod sitemap;
mod xml;

use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use crate::app::App;
use crate::extract::ActorEngine;
use crate::problem::Problem;

/// The number of results in the feed.
const LATEST: u32 = 50;

const NO_ADDRESS: &str = "There is no sitemap: this site does not know its public URL. Its operator sets it with --public-url or SWE_CI_PUBLIC_URL.\n";

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/robots.txt", get(robots))
        .route("/sitemap.xml", get(sitemap))
        .route("/feed.xml", get(feed))
}

/// Crawlers may read every page. Data for programs, and the same pages with
/// parameters, would cost work without a reader.
async fn robots(State(app): State<App>) -> String {
    let mut text = "\
# Every page is in the sitemap; with parameters it is the same page, looked at
# in another way. Programs are welcome at /api/v1, which robots need not index.
User-agent: *
Disallow: /api/
Allow: /api/v1/plots/
Disallow: /compare
Disallow: /embed/
Disallow: /health/
Disallow: /*?
Allow: /sitemap.xml?
"
    .to_owned();
    if let Some(url) = &app.public_url {
        text.push_str(&format!("\nSitemap: {}\n", url.at("/sitemap.xml")));
    }
    text
}

#[derive(Debug, Deserialize)]
struct Part {
    /// The part of a sitemap in several files, from 1.
    part: Option<usize>,
}

async fn sitemap(
    State(app): State<App>,
    engine: ActorEngine,
    Query(Part { part }): Query<Part>,
) -> Result<Response, Problem> {
    let Some(url) = &app.public_url else {
        return Ok((StatusCode::NOT_FOUND, NO_ADDRESS).into_response());
    };
    let pages = sitemap::pages(&engine.directory().await?);
    match sitemap::write(&pages, url, part) {
        Some(written) => Ok(xml::respond("application/xml", written)),
        None => Err(Problem::no_such_address("/sitemap.xml with this `part`")),
    }
}

async fn feed(State(app): State<App>, engine: ActorEngine) -> Result<Response, Problem> {
    let results = engine.latest_results(LATEST).await?;
    let written = atom::write(&results, app.public_url.as_ref());
    Ok(xml::respond("application/atom+xml", written))
}
