//! The response to the harness, sent piece by piece.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use swe_ci_core::agent::Protocol;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use super::protocol::{self, Problem};

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

/// The receiving side, which becomes the HTTP response.
#[derive(Debug)]
pub(super) struct Waiting {
    head: oneshot::Receiver<(StatusCode, HeaderMap)>,
    pieces: mpsc::Receiver<io::Result<Bytes>>,
}

/// Both sides of a response. `streamed`: the harness requested a stream of events.
pub(super) fn reply(protocol: Protocol, streamed: bool) -> (Reply, Waiting) {
    let (head, head_received) = oneshot::channel();
    let (pieces, received) = mpsc::channel(BUFFER);
    let reply = Reply {
        protocol,
        streamed,
        head: Some(head),
        pieces,
    };
    let waiting = Waiting {
        head: head_received,
        pieces: received,
    };
    (reply, waiting)
}

impl Waiting {
    pub async fn response(self) -> Response {
        let mut response = Response::new(Body::from_stream(ReceiverStream::new(self.pieces)));
        match self.head.await {
            Ok((status, headers)) => {
                *response.status_mut() = status;
                *response.headers_mut() = headers;
            }
            // The exchange ended without an answer.
            Err(_) => *response.status_mut() = StatusCode::BAD_GATEWAY,
        }
        response
    }
}

impl Reply {
    /// Sends the provider's head with the allowed headers. Does nothing after
    /// [`Self::keep_alive`], which has sent a head already.
    pub fn begin(&mut self, status: StatusCode, headers: &HeaderMap) {
        if let Some(head) = self.head.take() {
            let passed = headers
                .iter()
                .filter(|(name, _)| protocol::passed_on_response(name))
                .map(|(name, value)| (name.clone(), value.clone()));
            let _ = head.send((status, passed.collect()));
        }
    }

    pub async fn piece(&self, piece: Bytes) {
        let _ = self.pieces.send(Ok(piece)).await;
    }

    /// Aborts the response, so that the harness sees that it is incomplete.
    pub async fn break_off(&self, why: &str) {
        let _ = self
            .pieces
            .send(Err(io::Error::other(why.to_owned())))
            .await;
    }

    /// Sends keep-alive bytes.
    pub async fn keep_alive(&mut self) {
        self.begin_early();
        let bytes = protocol::keep_alive(self.protocol, self.streamed);
        self.piece(Bytes::from_static(bytes)).await;
    }

    /// Sends an error. Returns the status and the body the harness got.
    pub async fn fail(&mut self, problem: Problem, message: &str) -> (StatusCode, Vec<u8>) {
        let (status, body) = if self.head.is_some() {
            protocol::error_body(Some(self.protocol), problem, message)
        } else {
            let event = protocol::error_event(self.protocol, self.streamed, problem, message);
            (StatusCode::OK, event)
        };
        if let Some(head) = self.head.take() {
            let json = (CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let _ = head.send((status, HeaderMap::from_iter([json])));
        }
        self.piece(Bytes::from(body.clone())).await;
        (status, body)
    }

    /// Sends a success head before the provider's head is known.
    fn begin_early(&mut self) {
        let kind = if self.streamed {
            "text/event-stream"
        } else {
            "application/json"
        };
        if let Some(head) = self.head.take() {
            let kind = (CONTENT_TYPE, HeaderValue::from_static(kind));
            let _ = head.send((StatusCode::OK, HeaderMap::from_iter([kind])));
        }
    }
}
