use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap};
use reqwest::{Response, StatusCode};
use secrecy::ExposeSecret;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use swe_ci_hub::http::{self, BodyError, bearer};
use url::Url;

use super::error::tame;
use super::limits::{Limit, Resource, is_refusal};
use super::retry::Trouble;
use super::{GitHub, GitHubError, Told};

/// Of one answer: a hundred repositories are half a megabyte.
pub(super) const MOST_BYTES: usize = 16 << 20;

/// The version of the API that this is written for.
const API_VERSION: (&str, &str) = ("X-GitHub-Api-Version", "2022-11-28");

/// Something to be asked of GitHub.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) url: Url,
    /// As errors name it.
    pub(super) what: String,
    pub(super) resource: Resource,
    /// What to do when GitHub does not have it.
    pub(super) advice: &'static str,
}

impl Question {
    pub(super) fn malformed(&self, why: &str) -> GitHubError {
        GitHubError::Malformed {
            what: self.what.clone(),
            why: tame(why),
        }
    }
}

/// An answer as it came in.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// What GitHub says when it refuses something.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Refusal {
    message: String,
    errors: Vec<serde_json::Value>,
}

impl GitHub {
    /// Reads an answer in JSON. Waits for rate limits, and tries again what
    /// may pass.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        question: &Question,
        told: Told<'_>,
    ) -> Result<T, GitHubError> {
        let pace = &self.inner.pace;
        let mut failures = 0;
        loop {
            self.inner.gate.pass(question.resource, told).await;
            failures += 1;
            let (why, pause) = match self.attempt(question, failures).await {
                Ok(body) => {
                    return serde_json::from_slice(&body)
                        .map_err(|error| question.malformed(&self.silent(&error.to_string())));
                }
                Err(Trouble::Lasting(error)) => return Err(error),
                Err(Trouble::Passing(why)) => (why, Some(pace.pause(failures))),
                Err(Trouble::Limited(why)) => (why, None),
            };
            if failures >= pace.tries {
                return Err(GitHubError::GaveUp {
                    what: question.what.clone(),
                    tries: failures,
                    why,
                });
            }
            // The gate is what limits wait at.
            if let Some(pause) = pause {
                tracing::warn!(question.what, "asking again in {pause:?}: {why}");
                tokio::time::sleep(pause).await;
            }
        }
    }

    async fn attempt(&self, question: &Question, failures: u32) -> Result<Vec<u8>, Trouble> {
        let answer = self.ask(question).await?;
        let said = if answer.status.is_success() {
            String::new()
        } else {
            self.said(&answer.body)
        };
        let limit = Limit::of(
            answer.status,
            &answer.headers,
            &said,
            question.resource,
            &self.inner.pace,
            failures,
        );
        let obeyed = limit
            .as_ref()
            .is_none_or(|limit| self.inner.gate.obey(limit, &self.inner.pace));
        match limit {
            _ if answer.status.is_success() => Ok(answer.body),
            Some(limit) if obeyed => Err(Trouble::Limited(limit.why)),
            Some(limit) => Err(Trouble::Lasting(GitHubError::RateLimited {
                what: question.what.clone(),
                why: limit.why,
                advice: self.limit_advice(),
            })),
            None => Err(self.judge(question, answer.status, said)),
        }
    }

    /// One request, and redirects within GitHub.
    async fn ask(&self, question: &Question) -> Result<Answer, Trouble> {
        let mut request = self
            .inner
            .client
            .get(question.url.clone())
            .header(ACCEPT, "application/vnd.github+json")
            .header(API_VERSION.0, API_VERSION.1);
        if let Some(bearer) = self.inner.token.as_ref().and_then(bearer) {
            request = request.header(AUTHORIZATION, bearer);
        }
        let response = request.send().await?;
        Ok(Answer {
            status: response.status(),
            headers: response.headers().clone(),
            body: small_body(question, response).await?,
        })
    }

    /// Why there is no answer to be read, where that is not a rate limit.
    fn judge(&self, question: &Question, status: StatusCode, said: String) -> Trouble {
        let what = question.what.clone();
        if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT {
            return Trouble::Passing(format!("GitHub answered {status}"));
        }
        Trouble::Lasting(match status.as_u16() {
            401 | 403 => GitHubError::Denied {
                what,
                status: status.as_u16(),
                said,
                advice: self.denied_advice(status),
            },
            404 => GitHubError::NotFound {
                what,
                advice: question.advice,
            },
            422 => GitHubError::Refused { what, said },
            300..=399 => GitHubError::Redirect { what },
            status => GitHubError::Status { what, status, said },
        })
    }

    fn denied_advice(&self, status: StatusCode) -> &'static str {
        match (self.inner.token.is_some(), is_refusal(status)) {
            (false, _) => "set GITHUB_TOKEN to a token; it needs no permission",
            (true, false) => {
                "the token in GITHUB_TOKEN is not valid any more: set another; it needs no permission"
            }
            (true, true) => {
                "the token in GITHUB_TOKEN may not read it, or nobody may: set another, or leave it out"
            }
        }
    }

    fn limit_advice(&self) -> &'static str {
        match self.inner.token {
            Some(_) => "start again later, or ask for fewer repositories",
            None => "set GITHUB_TOKEN to a token, with which far more is allowed",
        }
    }

    /// What GitHub says in a refusal, as it may stand in a message.
    fn said(&self, body: &[u8]) -> String {
        let Ok(refusal) = serde_json::from_slice::<Refusal>(body) else {
            return "without a reason".to_owned();
        };
        let details = refusal.errors.iter().take(3).filter_map(|error| {
            let message = error.get("message").unwrap_or(error).as_str();
            message.map(|message| format!("; {message}"))
        });
        tame(&self.silent(&(refusal.message + &details.collect::<String>())))
    }

    /// Without the token: who echoes it would bring it into a message.
    fn silent(&self, text: &str) -> String {
        match &self.inner.token {
            Some(token) => text.replace(token.expose_secret(), "…"),
            None => text.to_owned(),
        }
    }
}

async fn small_body(question: &Question, response: Response) -> Result<Vec<u8>, Trouble> {
    let body = http::body(response, MOST_BYTES).await;
    body.map_err(|error| match error {
        BodyError::Connection(error) => error.into(),
        BodyError::TooLarge(_) => question.malformed(&error.to_string()).into(),
    })
}
