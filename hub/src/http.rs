//! What every client that asks others over HTTP needs, the one of the hub and
//! those of other crates: addresses and tokens that are checked before the
//! first request, certificates, and answers that end.
//!
//! How long is waited, which redirects are followed and what is tried again
//! differs from service to service, and stays with each client.

use anyhow::{Context, ensure};
use reqwest::header::HeaderValue;
use reqwest::{Certificate, Client, ClientBuilder, Response};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

/// How errors name a service and its settings: whoever reads them is to know
/// which of several addresses and tokens is wrong.
#[derive(Debug, Clone, Copy)]
pub struct Service {
    pub address: &'static str,
    /// An address as it should be.
    pub example: &'static str,
    pub token: &'static str,
    /// The setting that the token is read from.
    pub token_setting: &'static str,
}

impl Service {
    /// The address of the service, with a path if it is below one.
    ///
    /// # Errors
    /// An address that is not of http or https, or has a user, a query or a
    /// fragment.
    pub fn endpoint(&self, text: &str) -> anyhow::Result<Url> {
        let (address, example) = (self.address, self.example);
        let url = Url::parse(text)
            .with_context(|| format!("{address} is not one: it must be of the form {example}"))?;
        // A wrong address is not repeated: a password may be in it.
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

    /// A token that [`bearer`] can carry; an empty one is none.
    ///
    /// # Errors
    /// A token no header can carry.
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

/// The value of `Authorization`, which is not shown where headers are; none
/// for what cannot be a token.
#[must_use]
pub fn bearer(token: &SecretString) -> Option<HeaderValue> {
    let text = token.expose_secret();
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::from_str(&format!("Bearer {text}")).ok()?;
    value.set_sensitive(true);
    plain.then_some(value)
}

/// An address below an endpoint. No part may be `.` or `..`.
#[must_use]
pub fn below<'p>(endpoint: &Url, parts: impl IntoIterator<Item = &'p str>) -> Url {
    let mut url = endpoint.clone();
    // Addresses of http and https always have a path.
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(parts);
    }
    url
}

/// A client that says who we are, and trusts the certificates in
/// `extra_ca_pem` besides those of the system.
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
        // Some services refuse whoever does not say who they are.
        .user_agent("swe-ci")
        .build()
        .context("cannot make an HTTP client")
}

/// Why an answer was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    #[error("it is larger than {0} bytes")]
    TooLarge(usize),
    #[error(transparent)]
    Connection(#[from] reqwest::Error),
}

/// An answer of at most `most` bytes: a server that sends without end must not
/// fill the memory.
///
/// # Errors
/// An answer that is longer, and one that breaks off.
pub async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, BodyError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        if body.len() + piece.len() > most {
            return Err(BodyError::TooLarge(most));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}
