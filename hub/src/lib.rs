//! Datasets of the Hugging Face hub, over its HTTP API: which files there are
//! at one commit, and those files in a folder here, each checked against what
//! the hub says of it.

mod checked;
mod checksum;
mod error;
mod fetch;
mod fetch_all;
mod id;
mod list;
mod partial;
mod path;
mod request;
mod retry;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use anyhow::{Context, ensure};
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

pub use checked::bytes_missing;
pub use checksum::Checksum;
pub use error::{Failure, HubError};
pub use fetch_all::Progress;
pub use id::{DatasetId, IdError, Pinned, Revision};
pub use list::RemoteFile;
pub use path::{PathError, RemotePath};

use retry::Pace;

/// The hub itself; mirrors have other addresses.
pub const DEFAULT_ENDPOINT: &str = "https://huggingface.co";

/// A client of one hub. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: reqwest::Client,
    /// Of http or https, without user, query and fragment.
    endpoint: Url,
    token: Option<SecretString>,
    pace: Pace,
}

impl Hub {
    /// `endpoint` as `https://host`, with a path if the hub is below one. The
    /// token is sent to this host alone; an empty one is none. `extra_ca_pem`
    /// are certificates to be trusted besides those of the system.
    ///
    /// # Errors
    /// An address that is not of that form, a token no header can carry,
    /// certificates that cannot be read.
    pub fn new(
        endpoint: &str,
        token: Option<SecretString>,
        extra_ca_pem: Option<&[u8]>,
    ) -> anyhow::Result<Self> {
        Self::with_pace(endpoint, token, extra_ca_pem, Pace::default())
    }

    fn with_pace(
        endpoint: &str,
        token: Option<SecretString>,
        extra_ca_pem: Option<&[u8]>,
        pace: Pace,
    ) -> anyhow::Result<Self> {
        let endpoint = checked_endpoint(endpoint)?;
        let token = token.filter(|token| !token.expose_secret().is_empty());
        if let Some(token) = &token {
            ensure!(
                bearer(token).is_some(),
                "the hub's token holds characters no token has (a line break?): set HF_TOKEN to the token alone"
            );
        }
        let mut builder = reqwest::Client::builder()
            // Redirects are followed by hand, so that the token stays here.
            .redirect(reqwest::redirect::Policy::none())
            // No limit on the whole: a file takes as long as it takes.
            .connect_timeout(pace.connect)
            .read_timeout(pace.silence)
            .user_agent("swe-ci");
        for certificate in extra_ca_pem
            .map(reqwest::Certificate::from_pem_bundle)
            .transpose()
            .context("cannot read the extra certificates: they must be in PEM form")?
            .unwrap_or_default()
        {
            builder = builder.add_root_certificate(certificate);
        }
        let client = builder.build().context("cannot make an HTTP client")?;
        Ok(Self {
            inner: Arc::new(Inner {
                client,
                endpoint,
                token,
                pace,
            }),
        })
    }

    /// An address below the endpoint. No part may be `.` or `..`.
    fn address<'p>(&self, parts: impl IntoIterator<Item = &'p str>) -> Url {
        let mut url = self.inner.endpoint.clone();
        // Addresses of http and https always have a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(parts);
        }
        url
    }

    fn has_token(&self) -> bool {
        self.inner.token.is_some()
    }
}

fn checked_endpoint(text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text)
        .context("the hub's address is not one: it must be of the form https://huggingface.co")?;
    // A wrong address is not repeated: a password may be in it.
    ensure!(
        url.username().is_empty() && url.password().is_none(),
        "the hub's address must not hold a user: pass a token in HF_TOKEN instead"
    );
    ensure!(
        ["https", "http"].contains(&url.scheme())
            && url.query().is_none()
            && url.fragment().is_none(),
        "the hub's address `{url}` must be of the form https://huggingface.co"
    );
    Ok(url)
}

fn bearer(token: &SecretString) -> Option<HeaderValue> {
    let text = token.expose_secret();
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::from_str(&format!("Bearer {text}")).ok()?;
    value.set_sensitive(true);
    plain.then_some(value)
}
