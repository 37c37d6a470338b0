//! One exchange: sends the request to the provider or looks it up in the
//! recording, streams the answer to the harness, counts and records it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use swe_ci_base::clock::now_ms;
use swe_ci_core::step::Truncation;
use tokio::sync::OwnedSemaphorePermit;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::protocol::{AgentRequest, Form, Problem};
use super::provider_request::{Failure, Judged};
use super::recording::{Exchange, MAX_ANSWER};
use super::reply::{Reply, content_type, reply};
use super::session_state::SessionState;
use super::trajectory;

/// Starts an exchange and returns its response as soon as the head is known.
pub(super) async fn respond(
    session: Arc<SessionState>,
    request: AgentRequest,
    headers: HeaderMap,
    body: &[u8],
    memory: OwnedSemaphorePermit,
) -> Response {
    let (reply, response) = reply(request.protocol, request.streamed);
    let (ordinal, distinct, is_repeated) = session.number_request(body, !request.streamed);
    let active = ActiveExchange {
        exchange: Exchange {
            ordinal,
            protocol: request.protocol,
            // Set at the end, since it is large.
            request: Value::Null,
            parameters: match request.counting {
                true => Map::new(),
                false => session.config.endpoint.parameters.clone(),
            },
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
        is_repeated,
        own_pause: session.gateway.inner.retry_policy.first_pause,
        tries: 0,
        refused: None,
        trouble: None,
        session: session.clone(),
        reply,
        form: Form::default(),
        has_head: false,
        held: Vec::new(),
        recorded: Vec::new(),
        _memory: memory,
    };
    // A task of its own, so that an answer is counted even if the harness has
    // closed the connection.
    let span = active.span();
    session.tasks.spawn(active.run(headers).instrument(span));
    response.await
}

impl SessionState {
    /// The ordinal of a request, its ordinal without immediate repetitions, and whether
    /// it is one.
    fn number_request(&self, body: &[u8], is_whole: bool) -> (u32, u32, bool) {
        let mut totals = self.totals();
        totals.arrived += 1;
        totals.last_arrived = Some(Instant::now());
        totals.last_is_whole = is_whole;
        let digest = <[u8; 32]>::from(Sha256::digest(body));
        let is_repeated = totals.last_body.replace(digest) == Some(digest);
        totals.distinct += u32::from(!is_repeated);
        (totals.arrived, totals.distinct, is_repeated)
    }
}

pub(super) struct ActiveExchange {
    pub(super) session: Arc<SessionState>,
    pub(super) request: AgentRequest,
    distinct: u32,
    is_repeated: bool,
    pub(super) exchange: Exchange,
    pub(super) reply: Reply,
    /// In which the request was last sent.
    pub(super) form: Form,
    /// The provider has begun to answer.
    pub(super) has_head: bool,
    pub(super) own_pause: Duration,
    /// Failed tries since a probe was last not answered.
    pub(super) tries: u32,
    /// The status of the last failure, if the request may be at fault for it.
    pub(super) refused: Option<Option<StatusCode>>,
    /// Why the provider is to blame, while it is waited for.
    pub(super) trouble: Option<String>,
    /// The bytes of the present answer that the harness has not got.
    pub(super) held: Vec<u8>,
    /// The bytes sent to the harness, up to a limit.
    pub(super) recorded: Vec<u8>,
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
        // The provider may charge for it from now on, whatever becomes of this process.
        self.session.keep_usage().await;
        let trouble = match &self.session.config.recording {
            Some(_) => self.replay().await,
            None => {
                let trouble = closed
                    .run_until_cancelled_owned(Box::pin(self.ask_provider(&headers)))
                    .await;
                trouble.unwrap_or_else(|| {
                    self.exchange.error = Some("the step ended before the answer did".into());
                    let held = std::mem::take(&mut self.held);
                    self.record_bytes(&held);
                    self.count_unknown(&self.recorded);
                    // An agent may end before its provider is given up.
                    self.trouble.take()
                })
            }
        };
        let waited = self.session.excluded.total().saturating_sub(waited);
        self.exchange.waiting_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.exchange.response = String::from_utf8_lossy(&self.recorded).into_owned();
        self.exchange.finished_at = now_ms();
        self.note_in_span();
        let (session, request, mut exchange) = (self.session.clone(), self.request, self.exchange);
        let is_repeated = self.is_repeated;
        let write = move || {
            exchange.request = request.body();
            // A provider need not support counting tokens in advance.
            if !request.counting {
                session.totals().trouble = trouble;
            }
            session.count_exchange(&exchange, is_repeated);
        };
        if let Err(error) = tokio::task::spawn_blocking(write).await {
            tracing::warn!("an exchange was not counted: {error:#}");
        }
        self.session.settle().await;
    }

    /// Calls the provider until the harness has an answer. Returns why the provider is
    /// to blame if there is none.
    async fn ask_provider(&mut self, headers: &HeaderMap) -> Option<String> {
        let session = self.session.clone();
        let config = &session.config;
        loop {
            let known = session.known.form();
            self.request.streamed &= !(self.request.in_process && known == Form::Whole);
            // What a harness wants as a stream, it gets as none other.
            self.form = match known {
                Form::Whole if self.request.streamed => Form::Streamed,
                form => form,
            };
            let outgoing =
                self.request
                    .outgoing(&config.endpoint, self.form, config.allow_hosted_tools);
            let failure = match self.try_once(&outgoing, headers).await {
                Ok(trouble) => return trouble,
                Err(failure) => failure,
            };
            match self.judge(&failure).await {
                Judged::Again => {}
                Judged::Request => {
                    self.pass_on_refusal(failure).await;
                    return None;
                }
                Judged::Provider(why) => return Some(self.give_up(why).await),
            }
        }
    }

    /// Waits for something. Once a try has failed, the harness gets keep-alive bytes
    /// at intervals, so that it does not time out.
    pub(super) async fn keeping_alive<T>(&mut self, awaited: impl Future<Output = T>) -> T {
        let interval = self.session.gateway.inner.retry_policy.keep_alive;
        let mut awaited = std::pin::pin!(awaited);
        loop {
            tokio::select! {
                found = &mut awaited => break found,
                () = tokio::time::sleep(interval) => {
                    let hopes = self.has_head || !self.exchange.retries.is_empty();
                    if hopes && !self.request.in_process {
                        self.reply.keep_alive();
                    }
                }
            }
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

    /// The harness gets what its request got.
    async fn pass_on_refusal(&mut self, failure: Failure) {
        let end = failure.end.as_deref();
        let is_normal = end.is_some_and(|end| self.session.known.knows_end(end));
        self.exchange.error = (!is_normal).then(|| failure.why.clone());
        let Some(stood) = failure.answer else {
            let (status, body) = self.reply.fail(Problem::ProviderFailed, &failure.why).await;
            self.exchange.status = status.as_u16();
            self.record_bytes(&body);
            return;
        };
        self.exchange.status = stood.status.as_u16();
        let said = String::from_utf8_lossy(&stood.body);
        if trajectory::is_too_long(&self.exchange, &said) {
            let tokens = trajectory::tokens_of_refusal(&said);
            self.session.totals().truncation = Some((Truncation::ContextFull, tokens));
        }
        if self.reply.has_begun() && !stood.status.is_success() {
            let (_, body) = self.reply.fail(Problem::BadRequest, &failure.why).await;
            self.record_bytes(&body);
            return;
        }
        self.reply.begin(stood.status, &stood.headers);
        self.pass(stood.body.into()).await;
    }

    pub(super) async fn pass(&mut self, piece: Bytes) {
        self.record_bytes(&piece);
        self.reply.piece(piece).await;
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

    /// Counts an answer, or a part of one, whose tokens nobody tells.
    pub(super) fn count_unknown(&self, answer: &[u8]) {
        let tokens = trajectory::estimated_tokens(&Exchange {
            response: String::from_utf8_lossy(answer).into_owned(),
            ..self.exchange.head()
        });
        let traffic = &mut self.session.totals().traffic;
        traffic.unfinished += 1;
        traffic.streamed_tokens += tokens;
    }

    fn record_bytes(&mut self, bytes: &[u8]) {
        let free = MAX_ANSWER.saturating_sub(self.recorded.len());
        self.recorded
            .extend_from_slice(&bytes[..bytes.len().min(free)]);
    }
}
