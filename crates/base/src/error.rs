//! The shared error type.
//!
//! The rule: one typed error where a caller branches on it (this one, at the
//! façade, so that the HTTP edge can choose a status), `anyhow` everywhere
//! inside. `Internal` carries the whole chain for the log; the HTTP edge decides
//! what a client sees of it, and never shows the chain.

use swe_ci_core::run::BadConfig;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such task, run, split…
    #[error("there is no {what} `{id}`{}", .within.map(|place| format!(" in {place}")).unwrap_or_default())]
    NotFound {
        what: &'static str,
        id: String,
        /// Where, such as `this run`, if not everywhere.
        within: Option<&'static str>,
    },
    /// The caller must sign in or send a valid token.
    #[error("{0}")]
    Unauthenticated(String),
    /// The caller is known but lacks the permission.
    #[error("{0}")]
    Forbidden(String),
    /// Rate limit reached; retry after this delay.
    #[error("too many tries; try again in {} s", .retry_after.as_secs().max(1))]
    TooMany { retry_after: std::time::Duration },
    /// A list has no page that begins after this.
    #[error("`after` is `{0}`; it must be the `next` of the previous page")]
    NoSuchPage(String),
    /// The request is invalid; the text says what to fix.
    #[error("{0}")]
    Invalid(String),
    /// The configuration is invalid; lists all its problems.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Rejected(Vec<BadConfig>),
    /// The request conflicts with the current state (cancelling a finished run, …).
    #[error("{0}")]
    Conflict(String),
    /// A service that the engine needs does not answer.
    #[error("{0}")]
    Unavailable(String),
    /// Too many callers want something that few may have at once.
    #[error("the server is busy with other large files; try again in a few seconds")]
    Busy,
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub fn not_found(what: &'static str, id: impl std::fmt::Display) -> Self {
        Self::NotFound {
            what,
            id: id.to_string(),
            within: None,
        }
    }

    /// There may be one elsewhere.
    pub fn not_found_in(
        place: &'static str,
        what: &'static str,
        id: impl std::fmt::Display,
    ) -> Self {
        Self::NotFound {
            what,
            id: id.to_string(),
            within: Some(place),
        }
    }

    /// The text with all causes, for logs and terminals, as `{error:#}` writes it.
    pub fn chain(&self) -> String {
        match self {
            Self::Internal(cause) => format!("{cause:#}"),
            other => other.to_string(),
        }
    }
}

#[cfg(feature = "sqlx")]
impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Internal(
            anyhow::Error::new(error).context("the database failed to execute a statement"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_have_the_causes_and_clients_have_not() {
        let error = Error::from(anyhow::anyhow!("disk full").context("cannot write"));
        assert_eq!(format!("{error:#}"), "cannot write: disk full");
        assert_eq!(error.chain(), format!("{error:#}"));
        assert_eq!(error.to_string(), "cannot write");
    }
}
