//! Errors of the GitHub client.

use swe_ci_hub::http::Failure;

/// Why a request to GitHub failed. No variant contains the token; GitHub's own
/// messages are truncated and stripped of control characters.
#[derive(Debug, thiserror::Error)]
pub enum GitHubError {
    /// A field of the search is invalid.
    #[error("the search's `{field}` is invalid: {why}")]
    Search { field: &'static str, why: String },
    /// GitHub rejects the token or does not let it read this (401, 403).
    #[error("GitHub denies access to {what} (status {status}: {message}): {advice}")]
    Denied {
        what: String,
        status: u16,
        message: String,
        advice: &'static str,
    },
    /// GitHub rejects the query (422).
    #[error(
        "GitHub rejects {what}: {message}. Change the search field it names (language, licences, topics, dates)"
    )]
    Refused { what: String, message: String },
    #[error("GitHub has no {what}: {advice}")]
    NotFound { what: String, advice: &'static str },
    /// A rate limit that lasts longer than the client waits.
    #[error("{why}, which is longer than the client waits; {what} was not requested: {advice}")]
    RateLimited {
        what: String,
        why: String,
        advice: &'static str,
    },
    /// Any other response that a retry would not change.
    #[error("GitHub answered {status} to the request for {what}: {message}")]
    Status {
        what: String,
        status: u16,
        message: String,
    },
    #[error(
        "cannot get {what}: {why}; gave up after {tries} tries. Check the network and start again"
    )]
    GaveUp {
        what: String,
        tries: u32,
        why: String,
    },
    /// A redirect to another host, which the client does not follow.
    #[error(
        "GitHub redirects {what} to another address, which the client does not follow. Pass the API's own address as the endpoint"
    )]
    Redirect { what: String },
    /// A response that does not have the documented form.
    #[error("GitHub's response for {what} is invalid: {why}")]
    Malformed { what: String, why: String },
}

impl From<GitHubError> for Failure<GitHubError> {
    fn from(error: GitHubError) -> Self {
        Self::Permanent(error)
    }
}

impl GitHubError {
    /// Whether requests for other repositories would fail as well.
    pub fn concerns_all(&self) -> bool {
        match self {
            Self::Denied { status, .. } => *status == 401,
            Self::RateLimited { .. } | Self::GaveUp { .. } => true,
            _ => false,
        }
    }
}

/// Maximum characters of foreign text in a message.
const MAX_WORDS: usize = 200;

/// Foreign text made safe for a message.
pub(super) fn sanitized(text: &str) -> String {
    let plain = text.chars().filter(|letter| !letter.is_control());
    plain.take(MAX_WORDS).collect()
}
