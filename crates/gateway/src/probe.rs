//! The probe: a request of our own that tells who is at fault for a failed exchange.
//!
//! The gateway sends it with the same address, key, model and protocol, and with
//! nothing of the agent's in it. A provider that does not answer it either is unable.
//! If the provider answers, the agent's request was at fault. This experiment replaces
//! lists of statuses and wordings.
//!
//! One probe at a time runs per address, key and model. Sessions that waited for it
//! share its result.

use std::time::Instant;

use axum::http::{HeaderMap, HeaderValue, StatusCode};
use futures::StreamExt;

use super::probe_results::Verdict;
use super::protocol::{self, Meter};
use super::provider_request::shorten;
use super::session_state::SessionState;

const WORD: &str = "ready";
const QUESTION: &str = "Answer with the one word: ready";
/// Bytes of the answer that are searched for the word, and shown.
const MAX_TEXT: usize = 64 << 10;

impl SessionState {
    /// Whether the provider answers anything now.
    pub async fn probe(&self) -> Verdict {
        let now = Instant::now();
        let mut latest = self.known.probe.lock().await;
        if let Some((began, verdict)) = &*latest
            && *began >= now
        {
            return verdict.clone();
        }
        let began = Instant::now();
        let limit = self.gateway.inner.retry_policy.probe_limit;
        let asked = tokio::time::timeout(limit, self.ask_for_a_word()).await;
        let verdict =
            asked.unwrap_or_else(|_| Err(format!("no answer within {} s", limit.as_secs())));
        tracing::info!(
            model = self.config.endpoint.model,
            ?verdict,
            "probed the provider"
        );
        *latest = Some((began, verdict.clone()));
        verdict
    }

    /// Some providers only stream, others never do.
    async fn ask_for_a_word(&self) -> Verdict {
        match self.ask_once(true).await {
            Err((Some(status), _)) if status.is_client_error() => {
                self.ask_once(false).await.map_err(|(_, why)| why)
            }
            answered => answered.map_err(|(_, why)| why),
        }
    }

    async fn ask_once(&self, streamed: bool) -> Result<(), (Option<StatusCode>, String)> {
        let endpoint = &self.config.endpoint;
        let request = protocol::minimal(endpoint, QUESTION, streamed).map_err(|e| (None, e))?;
        let outgoing = request.outgoing(endpoint, false);
        // Anthropic's protocol asks for it; harnesses send it themselves.
        let version = HeaderValue::from_static("2023-06-01");
        let headers = HeaderMap::from_iter([(
            axum::http::HeaderName::from_static("anthropic-version"),
            version,
        )]);
        let sent = self.send(&outgoing, &headers).await;
        let response = sent.map_err(|failure| (failure.status(), failure.why))?;
        let (mut meter, mut text) = (Meter::new(endpoint.protocol), Vec::new());
        let mut pieces = response.bytes_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|e| (None, e.without_url().to_string()))?;
            let piece = match meter.is_empty() {
                true => protocol::without_mark(piece),
                false => piece,
            };
            meter.take(&piece);
            let free = MAX_TEXT - text.len();
            text.extend_from_slice(&piece[..piece.len().min(free)]);
        }
        let metered = meter.finish();
        self.count_probe(metered.usage.unwrap_or_default());
        let text = self.without_key(&String::from_utf8_lossy(&text));
        let failed = |why: String| Err((None, why));
        match (metered.error, metered.odd_end) {
            (Some(error), _) => failed(shorten(&self.without_key(&error))),
            // An end that its protocol does not know may be its way to say `stop`.
            (None, Some(end)) if !metered.said.to_lowercase().contains(WORD) => {
                failed(format!("the answer ended with `{end}`"))
            }
            _ if !metered.complete => failed(format!("no whole answer: {}", shorten(&text))),
            _ if !metered.says => failed(format!("an empty answer: {}", shorten(&text))),
            _ => Ok(()),
        }
    }
}
