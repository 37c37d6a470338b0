//! Requests to the hub: redirects, the token, retries.

use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, LOCATION, RANGE};
use reqwest::{Response, StatusCode};
use serde::de::DeserializeOwned;
use swe_ci_base::retry::Backoff;
use url::Url;

use super::http::{Failure, bearer, try_body};
use super::retry::requested_delay;
use super::{Hub, HubError};

const MAX_REDIRECTS: usize = 10;
/// Of one response; the one about a commit also names all files.
pub(super) const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Clone)]
pub(super) struct HubRequest {
    pub(super) url: Url,
    /// The requested object, for errors.
    pub(super) what: String,
    /// The advice when the hub does not have it.
    pub(super) advice: &'static str,
}

impl HubRequest {
    pub(super) fn malformed(&self, why: impl Into<String>) -> HubError {
        HubError::Malformed {
            what: self.what.clone(),
            why: why.into(),
        }
    }

    fn redirect_error(&self, why: impl Into<String>) -> HubError {
        HubError::Redirect {
            what: self.what.clone(),
            why: why.into(),
        }
    }

    pub(super) async fn wait(
        &self,
        failure: Failure<HubError>,
        backoff: &mut Backoff,
    ) -> Result<(), HubError> {
        let gave_up = |tries, why| HubError::GaveUp {
            what: self.what.clone(),
            tries,
            why,
        };
        failure.wait(&self.what, backoff, gave_up).await
    }

    fn redirect_target(&self, from: &Url, response: &Response) -> Result<Url, HubError> {
        let location = response.headers().get(LOCATION);
        let next = location
            .and_then(|location| location.to_str().ok())
            .and_then(|location| from.join(location).ok())
            .ok_or_else(|| self.redirect_error("did not say where"))?;
        match (from.scheme(), next.scheme()) {
            (_, "https") | ("http", "http") => Ok(next),
            ("https", "http") => Err("the connection would no longer be encrypted"),
            _ => Err("the address is not one of http or https"),
        }
        .map_err(|why| self.redirect_error(why))
    }
}

impl Hub {
    /// Sends a request and follows its redirects. The response's status is a
    /// success, or 416 when there are no bytes after `from`.
    pub(super) async fn get(
        &self,
        request: &HubRequest,
        from: u64,
    ) -> Result<Response, Failure<HubError>> {
        let mut url = request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send(&url, from).await?;
            if !response.status().is_redirection() {
                return self.check_status(request, &url, response);
            }
            url = request.redirect_target(&url, &response)?;
        }
        let why = format!("redirected it again, more than {MAX_REDIRECTS} times");
        Err(request.redirect_error(why).into())
    }

    /// Sends one request; only the endpoint receives the token.
    async fn send(&self, url: &Url, from: u64) -> Result<Response, reqwest::Error> {
        // Compressed responses would have other lengths than the listed ones.
        let request = self.inner.client.get(url.clone());
        let mut request = request.header(ACCEPT_ENCODING, "identity");
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        if self.is_endpoint(url)
            && let Some(bearer) = self.inner.token.as_ref().and_then(bearer)
        {
            request = request.header(AUTHORIZATION, bearer);
        }
        request.send().await
    }

    pub(super) fn is_endpoint(&self, url: &Url) -> bool {
        url.origin() == self.inner.endpoint.origin()
    }

    fn check_status(
        &self,
        request: &HubRequest,
        url: &Url,
        response: Response,
    ) -> Result<Response, Failure<HubError>> {
        let status = response.status();
        if status.is_success() || status == StatusCode::RANGE_NOT_SATISFIABLE {
            return Ok(response);
        }
        let at_endpoint = self.is_endpoint(url);
        let transient = status.is_server_error()
            || [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT].contains(&status)
            // A signed address has expired; the hub issues a new one.
            || (status == StatusCode::FORBIDDEN && !at_endpoint);
        if transient {
            let host = url.host_str().unwrap_or_default();
            return Err(Failure::Transient {
                why: format!("{host} answered {status}"),
                requested: requested_delay(response.headers()),
            });
        }
        let code = response.headers().get("x-error-code");
        let what = request.what.clone();
        let status = status.as_u16();
        Err(Failure::Permanent(match status {
            404 => HubError::NotFound {
                what,
                advice: match code {
                    Some(code) if code == "RevisionNotFound" => {
                        "the dataset is there, but not this revision; pass another"
                    }
                    _ => request.advice,
                },
            },
            401 | 403 if at_endpoint => HubError::Denied {
                what,
                status,
                advice: advice_when_denied(status, self.has_token()),
            },
            _ => HubError::Status { what, status },
        }))
    }

    /// Reads a JSON response, and the result of `read_headers`.
    pub(super) async fn json<T: DeserializeOwned, H>(
        &self,
        request: &HubRequest,
        read_headers: impl Fn(&Response) -> H,
    ) -> Result<(T, H), HubError> {
        let mut backoff = Backoff::new(self.inner.timing.retries, 0);
        loop {
            let attempt = async {
                let response = self.get(request, 0).await?;
                let headers = read_headers(&response);
                let body = try_body(response, MAX_BYTES, |why| request.malformed(why)).await?;
                Ok::<_, Failure<HubError>>((body, headers))
            };
            match attempt.await {
                Err(failure) => request.wait(failure, &mut backoff).await?,
                Ok((body, headers)) => {
                    return serde_json::from_slice(&body)
                        .map(|value| (value, headers))
                        .map_err(|error| request.malformed(error.to_string()));
                }
            }
        }
    }
}

/// Without a token, the hub answers 401 for unknown datasets.
fn advice_when_denied(status: u16, has_token: bool) -> &'static str {
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
            let request = HubRequest {
                url: from.clone(),
                what: "the file".into(),
                advice: "",
            };
            let mut response = axum::http::Response::new("");
            if let Some(location) = location {
                let headers = response.headers_mut();
                headers.insert(LOCATION, location.parse().unwrap());
            }
            let next = request.redirect_target(&from, &response.into());
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
