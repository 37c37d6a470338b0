//! Datasets of the Hugging Face hub, over its HTTP API: which files there are
//! at one commit, and those files in a folder here, each checked against what
//! the hub says of it. What a client of any other service needs as well is in
//! [`http`].

mod checked;
mod checksum;
mod error;
mod fetch;
mod fetch_all;
pub mod http;
mod id;
mod list;
mod partial;
mod path;
mod request;
mod retry;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use secrecy::SecretString;
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

const SERVICE: http::Service = http::Service {
    address: "the hub's address",
    example: DEFAULT_ENDPOINT,
    token: "the hub's token",
    token_setting: "HF_TOKEN",
};

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
        let endpoint = SERVICE.endpoint(endpoint)?;
        let token = SERVICE.token(token)?;
        let builder = reqwest::Client::builder()
            // Redirects are followed by hand, so that the token stays here.
            .redirect(reqwest::redirect::Policy::none())
            // No limit on the whole: a file takes as long as it takes.
            .connect_timeout(pace.connect)
            .read_timeout(pace.silence);
        Ok(Self {
            inner: Arc::new(Inner {
                client: http::client(builder, extra_ca_pem)?,
                endpoint,
                token,
                pace,
            }),
        })
    }

    /// An address below the endpoint. No part may be `.` or `..`.
    fn address<'p>(&self, parts: impl IntoIterator<Item = &'p str>) -> Url {
        http::below(&self.inner.endpoint, parts)
    }

    fn has_token(&self) -> bool {
        self.inner.token.is_some()
    }
}
