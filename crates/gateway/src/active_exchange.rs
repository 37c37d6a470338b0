//! One exchange: sends the request to the provider or looks it up in the
//! recording, streams the answer to the harness, counts and records it.

use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures::StreamExt;
use serde_json::Value;
use sha2::{Digest, Sha256};
use swe_ci_base::clock::now_ms;
use tokio::sync::OwnedSemaphorePermit;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::protocol::{AgentRequest, Meter, Outgoing, Problem};
use super::provider_retry::{Answer, read_error_body, shorten};
use super::recording::{Exchange, MAX_ANSWER};
use super::reply::{Reply, content_type, reply};
use super::session_state::SessionState;

/// Starts an exchange and returns its response as soon as the head is known.
pub(super) async fn respond(
    session: Arc<SessionState>,
    request: AgentRequest,
    headers: HeaderMap,
    body: &[u8],
    memory: OwnedSemaphorePermit,
) -> Response {
    let (reply, response) = reply(request.protocol, request.streamed);
    let (ordinal, distinct) = session.number_request(body);
    let active = ActiveExchange {
        exchange: Exchange {
            ordinal,
            protocol: request.protocol,
            // Set at the end, since it is large.
            request: Value::Null,
            status: 0,
            streamed: request.streamed,
            response: String::new(),
            complete: false,
            usage: None,
            started_at: now_ms(),
            finished_at: 0,
            waiting_ms: 0,
            retries: Vec::new(),
            error: None,
        },
        request,
        distinct,
        session: session.clone(),
        reply,
        recorded: Vec::new(),
        _memory: memory,
    };
    // A task of its own, so that an answer is counted even if the harness has
    // closed the connection.
    let span = active.span();
    session
        .exchanges
        .spawn(active.run(headers).instrument(span));
    response.await
}

impl SessionState {
    /// The ordinal of a request, and its ordinal without immediate repetitions.
    fn number_request(&self, body: &[u8]) -> (u32, u32) {
        let mut totals = self.totals();
        totals.arrived += 1;
        let digest = <[u8; 32]>::from(Sha256::digest(body));
        if totals.last_body != Some(digest) {
            totals.distinct += 1;
            totals.last_body = Some(digest);
        }
        (totals.arrived, totals.distinct)
    }
}

struct ActiveExchange {
    session: Arc<SessionState>,
    request: AgentRequest,
    distinct: u32,
    exchange: Exchange,
    reply: Reply,
    /// The bytes sent to the harness, up to a limit.
    recorded: Vec<u8>,
    /// Held until the exchange ends.
    _memory: OwnedSemaphorePermit,
}

impl ActiveExchange {
    /// With the names that OpenTelemetry gives to such calls.
    fn span(&self) -> Span {
        tracing::debug_span!(
            parent: &self.session.span,
            "ask the model",
            otel.kind = "client",
            gen_ai.request.model = self.session.config.endpoint.model,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            http.response.status_code = Empty,
            request = self.exchange.ordinal,
            retries = Empty,
            complete = Empty,
        )
    }

    /// What the exchange came to.
    fn note_in_span(&self) {
        let (span, exchange) = (Span::current(), &self.exchange);
        span.record("http.response.status_code", exchange.status);
        span.record("retries", exchange.retries.len());
        span.record("complete", exchange.complete);
        if let Some(usage) = exchange.usage {
            span.record("gen_ai.usage.input_tokens", usage.input_tokens);
            span.record("gen_ai.usage.output_tokens", usage.output_tokens);
        }
    }

    async fn run(mut self, headers: HeaderMap) {
        let closed = self.session.closed.clone();
        let waited = self.session.excluded.total();
        let trouble = match &self.session.config.recording {
            Some(_) => self.replay().await,
            None => {
                let trouble = closed
                    .run_until_cancelled_owned(self.ask_provider(&headers))
                    .await;
                trouble.unwrap_or_else(|| {
                    self.exchange.error = Some("the step ended before the answer did".into());
                    None
                })
            }
        };
        let waited = self.session.excluded.total().saturating_sub(waited);
        self.exchange.waiting_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.exchange.response = String::from_utf8_lossy(&self.recorded).into_owned();
        self.exchange.finished_at = now_ms();
        self.note_in_span();
        let (session, request, mut exchange) = (self.session.clone(), self.request, self.exchange);
        let write = move || {
            exchange.request = request.body();
            // A provider need not support counting tokens in advance.
            if !request.counting {
                session.totals().trouble = trouble;
            }
            session.count_exchange(&exchange);
        };
        if let Err(error) = tokio::task::spawn_blocking(write).await {
            tracing::warn!("an exchange was not counted: {error}");
        }
        self.session.config.ledger.settle().await;
    }

    /// Calls the provider and streams its answer. Returns why the provider is to
    /// blame if that failed.
    async fn ask_provider(&mut self, headers: &HeaderMap) -> Option<String> {
        let config = &self.session.config;
        let outgoing = self
            .request
            .outgoing(&config.endpoint, config.allow_hosted_tools);
        match self.wait_for_provider(&outgoing, headers).await {
            Ok((response, _permit)) => self.pass_on(response).await,
            Err(why) => Some(self.give_up(why).await),
        }
    }

    /// Fails this exchange and the step. Returns why.
    async fn give_up(&mut self, why: String) -> String {
        let (status, body) = self.reply.fail(Problem::ProviderFailed, &why).await;
        self.exchange.status = status.as_u16();
        self.record_bytes(&body);
        self.exchange.error = Some(why.clone());
        self.session.give_up(why.clone());
        why
    }

    /// Waits for the provider's answer. Once a try has failed, the harness gets
    /// keep-alive bytes at intervals, so that it does not time out.
    async fn wait_for_provider(&mut self, outgoing: &Outgoing, headers: &HeaderMap) -> Answer {
        let session = self.session.clone();
        let log = Mutex::default();
        let answer = {
            let mut answering = std::pin::pin!(session.send_with_retries(outgoing, headers, &log));
            loop {
                tokio::select! {
                    answer = &mut answering => break answer,
                    () = tokio::time::sleep(session.gateway.inner.retry_policy.keep_alive) => {
                        let retrying = log.lock().is_ok_and(|retries| !retries.is_empty());
                        if retrying {
                            self.reply.keep_alive().await;
                        }
                    }
                }
            }
        };
        self.exchange.retries = log.into_inner().unwrap_or_default();
        answer
    }

    /// Streams the answer to the harness. Returns why the provider is to blame
    /// if the answer is not good.
    async fn pass_on(&mut self, response: reqwest::Response) -> Option<String> {
        let status = response.status();
        self.exchange.status = status.as_u16();
        if !status.is_success() {
            return self.pass_on_refusal(status, response).await;
        }
        let kind = response.headers().get(header::CONTENT_TYPE);
        let events = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        self.exchange.streamed = events;
        self.reply.begin(status, response.headers());
        let mut meter = Meter::new(self.request.protocol, events);
        let mut pieces = response.bytes_stream();
        let mut broken = None;
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(piece) => {
                    meter.take(&piece);
                    self.record_bytes(&piece);
                    self.reply.piece(piece).await;
                }
                Err(error) => {
                    broken = Some(error.without_url().to_string());
                    let why = "the provider's answer broke off";
                    self.reply.break_off(why).await;
                    break;
                }
            }
        }
        let metered = meter.finish();
        self.exchange.usage = metered.usage;
        self.exchange.complete = metered.complete;
        let trouble = match (broken, metered.error, metered.complete) {
            (Some(why), _, _) => Some(format!("the provider's answer broke off: {why}")),
            (None, Some(why), _) => Some(format!(
                "the provider reported an error in its answer: {}",
                shorten(&self.session.without_key(&why))
            )),
            (None, None, false) => Some("the provider's answer ended before its end".into()),
            (None, None, true) => None,
        };
        self.exchange.error.clone_from(&trouble);
        trouble
    }

    /// Passes an error response on unchanged. Some are the fault of the provider
    /// or the configuration, others of the harness.
    async fn pass_on_refusal(
        &mut self,
        status: StatusCode,
        response: reqwest::Response,
    ) -> Option<String> {
        let headers = response.headers().clone();
        let text = self.session.without_key(&read_error_body(response).await);
        self.reply.begin(status, &headers);
        self.record_bytes(text.as_bytes());
        self.reply.piece(Bytes::from(text.clone())).await;
        let why = format!("the provider answered HTTP {status}: {}", shorten(&text));
        self.exchange.error = Some(why.clone());
        match status.as_u16() {
            401..=403 => {
                self.session.give_up(why.clone());
                Some(why)
            }
            404 => Some(why),
            _ => None,
        }
    }

    /// Answers from the recording; fails the step if the request does not match.
    async fn replay(&mut self) -> Option<String> {
        let session = self.session.clone();
        let recording = session.config.recording.as_ref()?;
        match recording.answer(self.distinct, &self.request) {
            Ok(found) => {
                let status = StatusCode::from_u16(found.status).unwrap_or(StatusCode::BAD_GATEWAY);
                self.reply.begin(status, &content_type(found.streamed));
                self.record_bytes(found.response.as_bytes());
                self.exchange = Exchange {
                    ordinal: self.exchange.ordinal,
                    started_at: self.exchange.started_at,
                    retries: Vec::new(),
                    ..found.head()
                };
                self.reply.piece(Bytes::from(found.response.clone())).await;
                None
            }
            Err(mismatch) => {
                let why = format!("the recording does not fit: {mismatch}");
                tracing::error!("{why}");
                Some(self.give_up(why).await)
            }
        }
    }

    fn record_bytes(&mut self, bytes: &[u8]) {
        let free = MAX_ANSWER.saturating_sub(self.recorded.len());
        self.recorded
            .extend_from_slice(&bytes[..bytes.len().min(free)]);
    }
}
