//! Figures as PNG, PDF and SVG of outlines, for download.
//!
//! `swe_ci_plots` draws SVG with letters of the reader's machine; this module makes
//! files that look the same everywhere.

mod render;

use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use swe_ci_plots::Figure;
use tokio::sync::Semaphore;

use crate::problem::Problem;
use render::Unrenderable;

/// The limit of pictures rendered at the same time. Each keeps a processor
/// busy.
static DRAWING: Semaphore = Semaphore::const_new(2);

/// The factor by which a figure is enlarged along each side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scale(u32);

impl Scale {
    /// For high-resolution screens.
    pub(crate) const DOUBLE: Self = Self(2);
    /// For paper: 576 pixels an inch.
    pub(crate) const PRINT: Self = Self(6);
    /// Completes "it must be …".
    pub(crate) const MUST: &str = "a whole number from 2 to 4";

    /// From 2 to 4; a smaller picture is not worth a file.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let scale = text.parse().ok()?;
        (2..=4).contains(&scale).then_some(Self(scale))
    }
}

/// Renders the result of `draw` as PNG, on a blocking thread.
pub(crate) async fn png(
    scale: Scale,
    draw: impl FnOnce() -> Figure + Send + 'static,
) -> Result<Response, Problem> {
    let made = rendered("image/png", move || render::png(&draw().svg, scale.0)).await?;
    made.map_err(|error| match error {
        Unrenderable::TooLarge { most } => too_large(scale, most),
        error => broken(&error),
    })
}

/// Renders the result of `draw` as PDF of one page, with the letters that it needs.
pub(crate) async fn pdf(
    title: &'static str,
    draw: impl FnOnce() -> Figure + Send + 'static,
) -> Result<Response, Problem> {
    let made = rendered("application/pdf", move || render::pdf(&draw().svg, title)).await?;
    made.map_err(|error| broken(&error))
}

/// The result of `draw` with outlines in the place of letters.
pub(crate) async fn outlined_svg(
    draw: impl FnOnce() -> Figure + Send + 'static,
) -> Result<Response, Problem> {
    let made = rendered("image/svg+xml", move || render::outlined(&draw().svg)).await?;
    made.map_err(|error| broken(&error))
}

/// On a blocking thread.
async fn rendered(
    content_type: &'static str,
    render: impl FnOnce() -> Result<Vec<u8>, Unrenderable> + Send + 'static,
) -> Result<Result<Response, Unrenderable>, Problem> {
    // The semaphore is never closed; an error would only allow one more
    // picture.
    let permit = DRAWING.acquire().await;
    let made = tokio::task::spawn_blocking(render).await;
    drop(permit);
    let made = made.map_err(|error| broken(&error))?;
    let headers = [(header::CONTENT_TYPE, content_type)];
    Ok(made.map(|bytes| (headers, Bytes::from(bytes)).into_response()))
}

fn too_large(Scale(scale): Scale, most: u32) -> Problem {
    let detail = format!(
        "with `scale` {scale} this figure has too many pixels, because it has many runs. {}",
        match most {
            2.. => format!("Ask for {most} at most, or for the SVG."),
            _ => "Ask for the SVG.".to_owned(),
        }
    );
    Problem::about_parameter("scale", detail)
}

fn broken(error: &(dyn std::error::Error + 'static)) -> Problem {
    tracing::error!(error, "a picture could not be rendered");
    Problem::internal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales() {
        for (text, expect) in [("2", Some(2)), ("4", Some(4))] {
            assert_eq!(Scale::from_text(text).map(|s| s.0), expect);
        }
        for wrong in ["", "1", "5", "2.5", "-2", "2x", "99999999999"] {
            assert_eq!(Scale::from_text(wrong), None, "{wrong}");
        }
    }
}
