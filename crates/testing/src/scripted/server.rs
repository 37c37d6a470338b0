//! The HTTP server of a scripted LLM: it checks the key, sends the answer and
//! injects faults.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, DefaultBodyLimit, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::serve::IncomingStream;
use axum::{Json, Router};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use swe_ci_core::agent::Protocol;
use swe_ci_core::usage::Usage;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Seen;
use super::answer::error;
use super::player::Player;
use super::request::{AgentRequest, Operation, operation};
use super::script::{Fault, Script, usage};
use crate::lock;

pub(super) struct Server {
    player: Player,
    key: String,
    seen: Mutex<Vec<Seen>>,
    faults: Mutex<VecDeque<Fault>>,
    decide: Mutex<Option<Decide>>,
    sent: Mutex<Usage>,
}

pub(super) type Decide = Box<dyn Fn(&Seen) -> Option<Fault> + Send + Sync>;

/// A second handle on a connection, to close it without the server.
#[derive(Debug, Clone)]
struct Line(Option<Arc<TcpStream>>);

/// A successful answer, as the parts of its body.
#[derive(Debug)]
struct Reply {
    parts: Vec<String>,
    streamed: bool,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Server")
    }
}

impl Server {
    pub fn new(script: Script, key: &str) -> Self {
        Self {
            player: Player::new(script),
            key: key.to_owned(),
            seen: Mutex::default(),
            faults: Mutex::default(),
            decide: Mutex::default(),
            sent: Mutex::default(),
        }
    }

    pub async fn serve(self: Arc<Self>, listener: TcpListener, stop: CancellationToken) {
        let router = Router::new()
            .fallback(handle)
            .layer(DefaultBodyLimit::disable())
            .with_state(self)
            .into_make_service_with_connect_info::<Line>();
        let served = axum::serve(listener, router)
            .with_graceful_shutdown(stop.cancelled_owned())
            .await;
        if let Err(error) = served {
            tracing::warn!(%error, "the scripted LLM stopped");
        }
    }

    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }

    pub fn sent(&self) -> Usage {
        *lock(&self.sent)
    }

    pub fn forget_faults(&self) {
        lock(&self.faults).clear();
        *lock(&self.decide) = None;
    }

    pub fn decide_faults(&self, decide: Decide) {
        *lock(&self.decide) = Some(decide);
    }

    fn injected(&self, seen: &Seen) -> Option<Fault> {
        let next = lock(&self.faults).pop_front();
        next.or_else(|| lock(&self.decide).as_ref().and_then(|decide| decide(seen)))
    }

    pub fn add_faults(&self, n: usize, fault: Fault) {
        lock(&self.faults).extend(std::iter::repeat_n(fault, n));
    }

    /// The answer and its fault. The script is not consulted if the fault replaces
    /// the answer.
    fn reply(
        &self,
        operation: Operation,
        protocol: Protocol,
        request: &AgentRequest,
        injected: Option<Fault>,
    ) -> (Reply, Option<Fault>) {
        let replaces_answer = matches!(
            injected,
            Some(
                Fault::Status { .. }
                    | Fault::Stall
                    | Fault::Comments
                    | Fault::Drop
                    | Fault::Body(..)
                    | Fault::Short(..)
            )
        );
        if replaces_answer || operation != Operation::Answer {
            let tokens = usage(None).input_tokens;
            let body = json!({"data": [{"id": "scripted-1"}], "input_tokens": tokens, "totalTokens": tokens});
            return (Reply::whole(body.to_string()), injected);
        }
        let (answer, scripted) = self.player.answer(request);
        let fault = injected.or(scripted);
        let can_be_read = match fault {
            None | Some(Fault::Slow(_)) => true,
            // The counts stand in an event after the broken one.
            Some(Fault::Malformed) => request.streamed,
            Some(_) => false,
        };
        if request.turn().is_some() && can_be_read {
            *lock(&self.sent) += answer.usage;
        }
        let reply = if request.streamed {
            Reply {
                parts: answer.streamed(protocol, request.wants_usage),
                streamed: true,
            }
        } else {
            Reply::whole(answer.whole(protocol))
        };
        (reply, fault)
    }
}

async fn handle(
    State(server): State<Arc<Server>>,
    ConnectInfo(line): ConnectInfo<Line>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let request = AgentRequest::read(path, &body);
    let operation = operation(&method, path);
    let key = key(&headers, &uri);
    let is_right = key.as_ref() == Some(&server.key);
    let seen = Seen {
        protocol: operation.map(|(protocol, _)| protocol),
        path: path.to_owned(),
        model: request.model.clone(),
        key,
        headers,
        turn: request.turn(),
        body,
    };
    lock(&server.seen).push(seen.clone());
    let Some((protocol, operation)) = operation else {
        return refusal(Protocol::Chat, StatusCode::NOT_FOUND);
    };
    if !is_right {
        return refusal(protocol, StatusCode::UNAUTHORIZED);
    }
    let (reply, fault) = server.reply(operation, protocol, &request, server.injected(&seen));
    match fault {
        None => reply.into_response(),
        Some(fault) => faulty_response(fault, reply, protocol, &line).await,
    }
}

async fn faulty_response(fault: Fault, reply: Reply, protocol: Protocol, line: &Line) -> Response {
    match fault {
        Fault::Status { code, retry_after } => {
            let code = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let mut response = refusal(protocol, code);
            let headers = response.headers_mut();
            headers.extend(retry_after.map(|seconds| (RETRY_AFTER, seconds.into())));
            response
        }
        Fault::Slow(wait) => {
            tokio::time::sleep(wait).await;
            reply.into_response()
        }
        Fault::Stall => {
            let nothing = stream::pending::<Result<Bytes, Infallible>>();
            let head = [(CONTENT_TYPE, "text/event-stream")];
            (head, Body::from_stream(nothing)).into_response()
        }
        Fault::Comments => {
            let comments = stream::repeat(": PROCESSING\n\n").then(|comment| async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                Ok::<_, Infallible>(comment)
            });
            let head = [(CONTENT_TYPE, "text/event-stream")];
            (head, Body::from_stream(comments)).into_response()
        }
        Fault::Hang => reply.truncated().and_then(stream::pending()),
        Fault::Truncated => reply.truncated().into_response(),
        Fault::Malformed => reply.malformed().into_response(),
        Fault::Cut => reply.truncated().and_then(cut()),
        Fault::CutAtEnd => reply.and_then(cut()),
        Fault::Short(body) => {
            let head = [
                (CONTENT_TYPE, "application/json".to_owned()),
                (CONTENT_LENGTH, (body.len() + 9).to_string()),
            ];
            let late = stream::once(async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok(body.to_owned())
            });
            (head, Body::from_stream(late.chain(cut()))).into_response()
        }
        Fault::Body(kind, body) => ([(CONTENT_TYPE, kind)], body).into_response(),
        Fault::Drop => {
            line.hang_up();
            Response::default()
        }
    }
}

impl Reply {
    fn whole(body: String) -> Self {
        Self {
            parts: vec![body],
            streamed: false,
        }
    }

    fn truncated(self) -> Self {
        let mut body = self.parts.concat();
        body.truncate(body.floor_char_boundary(body.len() / 2));
        Self {
            parts: vec![body],
            ..self
        }
    }

    /// All parts, and then this.
    fn and_then(
        self,
        end: impl Stream<Item = std::io::Result<String>> + Send + 'static,
    ) -> Response {
        let head = [(CONTENT_TYPE, "text/event-stream")];
        let parts = stream::iter(self.parts).map(Ok);
        (head, Body::from_stream(parts.chain(end))).into_response()
    }

    /// Removes the last brace of the middle part.
    fn malformed(mut self) -> Self {
        let middle = self.parts.len() / 2;
        if let Some(part) = self.parts.get_mut(middle) {
            part.truncate(part.trim_end().len().saturating_sub(1));
            part.push_str("\n\n");
        }
        self
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        if !self.streamed {
            let head = [(CONTENT_TYPE, "application/json")];
            return (head, self.parts.concat()).into_response();
        }
        let parts = stream::iter(self.parts).map(Ok::<_, Infallible>);
        let head = [(CONTENT_TYPE, "text/event-stream")];
        (head, Body::from_stream(parts)).into_response()
    }
}

/// The end of the connection, once what was sent before is on its way.
fn cut() -> impl Stream<Item = std::io::Result<String>> {
    stream::once(async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Err(std::io::Error::other("cut"))
    })
}

fn refusal(protocol: Protocol, code: StatusCode) -> Response {
    let why = code.canonical_reason().unwrap_or("Refused");
    let body = error(protocol, code.as_u16(), &format!("{why}, says the script."));
    (code, Json(body)).into_response()
}

/// The key, from any place the protocols use.
fn key(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let bearer = header(AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
    let in_query = || {
        uri.query()?
            .split('&')
            .find_map(|pair| pair.strip_prefix("key="))
    };
    bearer
        .or_else(|| header("x-api-key"))
        .or_else(|| header("x-goog-api-key"))
        .or_else(in_query)
        .map(ToOwned::to_owned)
}

impl Connected<IncomingStream<'_, TcpListener>> for Line {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        let second = stream.io().as_fd().try_clone_to_owned();
        Self(second.ok().map(|fd| Arc::new(TcpStream::from(fd))))
    }
}

impl Line {
    fn hang_up(&self) {
        if let Some(stream) = &self.0
            && let Err(error) = stream.shutdown(Shutdown::Both)
        {
            tracing::debug!(%error, "the connection was closed already");
        }
    }
}
