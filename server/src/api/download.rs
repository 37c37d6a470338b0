//! Responses that a browser saves as a file.

use axum::http::header;
use axum::response::{IntoResponse, Response};

pub(super) const CSV: &str = "text/csv; charset=utf-8";

/// A browser never renders the content, whoever wrote it. `name` has only
/// characters that need no quoting.
pub(super) fn download(
    name: &str,
    media_type: &'static str,
    content: impl IntoResponse,
) -> Response {
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    (headers, content).into_response()
}
