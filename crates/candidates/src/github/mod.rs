//! Finds repositories for a dataset with GitHub's REST API (paper, section 3.1,
//! step 1): those that match a [`Search`], before anything is cloned.
//!
//! The client does not trust GitHub's responses. It skips repositories whose
//! name or address could lead elsewhere, and reports why ([`Skipped`]). It also
//! reports repositories that GitHub counts and does not list ([`Gap`]).

mod error;
mod hit;
mod limits;
mod request;
mod results;
mod search;
mod stars;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use reqwest::redirect::{Attempt, Policy};
use secrecy::SecretString;
use swe_ci_hub::http;
use url::Url;

pub use error::GitHubError;
pub use hit::{RepositoryHit, Skipped};
pub use results::{Gap, GapReason, SearchResults};
pub use search::{MAX_HITS, Moment, Search};
pub use stars::Stars;

use limits::{Gate, Pace};

/// The API of github.com. An enterprise server has its API at
/// `https://host/api/v3`.
pub const DEFAULT_ENDPOINT: &str = "https://api.github.com";

const SERVICE: http::Service = http::Service {
    address: "the address of GitHub's API",
    example: DEFAULT_ENDPOINT,
    token: "GitHub's token",
    token_setting: "GITHUB_TOKEN",
};

/// GitHub redirects once for a renamed repository.
const MAX_REDIRECTS: usize = 3;

/// A client of one GitHub server. Cheap to clone; clones share their knowledge
/// of rate limits.
#[derive(Debug, Clone)]
pub struct GitHub {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: reqwest::Client,
    /// HTTP or HTTPS, without user, query and fragment.
    endpoint: Url,
    /// The prefix of clone addresses, without a trailing slash.
    web: String,
    token: Option<SecretString>,
    pace: Pace,
    gate: Gate,
}

/// The current activity of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The client starts to list a range that is small enough.
    Slice {
        licence: Option<String>,
        stars: Stars,
        /// GitHub's count of repositories in it.
        total: u64,
    },
    /// Repositories accepted so far by the whole search.
    Listed { hits: usize },
    /// Repositories looked into so far, and their total.
    Looked { done: usize, of: usize },
    /// A rate limit delays requests for this long.
    Waiting { why: String, pause: Duration },
}

/// Receives progress; must not block.
pub type ProgressListener<'t> = &'t (dyn Fn(Progress) + Send + Sync);

impl GitHub {
    /// `endpoint` has the form of [`DEFAULT_ENDPOINT`], with a path if the API
    /// is below one. The client sends the token to this host only; an empty
    /// token counts as none. The token needs no permissions: it only raises the
    /// rate limits. `extra_ca_pem` holds certificates to trust besides the
    /// system's.
    ///
    /// # Errors
    /// If the endpoint has another form, the token cannot be sent in a header,
    /// or the certificates cannot be read.
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
        Ok(Self {
            inner: Arc::new(Inner {
                client: client(&endpoint, extra_ca_pem, pace)?,
                web: web(&endpoint)?,
                endpoint,
                token,
                pace,
                gate: Gate::default(),
            }),
        })
    }

    /// An address below the endpoint. No part may be `.` or `..`.
    fn address<'p>(&self, parts: impl IntoIterator<Item = &'p str>) -> Url {
        http::below(&self.inner.endpoint, parts)
    }
}

fn client(
    endpoint: &Url,
    extra_ca_pem: Option<&[u8]>,
    pace: Pace,
) -> anyhow::Result<reqwest::Client> {
    let origin = endpoint.origin();
    // The client requests nothing from other hosts; it returns the redirect
    // instead.
    let policy = Policy::custom(move |attempt: Attempt<'_>| {
        let stays = attempt.url().origin() == origin;
        if stays && attempt.previous().len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    let builder = swe_ci_base::tls::http_client()
        .redirect(policy)
        .connect_timeout(pace.connect)
        .timeout(pace.whole);
    http::client(builder, extra_ca_pem)
}

/// The address to clone from, always HTTPS. github.com serves its API on a
/// separate host, an enterprise server below a path.
fn web(endpoint: &Url) -> anyhow::Result<String> {
    let host = endpoint
        .host_str()
        .context("the address of GitHub's API has no host")?;
    let host = host.strip_prefix("api.").unwrap_or(host);
    Ok(match endpoint.port() {
        Some(port) => format!("https://{host}:{port}"),
        None => format!("https://{host}"),
    })
}
