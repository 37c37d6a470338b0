//! Sends a request to the provider once, and says what a failure was.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use futures::StreamExt;
use secrecy::{ExposeSecret, SecretString};
use swe_ci_core::agent::{Endpoint, HeaderText};
use swe_ci_core::permissions::Reach;

use super::allowed_addresses;
use super::probe_results::is_transient;
use super::protocol::{self, Outgoing};
use super::session_state::SessionState;
use super::unpacking::pieces;

/// By this header of all requests a provider or a proxy tells steps apart.
const STEP_HEADER: &str = "x-swe-ci-step";

/// The longest pause a provider can ask for.
const LONGEST_REQUESTED_PAUSE: Duration = Duration::from_hours(24);
const MAX_ERROR_BODY: usize = 64 * 1024;
const NO_HEADER: &str =
    "the key has characters that no header can hold, such as a line break; store it again";

/// A try without an answer to pass on.
#[derive(Debug, Default)]
pub(super) struct Failure {
    pub why: String,
    pub next: Next,
    /// The provider's `Retry-After`.
    pub pause: Option<Duration>,
    /// The reason why a probe beside the request found the provider unable.
    pub unable: Option<String>,
    /// Such a probe was answered, and the request was not: the agent's clock runs.
    pub is_unanswered: bool,
    /// The reason for the end of an answer, if its protocol knows no such.
    pub end: Option<String>,
    /// The harness gets this if the request itself is at fault.
    pub answer: Option<ProviderAnswer>,
}

/// The next thing to try after a failure.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing: neither the provider nor the request is at fault.
    Nothing,
    /// The same request a little later.
    Try,
    /// A probe, and after it the same request once.
    #[default]
    Probe,
}

/// The judgement about a failure.
pub(super) enum Judged {
    /// Nobody's as yet: the same request may succeed now.
    Again,
    Request,
    Provider(String),
}

/// An answer of the provider's.
#[derive(Debug)]
pub(super) struct ProviderAnswer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl SessionState {
    /// The head of a successful answer.
    pub(super) async fn send(
        &self,
        outgoing: &Outgoing,
        headers: &HeaderMap,
    ) -> Result<reqwest::Response, Failure> {
        if let Some(why) = self.refused_address() {
            return Err(Failure::new(Next::Nothing, why));
        }
        let request = self.request(outgoing, headers);
        let request = request.map_err(|why| Failure::new(Next::Nothing, why))?;
        let sent = request.send().await;
        let response = sent.map_err(|error| match allowed_addresses::refusal(&error) {
            Some(why) => Failure::new(Next::Nothing, why),
            // The text may contain the address, but not the key: it is in a
            // header.
            None => Failure::new(Next::Try, format!("no answer ({})", innermost(&error))),
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        let body = self.without_key(&read_error_body(response).await);
        Err(Failure {
            why: format!("HTTP {status}: {}", shorten(&body)),
            next: if is_transient(status) {
                Next::Try
            } else {
                Next::Probe
            },
            pause: retry_after(&headers),
            answer: Some(ProviderAnswer {
                status,
                headers,
                body: body.into_bytes(),
            }),
            ..Failure::default()
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
            let is_own = endpoint.headers.contains_key(name.as_str());
            if protocol::passed_on_request(name) && name != header::CONTENT_TYPE && !is_own {
                request = request.header(name, value);
            }
        }
        request = request
            .header(header::CONTENT_TYPE, "application/json")
            .header(STEP_HEADER, &self.config.step);
        with_headers(request, endpoint, &self.config.keys)
    }
}

/// Adds the key and the headers of an endpoint.
pub(super) fn with_headers(
    mut request: reqwest::RequestBuilder,
    endpoint: &Endpoint,
    keys: &BTreeMap<String, SecretString>,
) -> Result<reqwest::RequestBuilder, String> {
    let key = |name: &str| {
        let key = keys.get(name).map(ExposeSecret::expose_secret);
        key.ok_or_else(|| format!("the key `{name}` is missing"))
    };
    if let Some(name) = &endpoint.key {
        let (name, value) =
            protocol::key_header(endpoint.protocol, key(name)?).map_err(|_| NO_HEADER)?;
        request = request.header(name, value);
    }
    for (name, text) in &endpoint.headers {
        let text = match text {
            HeaderText::Plain(text) => text,
            HeaderText::Stored { key: name } => key(name)?,
        };
        let mut value = HeaderValue::from_str(text).map_err(|_| NO_HEADER)?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    Ok(request)
}

impl Failure {
    pub fn new(next: Next, why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            next,
            ..Self::default()
        }
    }

    pub fn status(&self) -> Option<StatusCode> {
        self.answer.as_ref().map(|answer| answer.status)
    }

    pub fn is_throttling(&self) -> bool {
        let throttling = |status: StatusCode| [429, 503, 529].contains(&status.as_u16());
        self.status().is_some_and(throttling)
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let asked = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    let pause = swe_ci_base::retry::retry_after(asked)?;
    Some(pause.min(LONGEST_REQUESTED_PAUSE))
}

/// The first bytes of an error response.
async fn read_error_body(response: reqwest::Response) -> String {
    let mut bytes = Vec::new();
    let mut pieces = pin!(pieces(response));
    while let Some(Ok(piece)) = pieces.next().await {
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

pub(super) fn innermost(error: &reqwest::Error) -> String {
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
    fn passing_statuses() {
        for (status, expect) in [(200, false), (400, false), (401, false), (408, true)] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(is_transient(status), expect, "{status}");
        }
        for status in [429, 500, 502, 503, 504, 529] {
            assert!(is_transient(StatusCode::from_u16(status).unwrap()));
        }
    }
}
