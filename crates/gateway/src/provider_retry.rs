//! Sends a request to the provider and retries it.
//!
//! The gateway retries statuses 408, 429 and 5xx (except 501) and failed
//! connections. It waits as long as `Retry-After` asks, otherwise it backs off:
//! from [`RetryPolicy::first_pause`](super::RetryPolicy) doubling up to
//! [`LONGEST_PAUSE`], with jitter. It gives up when the session's total waiting
//! time would exceed its `patience`. Statuses 429, 503 and 529 also make the
//! [`ConcurrencyLimiter`](crate::concurrency::ConcurrencyLimiter) allow fewer
//! concurrent requests. Failures that waiting does not cure are not retried.
//! The harness sees only the final answer.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode, header};
use secrecy::ExposeSecret;
use swe_ci_core::permissions::Reach;

use super::allowed_addresses;
use super::protocol::{self, Outgoing};
use super::recording::Retry;
use super::session_state::SessionState;
use crate::concurrency::Permit;

/// The longest pause between two tries, unless `Retry-After` is longer.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// The longest pause a provider can ask for.
const LONGEST_REQUESTED_PAUSE: Duration = Duration::from_hours(24);
const MAX_ERROR_BODY: usize = 64 * 1024;

/// The provider's response, with a permit to hold until it is read; or why the
/// gateway has given up.
pub(super) type Answer = Result<(reqwest::Response, Permit), String>;

struct Failure {
    status: Option<StatusCode>,
    why: String,
    /// The provider's `Retry-After`.
    pause: Option<Duration>,
    /// Waiting does not cure it.
    permanent: bool,
}

impl SessionState {
    /// Sends the request until there is a response to pass on, success or error.
    /// `log` gets the failed tries.
    pub(super) async fn send_with_retries(
        &self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
        log: &Mutex<Vec<Retry>>,
    ) -> Answer {
        let mut own_pause = self.gateway.inner.retry_policy.first_pause;
        loop {
            let waiting = self.excluded.wait();
            let permit = self.limiter.permit().await;
            drop(waiting);
            let began = Instant::now();
            let failure = match self.try_once(outgoing, headers).await {
                Ok(response) => {
                    self.totals().last_failure = None;
                    self.limiter.on_success();
                    return Ok((response, permit));
                }
                Err(failure) => failure,
            };
            drop(permit);
            self.excluded.exclude(began.elapsed());
            if failure.permanent {
                return Err(failure.why);
            }
            if is_throttling(failure.status) {
                self.limiter.on_throttled();
            }
            let pause = failure.pause.unwrap_or_else(|| with_jitter(own_pause));
            own_pause = own_pause.saturating_mul(2).min(LONGEST_PAUSE);
            if self.excluded.total().saturating_add(pause) > self.config.patience {
                return Err(format!(
                    "the provider was waited for {} s and still fails: {}",
                    self.excluded.total().as_secs(),
                    failure.why
                ));
            }
            tracing::info!(
                model = self.config.endpoint.model,
                pause_ms = pause.as_millis(),
                "retrying the provider: {}",
                failure.why
            );
            self.totals().last_failure = Some(failure.why.clone());
            let retry = Retry {
                status: failure.status.map(|status| status.as_u16()),
                why: failure.why,
                waited_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            };
            log.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(retry);
            let _waiting = self.excluded.wait();
            tokio::time::sleep(pause).await;
        }
    }

    async fn try_once(
        &self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
    ) -> Result<reqwest::Response, Failure> {
        if let Some(why) = self.refused_address() {
            return Err(Failure::permanent(None, why));
        }
        let request = self.request(outgoing, headers);
        let request = request.map_err(|why| Failure::permanent(None, why))?;
        let sent = request.send().await;
        let response = sent.map_err(|error| match allowed_addresses::refusal(&error) {
            Some(why) => Failure::permanent(None, why),
            // The text may contain the address, but not the key: it is in a
            // header.
            None => Failure::without_answer(format!("no answer ({})", innermost(&error))),
        })?;
        let status = response.status();
        if !is_retryable(status) {
            return Ok(response);
        }
        let pause = retry_after(response.headers());
        let body = read_error_body(response).await;
        if body.contains("insufficient_quota") {
            // OpenAI sends 429 for this too, but waiting does not help.
            let why = format!("HTTP {status}: the account has no credit left");
            return Err(Failure::permanent(Some(status), why));
        }
        Err(Failure {
            status: Some(status),
            why: format!("HTTP {status}: {}", self.without_key(&shorten(&body))),
            pause,
            permanent: false,
        })
    }

    /// Why the session may not use the endpoint, if its host is an IP address.
    fn refused_address(&self) -> Option<String> {
        match self.config.grant.reach {
            Reach::Anywhere => None,
            Reach::Public => {
                let url = reqwest::Url::parse(&self.config.endpoint.url).ok()?;
                Some(allowed_addresses::refused_literal(&url)?.to_string())
            }
        }
    }

    fn request(
        &self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
    ) -> Result<reqwest::RequestBuilder, String> {
        let endpoint = &self.config.endpoint;
        let base = endpoint.url.trim_end_matches('/');
        let query = outgoing.query.map_or(String::new(), |q| format!("?{q}"));
        let mut request = self
            .gateway
            .client(self.config.grant.reach)
            .post(format!("{base}{}{query}", outgoing.path))
            .body(outgoing.body.clone());
        for (name, value) in headers {
            if protocol::passed_on_request(name) && name != header::CONTENT_TYPE {
                request = request.header(name, value);
            }
        }
        request = request.header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = &self.config.key {
            let (name, value) = protocol::key_header(endpoint.protocol, key.expose_secret())
                .map_err(|_| {
                    "the key has characters that no header can hold, such as a line break; store it again"
                })?;
            request = request.header(name, value);
        }
        Ok(request)
    }
}

impl Failure {
    fn without_answer(why: String) -> Self {
        Self {
            status: None,
            why,
            pause: None,
            permanent: false,
        }
    }

    fn permanent(status: Option<StatusCode>, why: String) -> Self {
        Self {
            status,
            why,
            pause: None,
            permanent: true,
        }
    }
}

fn is_throttling(status: Option<StatusCode>) -> bool {
    status.is_some_and(|status| [429, 503, 529].contains(&status.as_u16()))
}

fn is_retryable(status: StatusCode) -> bool {
    [408, 429].contains(&status.as_u16()) || (status.is_server_error() && status.as_u16() != 501)
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let asked = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    let pause = swe_ci_base::retry::retry_after(asked)?;
    Some(pause.min(LONGEST_REQUESTED_PAUSE))
}

/// Between half and all of a pause, so that requests refused together do not
/// return together.
fn with_jitter(pause: Duration) -> Duration {
    let random = f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 255.0;
    pause.mul_f64(0.5 + random / 2.0)
}

/// The first bytes of an error response.
pub(super) async fn read_error_body(mut response: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_ERROR_BODY {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text on one line, cut to 300 characters.
pub(super) fn shorten(text: &str) -> String {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match plain.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

fn innermost(error: &reqwest::Error) -> String {
    let innermost = anyhow::Chain::new(error).next_back();
    innermost.map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_in_seconds_or_as_a_date() {
        let check = |text: &str, expect: Option<u64>| {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().unwrap())]);
            let found = retry_after(&headers).map(|pause| pause.as_secs());
            assert_eq!(found, expect, "{text}");
        };
        check("7", Some(7));
        check("0.5", Some(0));
        check("Wed, 21 Oct 2015 07:28:00 GMT", Some(0));
        // Absurd values overflow nothing.
        check("1e18", Some(86_400));
        check("18446744073709551615", None);
        check("1e400", None);
        check("Thu, 30 Dec 9999 00:00:00 GMT", Some(86_400));
        check("soon", None);
        check("-3", None);
        assert_eq!(retry_after(&HeaderMap::new()), None);
    }

    #[test]
    fn retryable_statuses() {
        for (status, expect) in [(200, false), (400, false), (401, false), (408, true)] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(is_retryable(status), expect, "{status}");
        }
        for status in [429, 500, 502, 503, 504, 529] {
            assert!(is_retryable(StatusCode::from_u16(status).unwrap()));
        }
    }
}
