use swe_ci_base::error::{Error, Result};
use swe_ci_core::problems::BadConfig;

/// The problems of a configuration, at most one a field: the first is enough.
/// Unlike [`Problems`](swe_ci_core::problems::Problems), they are collected
/// over several asynchronous checks.
#[derive(Debug, Default)]
pub(super) struct ValidationErrors(pub(super) Vec<BadConfig>);

impl ValidationErrors {
    pub(super) fn add(&mut self, field: impl Into<String>, problem: impl Into<String>) {
        let error = BadConfig::new(field, problem);
        if self.0.iter().all(|known| known.field != error.field) {
            self.0.push(error);
        }
    }

    pub(super) fn into_result(self) -> Result<()> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Error::Rejected(self.0)),
        }
    }
}
