//! The answer a harness is given, piece by piece.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use swe_ci_core::agent::Protocol;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::ReceiverStream;

use super::protocol::{self, Problem};

/// Pieces on their way to the harness; one that reads slowly is waited for.
const UNDER_WAY: usize = 16;

/// The side that speaks. Whether somebody still listens does not concern it:
/// an answer is read to its end in any case, so that it is counted.
#[derive(Debug)]
pub(super) struct Reply {
    protocol: Protocol,
    streamed: bool,
    head: Option<oneshot::Sender<(StatusCode, HeaderMap)>>,
    pieces: mpsc::Sender<io::Result<Bytes>>,
}

/// The side that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    head: oneshot::Receiver<(StatusCode, HeaderMap)>,
    pieces: mpsc::Receiver<io::Result<Bytes>>,
}

/// `streamed`: whether a stream of events was asked for.
pub(super) fn reply(protocol: Protocol, streamed: bool) -> (Reply, Waiting) {
    let (head, head_received) = oneshot::channel();
    let (pieces, received) = mpsc::channel(UNDER_WAY);
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
            // The exchange ended without a word.
            Err(_) => *response.status_mut() = StatusCode::BAD_GATEWAY,
        }
        response
    }
}

impl Reply {
    /// The provider's own head, less what is not for the harness. Once
    /// something was said to keep the line alive, it is too late for it.
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

    /// The harness sees that the answer broke off.
    pub async fn break_off(&self, why: &str) {
        let _ = self
            .pieces
            .send(Err(io::Error::other(why.to_owned())))
            .await;
    }

    /// Says that an answer is still being waited for.
    pub async fn keep_alive(&mut self) {
        self.begin_ourselves();
        let sign = protocol::keep_alive(self.protocol, self.streamed);
        self.piece(Bytes::from_static(sign)).await;
    }

    /// There is no answer. Returns the status and the text the harness got.
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

    /// A good head before the provider's is known.
    fn begin_ourselves(&mut self) {
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
