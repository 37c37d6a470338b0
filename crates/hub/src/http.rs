//! Basics for every HTTP client, of the hub and of other crates: addresses and
//! tokens that are checked before the first request, certificates, and bounded
//! response bodies, and failures that may pass.
//!
//! Timeouts, redirects and delays differ from service to service; each client
//! has its own.

use std::time::Duration;

use anyhow::{Context, ensure};
use reqwest::header::HeaderValue;
use reqwest::{Certificate, Client, ClientBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use swe_ci_base::retry::Backoff;
use url::Url;

/// How errors name a service and its settings, so that readers know which of
/// several addresses and tokens is wrong.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    pub address: &'static str,
    /// An example of a valid address.
    pub example: &'static str,
    pub token: &'static str,
    /// The setting that contains the token.
    pub token_setting: &'static str,
}

impl Service {
    /// Parses the address of the service, with a path if it is below one.
    ///
    /// # Errors
    /// An address with another scheme than http or https, or with a user, a
    /// query or a fragment.
    pub fn endpoint(&self, text: &str) -> anyhow::Result<Url> {
        let (address, example) = (self.address, self.example);
        let url = Url::parse(text)
            .with_context(|| format!("{address} is not one: it must be of the form {example}"))?;
        // Do not repeat a wrong address: it may contain a password.
        ensure!(
            url.username().is_empty() && url.password().is_none(),
            "{address} must not hold a user: pass a token in {} instead",
            self.token_setting
        );
        ensure!(
            ["https", "http"].contains(&url.scheme())
                && url.query().is_none()
                && url.fragment().is_none(),
            "{address} `{url}` must be of the form {example}"
        );
        Ok(url)
    }

    /// Checks that [`bearer`] can carry a token; an empty one becomes `None`.
    ///
    /// # Errors
    /// A token that no header can carry.
    pub fn token(&self, token: Option<SecretString>) -> anyhow::Result<Option<SecretString>> {
        let token = token.filter(|token| !token.expose_secret().is_empty());
        ensure!(
            token.as_ref().is_none_or(|token| bearer(token).is_some()),
            "{} holds characters no token has (a line break?): set {} to the token alone",
            self.token,
            self.token_setting
        );
        Ok(token)
    }
}

/// The value of `Authorization`, hidden from debug output; `None` for an
/// impossible token.
pub fn bearer(token: &SecretString) -> Option<HeaderValue> {
    let text = token.expose_secret();
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::from_str(&format!("Bearer {text}")).ok()?;
    value.set_sensitive(true);
    plain.then_some(value)
}

/// An address below an endpoint. No part may be `.` or `..`.
pub fn below<'p>(endpoint: &Url, parts: impl IntoIterator<Item = &'p str>) -> Url {
    let mut url = endpoint.clone();
    // Addresses of http and https always have a path.
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(parts);
    }
    url
}

/// A client with our user agent that trusts the certificates in `extra_ca_pem`
/// besides those of the system.
///
/// # Errors
/// Certificates that cannot be read.
pub fn client(builder: ClientBuilder, extra_ca_pem: Option<&[u8]>) -> anyhow::Result<Client> {
    let certificates = extra_ca_pem
        .map(Certificate::from_pem_bundle)
        .transpose()
        .context("cannot read the extra certificates: they must be in PEM form")?;
    certificates
        .into_iter()
        .flatten()
        .fold(builder, ClientBuilder::add_root_certificate)
        // Some services refuse requests without a user agent.
        .user_agent("swe-ci")
        .build()
        .context("cannot create an HTTP client")
}

/// Why one try of a request failed. `E` is the client's error.
#[derive(Debug)]
pub enum Failure<E> {
    /// Another try may help.
    Transient {
        why: String,
        /// The delay that the server requested.
        requested: Option<Duration>,
    },
    /// Another try may help at once: the client itself waits for the end of a
    /// rate limit.
    Limited(String),
    Permanent(E),
}

impl<E> Failure<E> {
    pub fn transient(why: impl Into<String>) -> Self {
        Self::Transient {
            why: why.into(),
            requested: None,
        }
    }

    /// Waits before the next try.
    ///
    /// # Errors
    /// A permanent error; after too many tries, `gave_up` makes one from their
    /// number and the last reason.
    pub async fn wait(
        self,
        what: &str,
        backoff: &mut Backoff,
        gave_up: impl FnOnce(u32, String) -> E,
    ) -> Result<(), E> {
        let (why, requested, limited) = match self {
            Self::Permanent(error) => return Err(error),
            Self::Transient { why, requested } => (why, requested, false),
            Self::Limited(why) => (why, None, true),
        };
        let Some(delay) = backoff.failed(requested) else {
            return Err(gave_up(backoff.failures(), why));
        };
        if !limited {
            tracing::warn!(what, "retrying in {delay:?}: {why}");
            tokio::time::sleep(delay).await;
        }
        Ok(())
    }
}

impl<E> From<reqwest::Error> for Failure<E> {
    /// Omits the address: it may be a signed one.
    fn from(error: reqwest::Error) -> Self {
        let error = anyhow::Error::new(error.without_url());
        Self::transient(format!("{error:#}"))
    }
}

/// Why a body was not read completely.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    #[error(transparent)]
    Connection(#[from] reqwest::Error),
}

/// Reads a body of at most `max_bytes`, since an endless one must not fill the
/// memory.
///
/// # Errors
/// A body that is longer, or one that breaks off.
pub async fn body(mut response: Response, max_bytes: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max_bytes {
            return Err(BodyError::TooLarge(max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Reads a body like [`body`], as a part of one try. A longer one is a permanent
/// failure.
///
/// # Errors
/// `too_large` makes the client's error from the reason.
pub async fn try_body<E>(
    response: Response,
    max_bytes: usize,
    too_large: impl FnOnce(String) -> E,
) -> Result<Vec<u8>, Failure<E>> {
    body(response, max_bytes)
        .await
        .map_err(|error| match error {
            BodyError::Connection(error) => error.into(),
            BodyError::TooLarge(_) => Failure::Permanent(too_large(error.to_string())),
        })
}
