//! One exchange: asked, passed on as it comes, counted, written down.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use futures::StreamExt;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use super::protocol::{Asked, Meter, Outgoing, Problem};
use super::recording::{Exchange, MAX_ANSWER};
use super::reply::{Reply, reply};
use super::step::Step;
use super::upstream::{Answer, Tries, first_words, words_of};
use crate::clock::now_ms;

pub(super) async fn ask(
    step: Arc<Step>,
    asked: Asked,
    headers: HeaderMap,
    body: &[u8],
    room: OwnedSemaphorePermit,
) -> Response {
    let (reply, waiting) = reply(asked.protocol, asked.streamed);
    let (ordinal, distinct) = step.count_in(body);
    let work = Asking {
        exchange: Exchange {
            ordinal,
            protocol: asked.protocol,
            // Put in at the end: it is large.
            request: Value::Null,
            status: 0,
            streamed: asked.streamed,
            response: String::new(),
            complete: false,
            usage: None,
            started_at: now_ms(),
            finished_at: 0,
            waiting_ms: 0,
            retries: Vec::new(),
            error: None,
        },
        asked,
        distinct,
        step: step.clone(),
        reply,
        kept: Vec::new(),
        _room: room,
    };
    // On its own: an answer nobody waits for any more is counted all the same.
    step.exchanges.spawn(work.run(headers));
    waiting.response().await
}

impl Step {
    /// The number of a request, and the number among those that repeat none.
    fn count_in(&self, body: &[u8]) -> (u32, u32) {
        let mut said = self.said();
        said.arrived += 1;
        let digest = <[u8; 32]>::from(Sha256::digest(body));
        if said.last_body != Some(digest) {
            said.distinct += 1;
            said.last_body = Some(digest);
        }
        (said.arrived, said.distinct)
    }
}

/// An exchange under way.
struct Asking {
    step: Arc<Step>,
    asked: Asked,
    distinct: u32,
    exchange: Exchange,
    reply: Reply,
    /// What was passed on, up to a limit.
    kept: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl Asking {
    async fn run(mut self, headers: HeaderMap) {
        let closed = self.step.closed.clone();
        let waited = self.step.off.total();
        let trouble = match &self.step.recording {
            Some(_) => self.replayed().await,
            None => {
                let worked = closed
                    .run_until_cancelled_owned(self.asked_live(&headers))
                    .await;
                worked.unwrap_or_else(|| {
                    self.exchange.error = Some("the step ended before the answer did".into());
                    None
                })
            }
        };
        let waited = self.step.off.total().saturating_sub(waited);
        self.exchange.waiting_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
        self.exchange.response = String::from_utf8_lossy(&self.kept).into_owned();
        self.exchange.finished_at = now_ms();
        let (step, asked, mut exchange) = (self.step.clone(), self.asked, self.exchange);
        let write = move || {
            exchange.request = asked.body();
            // Not every provider counts tokens in advance; none has to.
            if !asked.counting {
                step.said().trouble = trouble;
            }
            step.ended(&exchange);
        };
        let written = tokio::task::spawn_blocking(write).await;
        if let Err(error) = written {
            tracing::warn!("an exchange was not counted: {error}");
        }
    }

    /// Asks the provider; returns why it is to blame when it failed.
    async fn asked_live(&mut self, headers: &HeaderMap) -> Option<String> {
        let outgoing = self.asked.outgoing(&self.step.endpoint);
        match self.answer(&outgoing, headers).await {
            Answer::Came { response, place } => {
                let trouble = self.pass_on(response).await;
                drop(place);
                trouble
            }
            Answer::GivenUp(why) => {
                let (status, body) = self.reply.fail(Problem::ProviderFailed, &why).await;
                self.exchange.status = status.as_u16();
                self.keep(&body);
                self.exchange.error = Some(why.clone());
                self.step.give_up(why.clone());
                Some(why)
            }
        }
    }

    /// The provider's answer. Meanwhile the harness is told now and then that
    /// the line is alive, if it is the provider that is waited for.
    async fn answer(&mut self, outgoing: &Outgoing, headers: &HeaderMap) -> Answer {
        let step = self.step.clone();
        let tries = Tries::default();
        let answer = {
            let mut asking = std::pin::pin!(step.asked_of_provider(outgoing, headers, &tries));
            loop {
                tokio::select! {
                    answer = &mut asking => break answer,
                    () = tokio::time::sleep(step.pace.quiet) => {
                        if tries.in_vain.load(Ordering::Relaxed) {
                            self.reply.keep_alive().await;
                        }
                    }
                }
            }
        };
        self.exchange.retries = tries.retries.into_inner().unwrap_or_default();
        answer
    }

    /// Hands the answer on as it comes.
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
        let mut meter = Meter::new(self.asked.protocol, events);
        let mut pieces = response.bytes_stream();
        let mut broken = None;
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(piece) => {
                    meter.take(&piece);
                    self.keep(&piece);
                    self.reply.piece(piece).await;
                }
                Err(error) => {
                    broken = Some(error.without_url().to_string());
                    self.reply
                        .break_off("the provider's answer broke off")
                        .await;
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
                first_words(&self.step.without_key(&why))
            )),
            (None, None, false) => Some("the provider's answer ended before its end".into()),
            (None, None, true) => None,
        };
        self.exchange.error.clone_from(&trouble);
        trouble
    }

    /// A refusal is passed on as it is; some are the provider's fault or the
    /// configuration's, others the harness has brought on itself.
    async fn pass_on_refusal(
        &mut self,
        status: StatusCode,
        response: reqwest::Response,
    ) -> Option<String> {
        let headers = response.headers().clone();
        let text = self.step.without_key(&words_of(response).await);
        self.reply.begin(status, &headers);
        self.keep(text.as_bytes());
        self.reply.piece(Bytes::from(text.clone())).await;
        let why = format!(
            "the provider answered HTTP {status}: {}",
            first_words(&text)
        );
        self.exchange.error = Some(why.clone());
        match status.as_u16() {
            401..=403 => {
                self.step.give_up(why.clone());
                Some(why)
            }
            404 => Some(why),
            _ => None,
        }
    }

    /// Answers from the recording, or says loudly where it does not fit.
    async fn replayed(&mut self) -> Option<String> {
        let step = self.step.clone();
        let recording = step.recording.as_ref()?;
        match recording.answer(self.distinct, &self.asked) {
            Ok(found) => {
                let kind = match found.streamed {
                    true => "text/event-stream",
                    false => "application/json",
                };
                let kind = (header::CONTENT_TYPE, header::HeaderValue::from_static(kind));
                let status = StatusCode::from_u16(found.status).unwrap_or(StatusCode::BAD_GATEWAY);
                self.reply.begin(status, &HeaderMap::from_iter([kind]));
                self.keep(found.response.as_bytes());
                self.exchange = Exchange {
                    ordinal: self.exchange.ordinal,
                    request: Value::Null,
                    response: String::new(),
                    started_at: self.exchange.started_at,
                    retries: Vec::new(),
                    ..found.clone()
                };
                self.reply.piece(Bytes::from(found.response.clone())).await;
                None
            }
            Err(mismatch) => {
                let why = format!("the recording does not fit: {mismatch}");
                tracing::error!("{why}");
                let (status, body) = self.reply.fail(Problem::ProviderFailed, &why).await;
                self.exchange.status = status.as_u16();
                self.keep(&body);
                self.exchange.error = Some(why.clone());
                self.step.give_up(why.clone());
                Some(why)
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_ANSWER.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}
