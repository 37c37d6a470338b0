//! Asking the provider, again and again while it says "not now".

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode, header};
use secrecy::ExposeSecret;

use super::lanes::Place;
use super::protocol::{self, Outgoing};
use super::reach;
use super::recording::Retry;
use super::step::Step;
use crate::grant::Reach;

/// The longest pause between two tries, unless the provider names a longer.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// The most of an error's text that is read.
const MAX_WORDS: usize = 64 * 1024;

/// The provider's answer, or why there is none.
#[derive(Debug)]
pub(super) enum Answer {
    Came {
        response: reqwest::Response,
        /// Held until the answer is read.
        place: Place,
    },
    GivenUp(String),
}

/// The tries of one exchange.
#[derive(Debug, Default)]
pub(super) struct Tries {
    pub retries: std::sync::Mutex<Vec<Retry>>,
    /// Set while the provider, not the model, is what is waited for.
    pub in_vain: AtomicBool,
}

/// What came of one try.
enum Try {
    Good(reqwest::Response),
    Again(Setback),
}

struct Setback {
    status: Option<StatusCode>,
    why: String,
    /// As the provider wishes.
    pause: Option<Duration>,
}

impl Step {
    /// Asks until there is an answer that can be passed on, good or bad.
    pub(super) async fn asked_of_provider(
        &self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
        tries: &Tries,
    ) -> Answer {
        let mut own_pause = self.pace.first_pause;
        loop {
            let waiting = self.off.wait();
            let place = self.lane.place().await;
            drop(waiting);
            let began = Instant::now();
            let setback = match self.one_try(outgoing, headers).await {
                Try::Good(response) => {
                    self.said().setback = None;
                    self.lane.widen();
                    return Answer::Came { response, place };
                }
                Try::Again(setback) => setback,
            };
            drop(place);
            self.off.forgive(began.elapsed());
            tries.in_vain.store(true, Ordering::Relaxed);
            if is_too_many(setback.status) {
                self.lane.narrow();
            }
            let pause = setback.pause.unwrap_or_else(|| with_jitter(own_pause));
            own_pause = (own_pause * 2).min(LONGEST_PAUSE);
            if self.off.total() + pause > self.patience {
                return Answer::GivenUp(format!(
                    "the provider was waited for {} s and still fails: {}",
                    self.off.total().as_secs(),
                    setback.why
                ));
            }
            tracing::info!(
                model = self.endpoint.model,
                pause_ms = pause.as_millis(),
                "the provider is asked again: {}",
                setback.why
            );
            self.said().setback = Some(setback.why.clone());
            let retry = Retry {
                status: setback.status.map(|status| status.as_u16()),
                why: setback.why,
                waited_ms: u64::try_from(pause.as_millis()).unwrap_or(u64::MAX),
            };
            if let Ok(mut retries) = tries.retries.lock() {
                retries.push(retry);
            }
            let _waiting = self.off.wait();
            tokio::time::sleep(pause).await;
        }
    }

    async fn one_try(&self, outgoing: &Outgoing, headers: &HeaderMap) -> Try {
        if let Some(why) = self.out_of_reach() {
            return Try::Again(self.for_good(None, why));
        }
        let sent = match self.request(outgoing, headers) {
            Ok(request) => request.send().await,
            Err(why) => return Try::Again(Setback::without_answer(why)),
        };
        let response = match sent {
            Ok(response) => response,
            Err(error) => {
                if let Some(why) = reach::refusal(&error) {
                    return Try::Again(self.for_good(None, why));
                }
                // Its text may hold the address, never the key, which is a header.
                let why = format!("no answer ({})", innermost(&error));
                return Try::Again(Setback::without_answer(why));
            }
        };
        let status = response.status();
        if !is_worth_another_try(status) {
            return Try::Good(response);
        }
        let pause = pause_wished(response.headers());
        let words = words_of(response).await;
        if words.contains("insufficient_quota") {
            // Said with 429 as well, and does not pass by waiting.
            let why = format!("HTTP {status}: the account has no credit left");
            return Try::Again(self.for_good(Some(status), why));
        }
        Try::Again(Setback {
            status: Some(status),
            why: format!("HTTP {status}: {}", self.without_key(&first_words(&words))),
            pause,
        })
    }

    /// A setback that does not pass by waiting.
    fn for_good(&self, status: Option<StatusCode>, why: String) -> Setback {
        Setback {
            status,
            why,
            pause: Some(self.patience + Duration::from_secs(1)),
        }
    }

    /// Why the endpoint may not be asked, where it is written as a number.
    fn out_of_reach(&self) -> Option<String> {
        let url = match self.reach {
            Reach::Anywhere => return None,
            Reach::Public => reqwest::Url::parse(&self.endpoint.url).ok()?,
        };
        reach::refused_literal(&url).map(|refusal| refusal.to_string())
    }

    fn request(
        &self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
    ) -> Result<reqwest::RequestBuilder, String> {
        let base = self.endpoint.url.trim_end_matches('/');
        let query = outgoing.query.map_or(String::new(), |q| format!("?{q}"));
        let mut request = self
            .client
            .post(format!("{base}{}{query}", outgoing.path))
            .body(outgoing.body.clone());
        for (name, value) in headers {
            if protocol::passed_on_request(name) && name != header::CONTENT_TYPE {
                request = request.header(name, value);
            }
        }
        request = request.header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            let (name, value) =
                protocol::key_header(self.endpoint.protocol, key.expose_secret())
                    .map_err(|_| "the key has characters no header can hold".to_owned())?;
            request = request.header(name, value);
        }
        Ok(request)
    }
}

impl Setback {
    fn without_answer(why: String) -> Self {
        Self {
            status: None,
            why,
            pause: None,
        }
    }
}

fn is_too_many(status: Option<StatusCode>) -> bool {
    status.is_some_and(|status| [429, 503, 529].contains(&status.as_u16()))
}

fn is_worth_another_try(status: StatusCode) -> bool {
    [408, 429].contains(&status.as_u16()) || (status.is_server_error() && status.as_u16() != 501)
}

/// `Retry-After`, in seconds or as a day and time.
fn pause_wished(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    let left = at.as_millisecond() - crate::clock::now_ms();
    Some(Duration::from_millis(u64::try_from(left).unwrap_or(0)))
}

/// Between half and all of a pause, so that those who were refused together
/// do not come back together.
fn with_jitter(pause: Duration) -> Duration {
    let dice = f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 255.0;
    pause.mul_f64(0.5 + dice / 2.0)
}

/// The first bytes of a body that is no answer.
pub(super) async fn words_of(mut response: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(piece)) = response.chunk().await {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_WORDS {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) fn first_words(text: &str) -> String {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match plain.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_a_provider_wishes() {
        let check = |text: &str, expect: Option<u64>| {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, text.parse().unwrap())]);
            let found = pause_wished(&headers).map(|pause| pause.as_secs());
            assert_eq!(found, expect, "{text}");
        };
        check("7", Some(7));
        check("0.5", Some(0));
        check("Wed, 21 Oct 2015 07:28:00 GMT", Some(0));
        check("soon", None);
        check("-3", None);
        assert_eq!(pause_wished(&HeaderMap::new()), None);
    }

    #[test]
    fn what_is_tried_again() {
        for (status, expect) in [(200, false), (400, false), (401, false), (408, true)] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(is_worth_another_try(status), expect, "{status}");
        }
        for status in [429, 500, 502, 503, 504, 529] {
            assert!(is_worth_another_try(StatusCode::from_u16(status).unwrap()));
        }
    }
}
