//! The probe: a request of our own that tells who is at fault for a failed exchange.
//!
//! The gateway sends it with the same address, key, model and protocol, and with
//! nothing of the agent's in it. A provider that does not answer it either is unable.
//! If the provider answers, the agent's request was at fault. This experiment replaces
//! lists of statuses and wordings. Some providers refuse all requests as small as a
//! probe: where one is refused while the agent's are answered, it tells nothing.
//!
//! One probe at a time runs per address, key and model. Sessions that waited for it
//! share its result.

use std::pin::pin;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, StatusCode};
use futures::StreamExt;
use swe_ci_core::usage::Usage;

use super::probe_results::{ProbeResult, Verdict, is_refusal};
use super::protocol::{self, Form, Meter, Metered, Outgoing};
use super::provider_request::shorten;
use super::session_state::SessionState;
use super::unpacking::pieces;

const WORD: &str = "ready";
const QUESTION: &str = "Answer with the one word: ready";
/// Bytes of the answer that are searched for the word, and shown.
const MAX_TEXT: usize = 64 << 10;

impl SessionState {
    /// Whether the provider answers anything now.
    pub async fn probe(&self) -> Verdict {
        self.probe_since(Instant::now(), false).await
    }

    /// The same of a probe that began no earlier. `after_answer`: an agent's request, sent
    /// after a refused probe, was answered.
    pub async fn probe_since(&self, since: Instant, after_answer: bool) -> Verdict {
        let mut latest = self.known.probe.lock().await;
        if let Some((began, verdict)) = &*latest
            && *began >= since
        {
            return verdict.clone();
        }
        let began = Instant::now();
        let asked = self.ask_for_a_word().await;
        let first_pause = self.gateway.inner.retry_policy.first_pause;
        let verdict = self.known.learn(asked, after_answer, first_pause);
        tracing::info!(
            model = self.config.endpoint.model,
            ?verdict,
            "probed the provider"
        );
        *latest = Some((began, verdict.clone()));
        drop(latest);
        self.settle().await;
        verdict
    }

    /// Asks in one form after the other until one is not refused. The form of an answer is
    /// the provider's if the one before it is refused again: some refusals pass.
    async fn ask_for_a_word(&self) -> ProbeResult {
        let mut refused = None::<(Outgoing, StatusCode, String)>;
        for form in Form::ALL {
            let question = self.question(form)?;
            if refused
                .as_ref()
                .is_some_and(|(before, ..)| *before == question)
            {
                continue;
            }
            let asked = self.ask_once(&question).await;
            match (asked, refused) {
                (Err((Some(status), why)), _) if is_refusal(status) => {
                    refused = Some((question, status, why));
                }
                (Ok(first), Some((before, status, _))) => {
                    let again = self.ask_once(&before).await;
                    if matches!(again, Err((Some(now), _)) if now == status) {
                        self.known.learn_form(form);
                    }
                    return Ok(first);
                }
                (asked, _) => {
                    asked.iter().for_each(|_| self.known.learn_form(form));
                    return asked;
                }
            }
        }
        let refused = refused.map(|(_, status, why)| (Some(status), why));
        Err(refused.unwrap_or_default())
    }

    fn question(&self, form: Form) -> Result<Outgoing, (Option<StatusCode>, String)> {
        let endpoint = &self.config.endpoint;
        let request = protocol::minimal(endpoint, QUESTION, form != Form::Whole);
        let request = request.map_err(|why| (None, why))?;
        Ok(request.outgoing(endpoint, form, false))
    }

    async fn ask_once(&self, question: &Outgoing) -> ProbeResult {
        let limit = self.gateway.inner.retry_policy.probe_limit;
        let mut probe = Probe {
            session: self,
            meter: Meter::new(self.config.endpoint.protocol),
            first: None,
            usage: Usage::default(),
        };
        let asked = tokio::time::timeout(limit, probe.ask(question)).await;
        asked.unwrap_or_else(|_| match (probe.meter.says(), probe.first) {
            // It is at work: some models think for long.
            (true, Some(first)) => Ok(first),
            _ => Err((None, format!("no answer within {} s", limit.as_secs()))),
        })
    }
}

/// A probe under way. However it ends, it is counted.
struct Probe<'a> {
    session: &'a SessionState,
    meter: Meter,
    /// After how long something came.
    first: Option<Duration>,
    usage: Usage,
}

impl Probe<'_> {
    async fn ask(&mut self, question: &Outgoing) -> ProbeResult {
        let (began, session) = (Instant::now(), self.session);
        // Anthropic's protocol asks for it; harnesses send it themselves.
        let version = HeaderValue::from_static("2023-06-01");
        let headers = HeaderMap::from_iter([(
            axum::http::HeaderName::from_static("anthropic-version"),
            version,
        )]);
        let sent = session.send(question, &headers).await;
        let response = sent.map_err(|failure| (failure.status(), failure.why))?;
        let (mut text, mut broken) = (Vec::new(), None);
        let mut pieces = pin!(pieces(response));
        while let Some(piece) = pieces.next().await {
            let piece = match piece {
                Ok(piece) => piece,
                Err(why) => {
                    broken = Some(why);
                    break;
                }
            };
            self.meter.take(&piece);
            if self.meter.work() > 0 {
                self.first.get_or_insert_with(|| began.elapsed());
            }
            let free = MAX_TEXT - text.len();
            text.extend_from_slice(&piece[..piece.len().min(free)]);
        }
        let metered = self.finish();
        let text = session.without_key(&String::from_utf8_lossy(&text));
        let failed = |why: String| Err((None::<StatusCode>, why));
        if let Some(error) = metered.error {
            return failed(shorten(&session.without_key(&error)));
        }
        // An end that its protocol does not know may be its way to say `stop`: where the
        // word is the last thing said. Thoughts before it may have it too.
        let said = metered.said.to_lowercase();
        let is_said = said
            .trim_end_matches(|c: char| !c.is_alphanumeric())
            .ends_with(WORD);
        if let Some(end) = metered.unknown_end.as_ref().filter(|_| !is_said) {
            return failed(format!("the answer ended with `{end}`"));
        }
        if !metered.complete {
            let cut = || format!("no whole answer: {}", shorten(&text));
            return failed(broken.unwrap_or_else(cut));
        }
        if !metered.says {
            return failed(format!("an empty answer: {}", shorten(&text)));
        }
        if let Some(end) = metered.unknown_end {
            session.known.learn_end(end);
        }
        let first = self.first.unwrap_or_else(|| began.elapsed());
        session.known.learn_speed(first);
        Ok(first)
    }

    fn finish(&mut self) -> Metered {
        let next = Meter::new(self.session.config.endpoint.protocol);
        let metered = std::mem::replace(&mut self.meter, next).finish();
        self.usage += metered.usage.unwrap_or_default();
        metered
    }
}

impl Drop for Probe<'_> {
    fn drop(&mut self) {
        self.finish();
        self.session.count_probe(self.usage);
    }
}
