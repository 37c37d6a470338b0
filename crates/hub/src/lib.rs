//! A client of the Hugging Face hub for datasets, over its HTTP API: lists the
//! files at one commit and downloads them into a folder, verified against the
//! listed checksums. [`http`] holds the parts that clients of other services
//! need as well.

mod batch;
mod checksum;
mod download;
mod download_folder;
mod error;
mod hashed_file;
pub mod http;
mod id;
mod list;
mod path;
mod request;
mod retry;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use secrecy::SecretString;
use url::Url;

pub use batch::Progress;
pub use checksum::Checksum;
pub use download_folder::bytes_missing;
pub use error::{Failure, HubError};
pub use id::{DatasetId, IdError, Pinned, Revision};
pub use list::RemoteFile;
pub use path::{PathError, RemotePath};

use retry::Timing;

/// The official hub; mirrors have other addresses.
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
    /// An http or https address without user, query and fragment.
    endpoint: Url,
    token: Option<SecretString>,
    timing: Timing,
}

impl Hub {
    /// `endpoint` has the form `https://host`, plus a path if the hub is below
    /// one. The token goes only to this host; an empty one counts as none.
    /// `extra_ca_pem` contains certificates to trust besides those of the
    /// system.
    ///
    /// # Errors
    /// An endpoint of another form, a token that no header can carry,
    /// certificates that cannot be read.
    pub fn new(
        endpoint: &str,
        token: Option<SecretString>,
        extra_ca_pem: Option<&[u8]>,
    ) -> anyhow::Result<Self> {
        Self::with_timing(endpoint, token, extra_ca_pem, Timing::default())
    }

    fn with_timing(
        endpoint: &str,
        token: Option<SecretString>,
        extra_ca_pem: Option<&[u8]>,
        timing: Timing,
    ) -> anyhow::Result<Self> {
        let endpoint = SERVICE.endpoint(endpoint)?;
        let token = SERVICE.token(token)?;
        let builder = swe_ci_base::tls::http_client()
            // The client follows redirects itself, so that the token stays
            // here.
            .redirect(reqwest::redirect::Policy::none())
            // No total timeout: a large file may take long.
            .connect_timeout(timing.connect)
            .read_timeout(timing.read_timeout);
        Ok(Self {
            inner: Arc::new(Inner {
                client: http::client(builder, extra_ca_pem)?,
                endpoint,
                token,
                timing,
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
