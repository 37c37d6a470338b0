use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, LOCATION, RANGE};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use url::Url;

use super::http::{self, BodyError, bearer};
use super::retry::{Patience, Trouble, asked_pause};
use super::{Hub, HubError};

const MOST_REDIRECTS: usize = 10;

/// Something to be asked of the hub.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub(super) url: Url,
    /// As errors name it.
    pub(super) what: String,
    /// What to do when the hub does not have it.
    pub(super) advice: &'static str,
}

impl Question {
    pub(super) fn malformed(&self, why: impl Into<String>) -> HubError {
        HubError::Malformed {
            what: self.what.clone(),
            why: why.into(),
        }
    }

    fn redirect(&self, why: impl Into<String>) -> HubError {
        HubError::Redirect {
            what: self.what.clone(),
            why: why.into(),
        }
    }

    /// Where a redirect leads.
    fn next(&self, from: &Url, response: &Response) -> Result<Url, HubError> {
        let location = response.headers().get(LOCATION);
        let next = location
            .and_then(|location| location.to_str().ok())
            .and_then(|location| from.join(location).ok())
            .ok_or_else(|| self.redirect("did not say where"))?;
        match (from.scheme(), next.scheme()) {
            (_, "https") | ("http", "http") => Ok(next),
            ("https", "http") => Err(self.redirect("the connection would no longer be encrypted")),
            _ => Err(self.redirect("the address is not one of http or https")),
        }
    }
}

impl Hub {
    /// An answer to be read: the status is of success, or says that there is
    /// nothing from byte `from` on.
    pub(super) async fn get(&self, question: &Question, from: u64) -> Result<Response, Trouble> {
        let mut url = question.url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let response = self.ask(&url, from).await?;
            if !response.status().is_redirection() {
                return self.judge(question, &url, response);
            }
            url = question.next(&url, &response)?;
        }
        Err(question
            .redirect(format!("on again, more than {MOST_REDIRECTS} times"))
            .into())
    }

    /// One request. The token goes to the endpoint alone.
    async fn ask(&self, url: &Url, from: u64) -> Result<Response, reqwest::Error> {
        // What is compressed on the way has other lengths than what is listed.
        let mut request = self
            .inner
            .client
            .get(url.clone())
            .header(ACCEPT_ENCODING, "identity");
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        if self.is_ours(url)
            && let Some(bearer) = self.inner.token.as_ref().and_then(bearer)
        {
            request = request.header(AUTHORIZATION, bearer);
        }
        request.send().await
    }

    /// Whether an address is one of the endpoint: scheme, host and port.
    pub(super) fn is_ours(&self, url: &Url) -> bool {
        url.origin() == self.inner.endpoint.origin()
    }

    fn judge(
        &self,
        question: &Question,
        url: &Url,
        response: Response,
    ) -> Result<Response, Trouble> {
        let status = response.status();
        if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
            return Ok(response);
        }
        let ours = self.is_ours(url);
        let passing = status.is_server_error()
            || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status)
            // A signed address that is too old; the hub gives a new one.
            || (status == StatusCode::FORBIDDEN && !ours);
        if passing {
            let host = url.host_str().unwrap_or_default();
            return Err(Trouble::Passing {
                why: format!("{host} answered {status}"),
                pause: asked_pause(response.headers()),
            });
        }
        let code = response.headers().get("x-error-code");
        let unknown_revision = code.is_some_and(|code| code == "RevisionNotFound");
        let what = question.what.clone();
        let status = status.as_u16();
        Err(Trouble::Lasting(match status {
            404 if unknown_revision => HubError::NotFound {
                what,
                advice: "the dataset is there, but not this revision; pass another",
            },
            404 => HubError::NotFound {
                what,
                advice: question.advice,
            },
            401 | 403 if ours => HubError::Denied {
                what,
                status,
                advice: denied_advice(status, self.has_token()),
            },
            _ => HubError::Status { what, status },
        }))
    }

    /// Reads an answer in JSON of at most `most_bytes`, and what `of_headers`
    /// takes from its head.
    pub(super) async fn json<T: DeserializeOwned, H>(
        &self,
        question: &Question,
        most_bytes: usize,
        of_headers: impl Fn(&Response) -> H,
    ) -> Result<(T, H), HubError> {
        let mut patience = Patience::new(self.inner.pace, 0);
        loop {
            let tried = async {
                let response = self.get(question, 0).await?;
                let headers = of_headers(&response);
                let body = small_body(question, response, most_bytes).await?;
                Ok::<_, Trouble>((body, headers))
            };
            match tried.await {
                Err(trouble) => patience.wait(trouble, &question.what).await?,
                Ok((body, headers)) => {
                    return serde_json::from_slice(&body)
                        .map(|value| (value, headers))
                        .map_err(|error| question.malformed(error.to_string()));
                }
            }
        }
    }
}

async fn small_body(
    question: &Question,
    response: Response,
    most_bytes: usize,
) -> Result<Vec<u8>, Trouble> {
    let body = http::body(response, most_bytes).await;
    body.map_err(|error| match error {
        BodyError::Connection(error) => error.into(),
        BodyError::TooLarge(_) => question.malformed(error.to_string()).into(),
    })
}

/// Without a token the hub answers 401 for what it does not know at all.
fn denied_advice(status: u16, has_token: bool) -> &'static str {
    match (status, has_token) {
        (_, false) => {
            "the dataset is private or gated, or its id has changed: set HF_TOKEN to a token that may read it, or pass another id"
        }
        (401, true) => {
            "the token in HF_TOKEN is not valid any more, or the dataset's id has changed: set another token, or pass another id"
        }
        (_, true) => {
            "the token in HF_TOKEN may not read it: accept the terms on the dataset's page, or set the token of an account that has access"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_encrypted() {
        let check = |from: &str, location: Option<&str>, expect: Result<&str, &str>| {
            let from = Url::parse(from).unwrap();
            let question = Question {
                url: from.clone(),
                what: "the file".into(),
                advice: "",
            };
            let mut response = axum::http::Response::new("");
            if let Some(location) = location {
                let headers = response.headers_mut();
                headers.insert(LOCATION, location.parse().unwrap());
            }
            let next = question.next(&from, &response.into());
            match (&next, expect) {
                (Ok(next), Ok(expect)) => assert_eq!(next.as_str(), expect),
                (Err(error), Err(expect)) => {
                    assert!(error.to_string().contains(expect), "{error}");
                    assert!(!error.to_string().contains("signature"), "{error}");
                }
                _ => panic!("{location:?} → {next:?}"),
            }
        };
        check("https://h/a", Some("/b"), Ok("https://h/b"));
        check("https://h/a", Some("//i/b"), Ok("https://i/b"));
        check("http://h/a", Some("https://i/b"), Ok("https://i/b"));
        check("http://h/a", Some("http://i/b"), Ok("http://i/b"));
        let plain = Some("http://h/a?signature=x");
        check("https://h/a", plain, Err("no longer be encrypted"));
        let file = Some("file:///etc/passwd?signature=x");
        check("https://h/a", file, Err("not one of http or https"));
        check("https://h/a", Some("https://"), Err("did not say where"));
        check("https://h/a", None, Err("did not say where"));
    }
}
