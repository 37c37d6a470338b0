//! Repositories for a dataset, by GitHub's REST API (paper, section 3.1,
//! step 1): those that fit a [`Search`], and what [`RootHints`] say of them
//! before anything is cloned.
//!
//! What GitHub says is not trusted: a name or an address that could lead
//! elsewhere is left out, and the reason is told ([`Skipped`]). Nor is it taken
//! for all there is: what it counts and does not list is told as well ([`Gap`]).

mod error;
mod find;
mod hints;
mod hit;
mod limits;
mod request;
mod retry;
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
pub use find::{Found, Gap, GapReason};
pub use hints::{RootHints, RootNames};
pub use hit::{RepositoryHit, Skipped};
pub use search::{MOST_HITS, Moment, Search};
pub use stars::Stars;

use limits::Gate;
use retry::Pace;

/// The API of github.com. That of an enterprise server is at
/// `https://host/api/v3`.
pub const DEFAULT_ENDPOINT: &str = "https://api.github.com";

const SERVICE: http::Service = http::Service {
    address: "the address of GitHub's API",
    example: DEFAULT_ENDPOINT,
    token: "GitHub's token",
    token_setting: "GITHUB_TOKEN",
};

/// Repositories that were renamed are redirected once.
const MOST_REDIRECTS: usize = 3;

/// A client of one GitHub. Cheap to clone; clones share what they know of its
/// rate limits.
#[derive(Debug, Clone)]
pub struct GitHub {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    client: reqwest::Client,
    /// Of http or https, without user, query and fragment.
    endpoint: Url,
    /// What the addresses of repositories begin with, without the last slash.
    web: String,
    token: Option<SecretString>,
    pace: Pace,
    gate: Gate,
}

/// What a client is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A part of the search begins that is small enough to be listed.
    Slice {
        licence: Option<String>,
        stars: Stars,
        /// How many repositories GitHub counts in it.
        total: u64,
    },
    /// So many repositories were taken so far, by the whole search.
    Listed { hits: usize },
    /// So many repositories were looked into, of so many.
    Looked { done: usize, of: usize },
    /// Nothing is asked for so long, because of a rate limit.
    Waiting { why: String, pause: Duration },
}

/// Is told about progress; must not block.
pub type Told<'t> = &'t (dyn Fn(Progress) + Send + Sync);

impl GitHub {
    /// `endpoint` as [`DEFAULT_ENDPOINT`], with a path if the API is below one.
    /// The token is sent to this host alone; an empty one is none. It needs no
    /// permission: it is there for the rate limits, which are far lower
    /// without. `extra_ca_pem` are certificates to be trusted besides those of
    /// the system.
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
    // Elsewhere nothing is asked at all; the answer is then the redirect.
    let policy = Policy::custom(move |attempt: Attempt<'_>| {
        let stays = attempt.url().origin() == origin;
        if stays && attempt.previous().len() <= MOST_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    let builder = reqwest::Client::builder()
        .redirect(policy)
        .connect_timeout(pace.connect)
        .timeout(pace.whole);
    http::client(builder, extra_ca_pem)
}

/// Where repositories are cloned from. The API of github.com has a host of its
/// own, that of an enterprise server is a path. Always encrypted.
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
