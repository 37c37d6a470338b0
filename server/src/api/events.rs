//! The live events of a run, as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use futures::{FutureExt, StreamExt};
use swe_ci_views::event::RunEvent;

use super::Result;
use super::addresses::RunPath;
use super::responses::NoSuchRun;
use crate::app::App;
use crate::extract::{ActorEngine, Path};
use crate::problem::Problem;

/// The server sends a comment after this much silence, so that proxies and
/// browsers do not take the stream for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The last event that a reconnecting client has seen.
#[derive(Debug)]
pub(crate) struct LastEventId(Option<u64>);

impl<S: Sync> FromRequestParts<S> for LastEventId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let Some(value) = parts.headers.get("last-event-id") else {
            return Ok(Self(None));
        };
        let text = String::from_utf8_lossy(value.as_bytes());
        let must = "the id of an event of this stream";
        let seq = text.trim().parse();
        let seq = seq.map_err(|_| Problem::parameter("Last-Event-ID", &text, must))?;
        Ok(Self(Some(seq)))
    }
}

/// The events of a run from now on until it is over, as server-sent events: the id of
/// each is its `seq`, its data a JSON object. With `Last-Event-ID`, the stream begins
/// with the events missed since then, as far as the server remembers them.
#[utoipa::path(
    get, path = "/api/v1/runs/{id}/events", tag = "runs",
    params(
        RunPath,
        ("Last-Event-ID" = Option<u64>, Header, description = "Id of the last event seen; browsers send it when they reconnect"),
    ),
    responses(
        (status = 200, description = "A stream, which ends after the `run` event that the run is over, and when the server stops; the data of each event is one of these", body = RunEvent, content_type = "text/event-stream"),
        (status = 204, description = "The run is over and nothing was missed; browsers do not reconnect"),
        NoSuchRun,
        (status = 400, description = "Last-Event-ID is not a number"),
    ),
)]
pub(crate) async fn events(
    State(app): State<App>,
    engine: ActorEngine,
    path: Path<RunPath>,
    LastEventId(after): LastEventId,
) -> Result<Response> {
    let mut events = engine.events(&path.id, after).await?.peekable();
    // Browsers reconnect after every other end of a stream.
    let first = Pin::new(&mut events).peek().now_or_never();
    if first.is_some_and(|event| event.is_none()) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let stream = events
        .map(|event| Ok::<_, Infallible>(sse(&event)))
        .take_until(app.shutdown.cancelled_owned());
    // nginx would otherwise hold events back until its buffer is full.
    let unbuffered = ("x-accel-buffering", "no");
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE);
    Ok(([unbuffered], Sse::new(stream).keep_alive(keep_alive)).into_response())
}

fn sse(event: &RunEvent) -> Event {
    let data = serde_json::to_string(event).unwrap_or_else(|e| {
        tracing::error!(error = %e, seq = event.seq, "an event cannot be written as JSON");
        "{}".into()
    });
    Event::default().id(event.seq.to_string()).data(data)
}
