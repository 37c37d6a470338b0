//! Figures as PNG, for download.
//!
//! `swe_ci_plots` draws SVG; this module renders it to pixels.

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
    // The semaphore is never closed; an error would only allow one more
    // picture.
    let permit = DRAWING.acquire().await;
    let made = tokio::task::spawn_blocking(move || render::png(&draw().svg, scale.0)).await;
    drop(permit);
    match made {
        Ok(Ok(bytes)) => {
            let headers = [(header::CONTENT_TYPE, "image/png")];
            Ok((headers, Bytes::from(bytes)).into_response())
        }
        Ok(Err(Unrenderable::TooLarge { most })) => Err(too_large(scale, most)),
        Ok(Err(error)) => Err(broken(&error)),
        Err(error) => Err(broken(&error)),
    }
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
