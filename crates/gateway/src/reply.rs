//! The response to the harness, sent piece by piece.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use swe_ci_core::agent::Protocol;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use super::protocol::{self, Problem};

/// The type of a stream of events.
pub(super) const EVENTS: &str = "text/event-stream";
/// Buffered pieces; when the buffer is full, sending waits for the harness.
const BUFFER: usize = 16;

/// The sending side. It ignores a closed connection: the gateway reads every
/// answer to its end, so that it is counted.
#[derive(Debug)]
pub(super) struct Reply {
    protocol: Protocol,
    streamed: bool,
    head: Option<oneshot::Sender<(StatusCode, HeaderMap)>>,
    pieces: mpsc::Sender<io::Result<Bytes>>,
}

/// Both sides of a response: one to send it, and the response itself, ready
/// once its head is known. `streamed`: the harness requested a stream of events.
pub(super) fn reply(protocol: Protocol, streamed: bool) -> (Reply, impl Future<Output = Response>) {
    let (head, head_received) = oneshot::channel::<(StatusCode, HeaderMap)>();
    let (pieces, received) = mpsc::channel(BUFFER);
    let reply = Reply {
        protocol,
        streamed,
        head: Some(head),
        pieces,
    };
    let response = async move {
        let body = Body::from_stream(ReceiverStream::new(received));
        match head_received.await {
            Ok((status, headers)) => (status, headers, body).into_response(),
            // The exchange ended without an answer.
            Err(_) => (StatusCode::BAD_GATEWAY, body).into_response(),
        }
    };
    (reply, response)
}

/// The headers of a stream of events, or of JSON.
pub(super) fn content_type(events: bool) -> HeaderMap {
    let kind = match events {
        true => EVENTS,
        false => "application/json",
    };
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))])
}

impl Reply {
    /// Sends the provider's head with the allowed headers. Does nothing after
    /// [`Self::keep_alive`], which has sent a head already.
    pub fn begin(&mut self, status: StatusCode, headers: &HeaderMap) {
        let passed = headers
            .iter()
            .filter(|(name, _)| protocol::passed_on_response(name))
            .map(|(name, value)| (name.clone(), value.clone()));
        self.send_head(status, passed.collect());
    }

    fn send_head(&mut self, status: StatusCode, headers: HeaderMap) {
        if let Some(head) = self.head.take() {
            let _ = head.send((status, headers));
        }
    }

    /// Whether the harness has a head already.
    pub fn has_begun(&self) -> bool {
        self.head.is_none()
    }

    pub async fn piece(&self, piece: Bytes) {
        let _ = self.pieces.send(Ok(piece)).await;
    }

    /// Aborts the response, so that the harness sees that it is incomplete.
    pub async fn break_off(&self, why: &str) {
        let error = io::Error::other(why.to_owned());
        let _ = self.pieces.send(Err(error)).await;
    }

    /// Keep-alive bytes are those of the answer that comes, even where another was asked
    /// for; once the harness has a head, they are those of this head.
    pub fn expect(&mut self, streamed: bool) {
        if !self.has_begun() {
            self.streamed = streamed;
        }
    }

    /// Sends keep-alive bytes, and before them a success head.
    pub fn keep_alive(&mut self) {
        self.send_head(StatusCode::OK, content_type(self.streamed));
        let bytes = protocol::keep_alive(self.protocol, self.streamed);
        // A harness with a full buffer has bytes to read, and nobody waits for it.
        let _ = self.pieces.try_send(Ok(Bytes::from_static(bytes)));
    }

    /// Sends an error. Returns the status and the body the harness got.
    pub async fn fail(&mut self, problem: Problem, message: &str) -> (StatusCode, Vec<u8>) {
        let (status, body) = if self.head.is_some() {
            protocol::error_body(Some(self.protocol), problem, message)
        } else {
            let event = protocol::error_event(self.protocol, self.streamed, problem, message);
            (StatusCode::OK, event)
        };
        self.send_head(status, content_type(false));
        self.piece(Bytes::from(body.clone())).await;
        (status, body)
    }
}
