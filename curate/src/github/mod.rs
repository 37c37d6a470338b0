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

use anyhow::{Context, ensure};
use reqwest::header::HeaderValue;
use reqwest::redirect::{Attempt, Policy};
use secrecy::{ExposeSecret, SecretString};
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
        let endpoint = checked_endpoint(endpoint)?;
        let token = token.filter(|token| !token.expose_secret().is_empty());
        if let Some(token) = &token {
            ensure!(
                bearer(token).is_some(),
                "GitHub's token holds characters no token has (a line break?): set GITHUB_TOKEN to the token alone"
            );
        }
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
        let mut url = self.inner.endpoint.clone();
        // Addresses of http and https always have a path.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(parts);
        }
        url
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
    let mut builder = reqwest::Client::builder()
        .redirect(policy)
        .connect_timeout(pace.connect)
        .timeout(pace.whole)
        // GitHub refuses whoever does not say who they are.
        .user_agent("swe-ci");
    for certificate in extra_ca_pem
        .map(reqwest::Certificate::from_pem_bundle)
        .transpose()
        .context("cannot read the extra certificates: they must be in PEM form")?
        .unwrap_or_default()
    {
        builder = builder.add_root_certificate(certificate);
    }
    builder.build().context("cannot make an HTTP client")
}

fn checked_endpoint(text: &str) -> anyhow::Result<Url> {
    let url = Url::parse(text).context(
        "the address of GitHub's API is not one: it must be of the form https://api.github.com",
    )?;
    // A wrong address is not repeated: a password may be in it.
    ensure!(
        url.username().is_empty() && url.password().is_none(),
        "the address of GitHub's API must not hold a user: pass a token in GITHUB_TOKEN instead"
    );
    ensure!(
        ["https", "http"].contains(&url.scheme())
            && url.query().is_none()
            && url.fragment().is_none(),
        "the address `{url}` of GitHub's API must be of the form https://api.github.com"
    );
    Ok(url)
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

fn bearer(token: &SecretString) -> Option<HeaderValue> {
    let text = token.expose_secret();
    let plain = text.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::from_str(&format!("Bearer {text}")).ok()?;
    value.set_sensitive(true);
    plain.then_some(value)
}
