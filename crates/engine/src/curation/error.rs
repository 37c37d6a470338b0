//! Errors of a curation.

use swe_ci_base::error::Error;

/// A failure that is not the curation's fault: the curation resumes after it.
pub(super) fn unavailable(error: impl Into<anyhow::Error>) -> Error {
    Error::Unavailable(format!("{:#}", error.into()))
}
