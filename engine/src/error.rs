//! The engine's error.
//!
//! The rule: one typed error where a caller branches on it (this one, at the
//! façade, so that the HTTP edge can choose a status), `anyhow` everywhere
//! inside. `Internal` keeps the whole chain for the log; what a client sees
//! of it is decided at the HTTP edge and never includes the chain.

use swe_ci_core::run::BadConfig;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such task, run, split…
    #[error("there is no {what} `{id}`")]
    NotFound { what: &'static str, id: String },
    /// It takes somebody known: to sign in, or a token that is good.
    #[error("{0}")]
    Unauthenticated(String),
    /// Who asks is known, and may not.
    #[error("{0}")]
    Forbidden(String),
    /// Asked too often; worth trying again after this time.
    #[error("too many tries; try again in {} s", .retry_after.as_secs().max(1))]
    TooMany { retry_after: std::time::Duration },
    /// The request cannot be carried out as it is; the text says what to mend.
    #[error("{0}")]
    Invalid(String),
    /// A configuration cannot be run; all that is wrong with it.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Rejected(Vec<BadConfig>),
    /// It contradicts the present state (cancelling a finished run, …).
    #[error("{0}")]
    Conflict(String),
    /// Something the engine needs does not answer now.
    #[error("{0}")]
    Unavailable(String),
    #[error(transparent)]
    Internal(#[from] anyhow::Error),
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn not_found(what: &'static str, id: impl std::fmt::Display) -> Self {
        Self::NotFound {
            what,
            id: id.to_string(),
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        Self::Internal(
            anyhow::Error::new(error).context("the database did not carry out a statement"),
        )
    }
}
