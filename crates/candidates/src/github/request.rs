//! Sends requests to GitHub, with retries, and turns failed responses into
//! errors.

use reqwest::StatusCode;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use swe_ci_base::retry::Backoff;
use swe_ci_hub::http::{Failure, bearer, try_body};
use url::Url;

use super::error::sanitized;
use super::limits::{Limit, Resource, is_refusal};
use super::{GitHub, GitHubError, ProgressListener};

/// Maximum bytes of one response: a hundred repositories take half a megabyte.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// The API version this client is written for.
const API_VERSION: (&str, &str) = ("X-GitHub-Api-Version", "2022-11-28");

#[derive(Debug, Clone)]
pub(super) struct ApiRequest {
    pub(super) url: Url,
    /// How errors name it.
    pub(super) what: String,
    pub(super) resource: Resource,
    /// Advice for a 404.
    pub(super) advice: &'static str,
}

impl ApiRequest {
    pub(super) fn malformed(&self, why: &str) -> GitHubError {
        GitHubError::Malformed {
            what: self.what.clone(),
            why: sanitized(why),
        }
    }
}

#[derive(Debug)]
struct ApiResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Refusal {
    message: String,
    errors: Vec<serde_json::Value>,
}

impl GitHub {
    /// Sends a request and parses the JSON response. Waits for rate limits and
    /// retries transient failures.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        request: &ApiRequest,
        listener: ProgressListener<'_>,
    ) -> Result<T, GitHubError> {
        let mut backoff = Backoff::new(self.inner.pace.retries, 0);
        let body = loop {
            // Rate limits wait here.
            self.inner.gate.wait(request.resource, listener).await;
            let gave_up = |tries, why| GitHubError::GaveUp {
                what: request.what.clone(),
                tries,
                why,
            };
            match self.attempt(request, backoff.failures() + 1).await {
                Ok(body) => break body,
                Err(failure) => failure.wait(&request.what, &mut backoff, gave_up).await?,
            }
        };
        serde_json::from_slice(&body)
            .map_err(|error| request.malformed(&self.without_token(&error.to_string())))
    }

    /// `failures` includes this attempt, should it fail.
    async fn attempt(
        &self,
        request: &ApiRequest,
        failures: u32,
    ) -> Result<Vec<u8>, Failure<GitHubError>> {
        let response = self.send(request).await?;
        let message = if response.status.is_success() {
            String::new()
        } else {
            self.error_message(&response.body)
        };
        let limit = Limit::from_response(
            response.status,
            &response.headers,
            &message,
            request.resource,
            &self.inner.pace,
            failures,
        );
        let obeyed = limit
            .as_ref()
            .is_none_or(|limit| self.inner.gate.obey(limit, &self.inner.pace));
        match limit {
            _ if response.status.is_success() => Ok(response.body),
            Some(limit) if obeyed => Err(Failure::Limited(limit.why)),
            Some(limit) => Err(Failure::Permanent(GitHubError::RateLimited {
                what: request.what.clone(),
                why: limit.why,
                advice: self.limit_advice(),
            })),
            None => Err(self.failure(request, response.status, message)),
        }
    }

    /// Sends one request and follows redirects within GitHub.
    async fn send(&self, request: &ApiRequest) -> Result<ApiResponse, Failure<GitHubError>> {
        let mut builder = self
            .inner
            .client
            .get(request.url.clone())
            .header(ACCEPT, "application/vnd.github+json")
            .header(API_VERSION.0, API_VERSION.1);
        if let Some(bearer) = self.inner.token.as_ref().and_then(bearer) {
            builder = builder.header(AUTHORIZATION, bearer);
        }
        let response = builder.send().await?;
        Ok(ApiResponse {
            status: response.status(),
            headers: response.headers().clone(),
            body: try_body(response, MAX_BYTES, |why| request.malformed(&why)).await?,
        })
    }

    /// The failure of a response, unless it is a rate limit.
    fn failure(
        &self,
        request: &ApiRequest,
        status: StatusCode,
        message: String,
    ) -> Failure<GitHubError> {
        let what = request.what.clone();
        if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
            return Failure::transient(format!("GitHub answered {status}"));
        }
        Failure::Permanent(match status.as_u16() {
            401 | 403 => GitHubError::Denied {
                what,
                status: status.as_u16(),
                message,
                advice: self.denied_advice(status),
            },
            404 => GitHubError::NotFound {
                what,
                advice: request.advice,
            },
            422 => GitHubError::Refused { what, message },
            300..=399 => GitHubError::Redirect { what },
            status => GitHubError::Status {
                what,
                status,
                message,
            },
        })
    }

    fn denied_advice(&self, status: StatusCode) -> &'static str {
        match (self.inner.token.is_some(), is_refusal(status)) {
            (false, _) => "set GITHUB_TOKEN to a token; it needs no permissions",
            (true, false) => {
                "the token in GITHUB_TOKEN is no longer valid: set another; it needs no permissions"
            }
            (true, true) => {
                "the token in GITHUB_TOKEN cannot read it, or nobody can: set another, or skip it"
            }
        }
    }

    fn limit_advice(&self) -> &'static str {
        match self.inner.token {
            Some(_) => "start again later, or search for fewer repositories",
            None => "set GITHUB_TOKEN to a token, which raises the limit far",
        }
    }

    /// GitHub's error message, made safe for display.
    fn error_message(&self, body: &[u8]) -> String {
        let Ok(refusal) = serde_json::from_slice::<Refusal>(body) else {
            return "no reason given".to_owned();
        };
        let details = refusal.errors.iter().take(3).filter_map(|error| {
            let message = error.get("message").unwrap_or(error).as_str();
            message.map(|message| format!("; {message}"))
        });
        sanitized(&self.without_token(&(refusal.message + &details.collect::<String>())))
    }

    /// Removes the token, which a server might echo into a message.
    fn without_token(&self, text: &str) -> String {
        match &self.inner.token {
            Some(token) => text.replace(token.expose_secret(), "…"),
            None => text.to_owned(),
        }
    }
}
