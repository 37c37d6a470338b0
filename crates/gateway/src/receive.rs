//! One try: sends the request, and receives the answer. The answer reaches the harness
//! from the moment it says something; before, a try that comes to nothing leaves no trace
//! there.

use std::pin::pin;
use std::time::Instant;

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use futures::StreamExt;
use swe_ci_base::clock::Wait;
use swe_ci_core::agent::Protocol;

use super::active_exchange::ActiveExchange;
use super::concurrency::Permit;
use super::protocol::{self, Meter, Metered, Outgoing};
use super::provider_request::{Failure, Next, ProviderAnswer, shorten};
use super::reply::content_type;
use super::response_timeout::ResponseTimeout;
use super::session_state::SessionState;
use super::unpacking::pieces;

/// Bytes of a stream that says nothing, until the harness gets them all the same.
const MAX_HELD: usize = 1 << 20;

/// An answer that is being received.
struct Incoming {
    status: StatusCode,
    headers: HeaderMap,
    meter: Meter,
    /// The harness gets each piece as it comes.
    passing: bool,
}

impl Incoming {
    /// Whether its head says so.
    fn is_json(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
    }
}

impl SessionState {
    /// Waits for a permit. The agent's clock stands meanwhile, and goes on to.
    async fn turn(&self) -> (Permit, Wait) {
        let waiting = self.excluded.wait();
        (self.limiter.permit().await, waiting)
    }
}

impl ActiveExchange {
    /// Sends the request once. Returns why the provider is to blame if the answer ends
    /// badly after a part of it has reached the harness.
    pub(super) async fn try_once(
        &mut self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
    ) -> Result<Option<String>, Failure> {
        let session = self.session.clone();
        let (permit, waiting) = self.keeping_alive(session.turn()).await;
        // The clock stands until the first event; a whole answer comes at once.
        let waiting = self.request.streamed.then_some(waiting);
        let timeout = ResponseTimeout::new(self, waiting, permit);
        let began = Instant::now();
        let tried = Box::pin(self.receive(outgoing, headers, timeout)).await;
        match &tried {
            Ok(_) => {
                session.totals().last_failure = None;
                session.limiter.on_success();
                if self.exchange.complete && !self.request.counting {
                    if self.request.streamed {
                        session.known.learn_form(self.form);
                    }
                    session.on_answer(began);
                }
            }
            Err(failure) => {
                if !self.request.streamed && !failure.is_unanswered {
                    session.excluded.exclude_since(began);
                }
                if failure.is_throttling() {
                    session.limiter.on_throttled();
                }
            }
        }
        Ok(self.fault_in_answer(tried?).await)
    }

    async fn receive(
        &mut self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
        mut timeout: ResponseTimeout,
    ) -> Result<Option<String>, Failure> {
        let session = self.session.clone();
        let sent = timeout.wait_for(session.send(outgoing, headers));
        let response = self.keeping_alive(sent).await??;
        self.has_head = true;
        let mut answer = Incoming {
            status: response.status(),
            headers: response.headers().clone(),
            meter: Meter::new(self.request.protocol),
            passing: false,
        };
        self.held.clear();
        // Some providers ignore that a stream was asked for. Gemini's may be lists in JSON.
        let may_be_list = self.request.protocol == Protocol::Gemini;
        let whole = answer.status.is_success() && answer.is_json() && !may_be_list;
        self.reply.expect(self.request.streamed && !whole);
        let broken = self.read(response, &mut answer, timeout).await;
        self.reply.expect(self.request.streamed);
        self.end(answer, broken?).await
    }

    /// Reads an answer to its end. Returns what broke it off.
    async fn read(
        &mut self,
        response: reqwest::Response,
        answer: &mut Incoming,
        mut timeout: ResponseTimeout,
    ) -> Result<Option<String>, Failure> {
        let mut pieces = pin!(pieces(response));
        loop {
            let next = timeout.wait_for(pieces.next());
            let next = match answer.passing {
                true => next.await,
                false => self.keeping_alive(next).await,
            };
            match next {
                Err(silent) if answer.passing => return Ok(Some(silent.why)),
                Err(silent) => return Err(silent),
                Ok(None) => return Ok(None),
                Ok(Some(Ok(piece))) => {
                    let before = answer.meter.work();
                    self.take(piece, answer).await;
                    let (at, estimate) = (self.exchange.ordinal, answer.meter.estimate());
                    self.session.totals().streaming.insert(at, estimate);
                    if answer.meter.work() > before {
                        timeout.restart();
                    }
                }
                Ok(Some(Err(why))) => return Ok(Some(why)),
            }
        }
    }

    async fn take(&mut self, piece: axum::body::Bytes, answer: &mut Incoming) {
        answer.meter.take(&piece);
        if answer.passing {
            return self.pass(piece).await;
        }
        // White space before an answer says nothing, and may come for ever.
        if answer.meter.has_begun() {
            self.held.extend_from_slice(&piece);
        }
        let says = answer.meter.says();
        answer.passing = match self.request.in_process {
            // A caller in this process wants whole answers, and so any of its
            // requests can be tried again.
            true => self.held.len() > super::session::MAX_ANSWER,
            false => says || (answer.meter.is_stream() && self.held.len() > MAX_HELD),
        };
        if answer.passing {
            let held = std::mem::take(&mut self.held);
            self.begin(answer, answer.meter.is_stream());
            self.pass(held.into()).await;
        }
    }

    /// Judges an answer that has ended.
    async fn end(
        &mut self,
        mut answer: Incoming,
        broken: Option<String>,
    ) -> Result<Option<String>, Failure> {
        self.exchange.streamed = answer.meter.is_stream();
        if !answer.passing && !self.exchange.streamed {
            self.held = protocol::readable(std::mem::take(&mut self.held));
            if self.request.streamed
                && let Some(events) = protocol::events_of_list(&self.held)
            {
                self.held = events;
                self.exchange.streamed = true;
            }
        }
        let metered = std::mem::replace(&mut answer.meter, Meter::new(self.request.protocol));
        let metered = metered.finish();
        // A connection that breaks behind the end of an answer takes nothing away, unless the
        // count of a stream comes after that.
        let lacks_count = metered.is_uncounted && self.exchange.streamed;
        let broken = broken.filter(|_| !metered.complete || lacks_count);
        if let Some(usage) = metered.usage {
            *self.exchange.usage.get_or_insert_default() += usage;
        }
        self.exchange.complete = metered.complete;
        if !self.request.counting {
            if metered.is_uncounted {
                self.count_unknown(if answer.passing {
                    &self.recorded
                } else {
                    &self.held
                });
            }
            let tokens = metered
                .usage
                .iter()
                .map(|usage| usage.output_tokens)
                .filter(|n| *n > 0);
            let truncation = metered.cut.map(|cut| (cut, tokens.collect()));
            self.session.totals().truncation = truncation;
        }
        let why = self.fault_of(&metered, broken.as_deref());
        let held = std::mem::take(&mut self.held);
        if answer.passing {
            if broken.is_some() {
                let why = "the provider's answer broke off";
                self.reply.break_off(why).await;
            }
            self.exchange.error.clone_from(&why);
            return Ok(why);
        }
        let Some(why) = why else {
            self.begin(&answer, self.exchange.streamed);
            self.pass(held.into()).await;
            return Ok(None);
        };
        Err(Failure {
            why,
            next: match metered.says {
                false => Next::Try,
                true => Next::Probe,
            },
            // A cut or an error is more than an end of the provider's own.
            end: metered
                .unknown_end
                .filter(|_| broken.is_none() && metered.error.is_none()),
            answer: Some(ProviderAnswer {
                status: answer.status,
                headers: answer.headers,
                body: held,
            }),
            ..Failure::default()
        })
    }

    /// The fault of an answer.
    fn fault_of(&self, metered: &Metered, broken: Option<&str>) -> Option<String> {
        let says = metered.says || self.request.counting;
        if let Some(why) = broken {
            return Some(format!("the provider's answer broke off: {why}"));
        }
        if let Some(why) = &metered.error {
            let why = shorten(&self.session.without_key(why));
            return Some(format!("an error in the provider's answer: {why}"));
        }
        let unknown_end = metered.unknown_end.as_ref();
        if let Some(end) = unknown_end.filter(|end| !self.session.known.knows_end(end)) {
            return Some(format!("the provider ended its answer with `{end}`"));
        }
        if !metered.complete && self.held.starts_with(b"<") {
            let page = shorten(&String::from_utf8_lossy(&self.held));
            return Some(format!("the provider answered with a page: {page}"));
        }
        if !metered.complete {
            return Some("the provider's answer ended before its end".into());
        }
        (!says).then(|| "the provider's answer is empty".into())
    }

    fn begin(&mut self, answer: &Incoming, is_stream: bool) {
        self.exchange.status = answer.status.as_u16();
        let mut headers = answer.headers.clone();
        // Some providers say something else.
        headers.extend(content_type(is_stream));
        self.reply.begin(answer.status, &headers);
    }
}
